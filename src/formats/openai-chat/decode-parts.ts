import type {
  CacheMarker,
  FormatName,
  JsonObject,
  MediaPart,
  MediaSource,
  OpaquePart,
  Part,
  TextPart,
} from '../conversation.ts';
import type { Origins } from '../losses/origins.ts';
import { BodyPlace, type ParamPath } from '../losses/place.ts';
import {
  audioMime,
  mediaKind,
  mimeOfName,
  mimeOfUrl,
  parseDataUri,
  typed,
  type DataUri,
} from '../media/media-types.ts';
import { readMaker, type Signed } from '../maker.ts';
import { mcpPart } from '../mcp-parts.ts';
import { invalidValue, readArray, readObject, readString, required } from './read.ts';
import { sisterPart } from '../sister-parts.ts';
import { assembleBlocks } from './streamed-blocks.ts';
import { compact, isObject } from '../json/object.ts';

/** Decodes the content of a message: a string, parts, or nothing. An empty string makes no part. */
export function decodeContent(content: unknown, path: ParamPath, origins?: Origins): Part[] {
  if (content === undefined || content === null || content === '') return [];
  if (typeof content === 'string') {
    const part: Part = { type: 'text', text: content };
    origins?.note(part, path);
    return [part];
  }
  if (!Array.isArray(content)) throw invalidValue(path, `\`${String(path)}\` must be a string or an array of parts.`);
  const note = origins && ((part: Part, _: JsonObject, place: BodyPlace) => origins.note(part, place));
  return decodeParts(content, path, { owner: 'openai-chat', note });
}

interface PartsReading {
  /** The format of the part types that are unknown here. Its targets get them unchanged; others report a loss. */
  readonly owner: FormatName;
  /** Receives every part, its source item and the place of that item. */
  readonly note?: ((part: Part, item: JsonObject, place: BodyPlace) => void) | undefined;
}

export function decodeParts(items: readonly unknown[], path: ParamPath, { owner, note }: PartsReading): Part[] {
  const parts: Part[] = [];
  const add = (part: Part, item: JsonObject, place: BodyPlace): void => {
    note?.(part, item, place);
    parts.push(part);
  };
  for (let at = 0; at < items.length; at += 1) {
    const place = BodyPlace.item(path, at);
    const item = required(readObject(items[at], place), place);
    const part = decodePart(item, place, owner);
    add(part, item, place);
    if (part.type === 'text' && Array.isArray(item.citations)) add(citationsOf(item.citations), item, place);
  }
  return parts;
}

/** Claude's citations, a field of their text block (docs/protocols/replies.md#claude-citations). */
export function citationsOf(citations: readonly unknown[]): OpaquePart {
  return { type: 'opaque', format: 'anthropic-messages', value: { type: 'text', citations }, attached: true };
}

function decodePart(part: JsonObject, path: BodyPlace, owner: FormatName): Part {
  const type = required(readString(part.type, path, 'type'), path, 'type');
  switch (type) {
    case 'text':
      return decodeText(part, path);
    case 'image_url':
    case 'video_url':
    case 'audio_url':
      return typed(decodeUrlPart(part, type, path));
    case 'input_audio':
      return decodeAudio(part, path);
    case 'file':
      return typed(decodeFile(part, path));
    case 'refusal':
      return { type, text: readString(part.refusal, path, 'refusal') ?? '' };
    case 'thinking':
      return compact({
        type,
        text: readString(part.thinking, path, 'thinking') ?? '',
        ...readSignature(part, path),
      });
    case 'redacted_thinking':
      return { type, data: required(readString(part.data, path, 'data'), path, 'data'), ...readTag(part, path) };
    case 'code':
    case 'code_result':
      return decodeCode(part, type, path);
    // This gateway's form of a part that only Gemini has.
    case 'gemini_part':
      return { type: 'opaque', format: 'gemini', value: part };
    default:
      return (
        mcpPart(part) ??
        (owner === 'openai-chat' ? sisterPart(part) : undefined) ?? { type: 'opaque', format: owner, value: part }
      );
  }
}

