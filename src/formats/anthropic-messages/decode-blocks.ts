import type {
  CacheMarker,
  JsonObject,
  MediaPart,
  Part,
  RedactedThinkingPart,
  ThinkingPart,
  ToolCallPart,
  ToolResultPart,
} from '../conversation.ts';
import { RequestFault } from '../faults.ts';
import type { Origins } from '../losses/origins.ts';
import { BodyPlace, type ParamPath } from '../losses/place.ts';
import { fieldsOf, KNOWN, opaque, withoutDirectCaller } from './block-fields.ts';
import type { Envelope, SignedKind } from '../envelope.ts';
import { tagOf } from '../maker.ts';
import { mcpPart } from '../mcp-parts.ts';
import { typed } from '../media/media-types.ts';
import { sisterPart } from '../sister-parts.ts';
import { envelopeIn, signatureOfPrevious } from './signatures.ts';
import { splitSignature } from './tool-ids.ts';
import { booleanOf, stringOf, isObject, objectOf } from '../json/object.ts';

/** Content of a message, a result or `system`: a string is equivalent to one text block. */
export function decodeContent(content: unknown, path: ParamPath, origins?: Origins): Part[] {
  if (content === undefined || content === null) return [];
  if (typeof content === 'string') return content === '' ? [] : [wholeText(content, path, origins)];
  if (!Array.isArray(content)) throw invalid(path, 'must be a string or a list of content blocks');
  const parts: Part[] = [];
  for (let at = 0; at < content.length; at += 1) {
    const block: unknown = content[at];
    const here = BodyPlace.item(path, at);
    if (!isObject(block)) throw invalid(here, 'must be an object');
    const signed = signatureOfPrevious(block);
    const decoded = signed ? signPrevious(parts, signed, origins) : decodeBlock(block, here, origins);
    for (const part of decoded) {
      origins?.note(part, here);
      parts.push(part);
    }
  }
  return parts;
}

function wholeText(text: string, path: ParamPath, origins: Origins | undefined): Part {
  const part: Part = { type: 'text', text };
  origins?.note(part, path);
  return part;
}

/** Puts the signature back on the part it was taken from (signatures.ts), or returns a part that carries it. */
function signPrevious(
  parts: Part[],
  { signature, maker, of }: Extract<Envelope, { kind: 'signature' }>,
  origins: Origins | undefined,
): Part[] {
  const at = parts.findLastIndex((part) => part.type !== 'opaque' || !part.attached);
  const part = parts[at];
  // Google also signs the end of an answer on a part without text.
  if (!part || !isSigned(part, of) || part.signature !== undefined)
    return [{ type: 'text', text: '', signature, ...tagOf({ type: 'text', maker }) }];
  const signed = { ...part, signature, ...tagOf({ type: part.type, maker }) };
  origins?.carry(part, signed);
  parts[at] = signed;
  return [];
}

function isSigned(part: Part, of: SignedKind): part is Extract<Part, { type: 'text' | 'media' }> {
  return (part.type === 'text' && of === 'text') || (part.type === 'media' && of === 'picture');
}

function decodeBlock(block: JsonObject, path: BodyPlace, origins: Origins | undefined): Part[] {
  switch (block.type) {
    case 'text': {
      const part: Part = cached({ type: 'text', text: text(block, 'text', path) }, block);
      const { citations } = block;
      const own = Array.isArray(citations) ? { ...block, citations: ownCitations(citations) } : block;
      return withFields(part, own, KNOWN.text);
    }
    case 'thinking':
      return [decodeThinking(block, path)];
    case 'redacted_thinking':
      return [decodeRedacted(block, path)];
    case 'tool_use':
      return decodeToolUse(block, path);
    case 'tool_result':
      return withFields(decodeResult(block, path, origins), block, KNOWN.result);
    case 'image':
    case 'document':
      return decodeMedia(block, path);
    case 'mcp_tool_use':
    case 'mcp_tool_result': {
      const part = mcpPart(block);
      return [part ? cached(part, block) : opaque(block)];
    }
    default:
      if (typeof block.type !== 'string') throw invalid(BodyPlace.field(path, 'type'), 'must be a string');
      // Server tools and their results, search results, uploads: sent on unchanged and never dropped
      // (docs/protocols/anthropic-messages.md#unknown-blocks).
      return [sisterPart(block) ?? opaque(block)];
  }
}

/** Citations that encode-reply.ts made from another provider's have an empty index, which Claude refuses. */
function ownCitations(citations: readonly unknown[]): unknown {
  const kept = citations.filter((citation) => !isObject(citation) || citation.encrypted_index !== '');
  return kept.length > 0 || citations.length === 0 ? kept : undefined;
}