function decodeText(part: JsonObject, path: BodyPlace): TextPart {
  const text = required(readString(part.text, path, 'text'), path, 'text');
  const { signature, maker } = readSignature(part, path);
  const cache = decodeCache(part, path);
  if (signature === undefined && cache === undefined) return { type: 'text', text };
  return compact({ type: 'text' as const, text, signature, maker, cache });
}

/** A signature and its tag (docs/protocols/replies.md#foreign-signatures). */
function readSignature(part: JsonObject, path: BodyPlace): Signed {
  const signature = readString(part.signature, path, 'signature');
  return signature === undefined ? {} : { signature, ...readTag(part, path) };
}

const readTag = (part: JsonObject, path: BodyPlace): Pick<Signed, 'maker'> =>
  readMaker(readString(part.maker, path, 'maker'));

/** Code that the provider executed, as a reply shows it to clients that are not strict (content-blocks.ts). */
function decodeCode(part: JsonObject, type: 'code' | 'code_result', path: BodyPlace): Part {
  const field = (name: string): string => required(readString(part[name], path, name), path, name);
  const shared = { id: readString(part.id, path, 'id'), ...readSignature(part, path) };
  return type === 'code'
    ? compact({ type, language: field('language'), code: field('code'), ...shared })
    : compact({ type, outcome: field('outcome'), output: field('output'), ...shared });
}

/**
 * Anthropic's marker, or OpenAI's `prompt_cache_breakpoint:{mode:"explicit"}`
 * (docs/protocols/openai-chat.md#cache-markers), which has no time to live of its own.
 */
export function decodeCache(holder: JsonObject, path: ParamPath): CacheMarker | undefined {
  const marker = readObject(holder.cache_control, path, 'cache_control');
  if (marker) return compact({ type: 'ephemeral' as const, ttl: readString(marker.ttl, path, 'cache_control.ttl') });
  const breakpoint = readObject(holder.prompt_cache_breakpoint, path, 'prompt_cache_breakpoint');
  return breakpoint?.mode === 'explicit' ? { type: 'ephemeral' } : undefined;
}

/** Fields that any media part may have beside its source. */
function decorations(part: JsonObject, path: BodyPlace) {
  return { ...readSignature(part, path), cache: decodeCache(part, path) };
}

/** `image_url` holds media of any kind (docs/protocols/openai-chat.md#media-addresses). The MIME type decides. */
function decodeUrlPart(part: JsonObject, type: 'image_url' | 'video_url' | 'audio_url', path: BodyPlace): MediaPart {
  const place = BodyPlace.field(path, type);
  const inner = part[type];
  // The bare string is an old form that vLLM and LiteLLM clients still send.
  const holder = typeof inner === 'string' ? { url: inner } : required(readObject(inner, place), place);
  const url = required(readString(holder.url, place, 'url'), place, 'url');
  const { source, mime, parameters } = locate(url, explicitMime(holder, place), BodyPlace.field(place, 'url'));
  const named = { image_url: 'image', video_url: 'video', audio_url: 'audio' } as const;
  return compact({
    type: 'media' as const,
    media: mime ? mediaKind(mime) : named[type],
    mime,
    parameters,
    source,
    detail: readString(holder.detail, place, 'detail'),
    ...decorations(part, path),
  });
}

/**
 * Reads `mime_type`, or `format` as a MIME type or a file extension. This source overrides all others
 * (docs/protocols/requests.md#mime-types).
 */
function explicitMime(holder: JsonObject, path: BodyPlace): string | undefined {
  const mime = readString(holder.mime_type, path, 'mime_type');
  if (mime) return mime;
  const format = readString(holder.format, path, 'format');
  if (!format) return undefined;
  return format.includes('/') ? format : mimeOfName(`.${format}`);
}

interface Located {
  readonly source: MediaSource;
  readonly mime: string | undefined;
  readonly parameters?: string | undefined;
}

function locate(url: string, explicit: string | undefined, path: BodyPlace): Located {
  const inline = parseDataUri(url);
  if (inline) return { source: { kind: 'data', data: inline.data }, ...typeOf(inline, explicit) };
  // Any other string is not a URL. Reading it as JPEG bytes would hide the caller's mistake
  // (docs/protocols/requests.md#url-without-scheme).
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(url)) {
    throw invalidValue(path, `\`${String(path)}\` must be a data URI, or an http, https or gs URL.`);
  }
  return { source: { kind: 'url', url }, mime: explicit ?? mimeOfUrl(url) };
}

/** An explicit MIME type replaces the type and the parameters of the data URI. */
function typeOf(inline: DataUri, explicit: string | undefined): Pick<Located, 'mime' | 'parameters'> {
  return explicit === undefined ? { mime: inline.mime, parameters: inline.parameters } : { mime: explicit };
}

function decodeAudio(part: JsonObject, path: BodyPlace): MediaPart {
  const place = BodyPlace.field(path, 'input_audio');
  const audio = required(readObject(part.input_audio, place), place);
  const data = required(readString(audio.data, place, 'data'), place, 'data');
  const format = readString(audio.format, place, 'format');
  const inline = parseDataUri(data);
  return compact({
    type: 'media' as const,
    media: 'audio' as const,
    mime: (format && (audioMime(format) ?? `audio/${format}`)) || inline?.mime,
    parameters: format ? undefined : inline?.parameters,
    source: { kind: 'data' as const, data: inline?.data ?? data },
    ...decorations(part, path),
  });
}

function decodeFile(part: JsonObject, path: BodyPlace): MediaPart {
  const place = BodyPlace.field(path, 'file');
  const file = required(readObject(part.file, place), place);
  const name = readString(file.filename, place, 'filename');
  const { source, mime, parameters } = locateFile(file, name, place);
  return compact({
    type: 'media' as const,
    media: mime ? mediaKind(mime) : ('document' as const),
    mime,
    parameters,
    source,
    name,
    ...decorations(part, path),
  });
}

function locateFile(file: JsonObject, name: string | undefined, path: BodyPlace): Located {
  const explicit = explicitMime(file, path);
  const byName = name === undefined ? undefined : mimeOfName(name);
  const data = readString(file.file_data, path, 'file_data');
  if (data !== undefined) {
    const inline = parseDataUri(data);
    // Bare base64 without any type is a PDF (docs/protocols/requests.md#file-data).
    if (!inline) return { source: { kind: 'data', data }, mime: explicit ?? byName ?? 'application/pdf' };
    return {
      source: { kind: 'data', data: inline.data },
      ...typeOf(inline, explicit ?? (inline.mime ? undefined : byName)),
    };
  }
  const url = readString(file.file_url, path, 'file_url');
  if (url !== undefined) {
    const found = locate(url, explicit, BodyPlace.field(path, 'file_url'));
    return { ...found, mime: found.mime ?? byName };
  }
  const id = required(readString(file.file_id, path, 'file_id'), path, 'file_data');
  // A Google file id is a URL (docs/protocols/requests.md#file-id).
  if (/^(?:gs|https?):\/\//.test(id))
    return { source: { kind: 'url', url: id }, mime: explicit ?? mimeOfUrl(id) ?? byName };
  return { source: { kind: 'file', id }, mime: explicit ?? byName };
}

/**
 * Merges `content_blocks` and `content_parts` of a message for a client that is not strict
 * (docs/protocols/replies.md#replayed-extensions). Blocks hold thinking, its signatures and the texts; parts hold texts
 * and media. Each text is in both lists: the block's text is used, as it may be signed, and it marks the position of
 * the media between the blocks. Parts collected from a stream have no texts, so their media come last.
 */
export function interleave(blocks: readonly unknown[], parts: readonly unknown[]): unknown[] {
  if (!parts.some(isText)) return [...blocks, ...parts];
  const merged: unknown[] = [];
  let at = 0;
  for (const block of blocks) {
    // A text that holds only a signature is not among the parts.
    if (isText(block) && block.text !== '') {
      for (; at < parts.length && !isText(parts[at]); at += 1) merged.push(parts[at]);
      at += 1;
    }
    merged.push(block);
  }
  return [...merged, ...parts.slice(at)];
}

function isText(item: unknown): item is JsonObject {
  return isObject(item) && item.type === 'text';
}

export function optionalParts(value: unknown, path: ParamPath): readonly unknown[] | undefined {
  const given = readArray(value, path);
  const items = given && assembleBlocks(given);
  return items && items.length > 0 ? items : undefined;
}