function decodeToolUse(block: JsonObject, path: BodyPlace): Part[] {
  const { id, signature } = splitSignature(text(block, 'id', path));
  const call: ToolCallPart = {
    type: 'tool_call',
    id,
    name: text(block, 'name', path),
    arguments: JSON.stringify(block.input ?? {}),
  };
  const part = cached(signature === undefined ? call : { ...call, signature }, block);
  return withFields(part, withoutDirectCaller(block), KNOWN.call);
}

function decodeResult(block: JsonObject, path: BodyPlace, origins: Origins | undefined): ToolResultPart {
  const isError = booleanOf(block.is_error);
  const { id: callId } = splitSignature(text(block, 'tool_use_id', path));
  const content = decodeContent(block.content, BodyPlace.field(path, 'content'), origins);
  const result: ToolResultPart = { type: 'tool_result', callId, content };
  return cached(isError === undefined ? result : { ...result, isError }, block);
}

function decodeMedia(block: JsonObject, path: BodyPlace): Part[] {
  const source = objectOf(block.source);
  const sourcePath = BodyPlace.field(path, 'source');
  if (!source) throw invalid(sourcePath, 'must be an object');
  const media = block.type === 'image' ? 'image' : 'document';
  const place = mediaSource(source, media, sourcePath);
  // `content` sources hold blocks of their own, which only this format knows.
  if (!place) return [opaque(block)];
  const name = media === 'document' ? stringOf(block.title) : undefined;
  const plain: MediaPart = { type: 'media', media, ...place };
  const part = cached(typed(name === undefined ? plain : { ...plain, name }), block);
  return withFields(part, block, name === undefined ? KNOWN.media : KNOWN.titledMedia);
}

function mediaSource(
  source: JsonObject,
  media: 'image' | 'document',
  path: BodyPlace,
): Pick<MediaPart, 'source' | 'mime'> | undefined {
  const mime = stringOf(source.media_type);
  switch (source.type) {
    case 'base64':
      return { ...(mime !== undefined && { mime }), source: { kind: 'data', data: text(source, 'data', path) } };
    case 'text':
      return { mime: mime ?? 'text/plain', source: { kind: 'text', text: text(source, 'data', path) } };
    case 'url':
      // A document by URL is always a PDF (docs/protocols/anthropic-messages.md#sources); only the server knows the type of an image.
      return {
        ...(media === 'document' && { mime: 'application/pdf' }),
        source: { kind: 'url', url: text(source, 'url', path) },
      };
    case 'file':
      return { source: { kind: 'file', id: text(source, 'file_id', path) } };
    default:
      return undefined;
  }
}

function withFields(part: Part, block: JsonObject, known: readonly string[]): Part[] {
  const fields = fieldsOf(block, known);
  return fields ? [part, opaque(fields, true)] : [part];
}

function decodeThinking(block: JsonObject, path: BodyPlace): ThinkingPart {
  const part: ThinkingPart = { type: 'thinking', text: text(block, 'thinking', path) };
  const signature = stringOf(block.signature);
  // An empty signature marks thinking that Claude did not write (docs/protocols/messages-route.md#thoughts): it counts
  // as no signature.
  if (!signature) return part;
  const envelope = envelopeIn(block);
  if (!envelope) return { ...part, signature };
  if (envelope === 'unreadable' || envelope.kind !== 'thinking') return { ...part, signature, maker: 'other' };
  const { text: signed = part.text, maker } = envelope;
  return { type: 'thinking', text: signed, signature: envelope.signature, ...tagOf({ type: 'thinking', maker }) };
}

function decodeRedacted(block: JsonObject, path: BodyPlace): RedactedThinkingPart {
  const data = text(block, 'data', path);
  const envelope = envelopeIn(block);
  if (!envelope) return { type: 'redacted_thinking', data };
  if (envelope === 'unreadable' || envelope.kind !== 'redacted')
    return { type: 'redacted_thinking', data, maker: 'other' };
  return {
    type: 'redacted_thinking',
    data: envelope.data,
    ...tagOf({ type: 'redacted_thinking', maker: envelope.maker }),
  };
}

/** Returns the same part when the block has no cache marker. */
function cached<P extends Part>(part: P, block: JsonObject): P {
  return block.cache_control === undefined ? part : { ...part, ...cache(block) };
}

export function cache(block: JsonObject): { cache?: CacheMarker } {
  const marker = objectOf(block.cache_control);
  if (!marker) return {};
  const ttl = stringOf(marker.ttl);
  const { scope } = marker;
  return {
    cache: { type: 'ephemeral', ...(ttl !== undefined && { ttl }), ...(scope !== undefined && { scope }) },
  };
}

function text(block: JsonObject, key: string, path: BodyPlace): string {
  const value = block[key];
  if (typeof value !== 'string') throw invalid(BodyPlace.field(path, key), 'must be a string');
  return value;
}

export function invalid(path: ParamPath, what: string): RequestFault {
  return new RequestFault('invalid_request', `\`${String(path)}\` ${what}.`, path);
}
