import type { JsonObject } from '../conversation.ts';
import { RequestFault } from '../faults.ts';
import type { RequestTarget } from '../request-target.ts';
import { editItems, isObject, objectOf, listOf, stringOf } from '../json/object.ts';
import type { LossReport } from '../losses/losses.ts';
import { BodyPlace } from '../losses/place.ts';
import { MESSAGE_EXTENSIONS, NOT_TAKEN, takes } from './extensions.ts';

/**
 * Keys and types that show that messages or tools may have an extension. `format` is one where it holds a MIME type. A search
 * costs 1 ms for each MB (measured), and the messages are parsed only after a match.
 */
export const NESTED_NAMES =
  /"(?:cache_control|content_(?:blocks|parts)|reasoning_content|extra_content|(?:thought_)?signature|maker|citations|(?:redacted_)?thinking|mime_type|(?:file|video|audio)_url|format"\s*:\s*"[a-z]+\/[^"]*)"/;

/** Fields of every reply of OpenAI, and so of the gateway. Groq and others refuse them in a request, even without a value. */
export const EMPTY_FIELDS = /"(?:annotations"\s*:\s*\[\s*\]|refusal"\s*:\s*null)/;

/** The keys of these fields. */
export const EMPTY_KEYS = ['"annotations"', '"refusal"'];

/** The messages without these fields. They say nothing, so nothing is lost. Undefined when nothing changes. */
export const withoutEmptyFields = (messages: unknown): readonly unknown[] | undefined =>
  editItems(messages, (message) => {
    const isEmpty = ([name, value]: [string, unknown]): boolean =>
      name === 'refusal' ? value === null : name === 'annotations' && Array.isArray(value) && value.length === 0;
    const entries = message.role === 'assistant' ? Object.entries(message) : [];
    return entries.some(isEmpty) ? Object.fromEntries(entries.filter((entry) => !isEmpty(entry))) : message;
  });

type Extension = (typeof MESSAGE_EXTENSIONS)[number];

interface Cleaner {
  readonly lacks: ReadonlySet<Extension>;
  readonly report: LossReport;
  /** Cache markers of Claude's clients are sent as OpenAI's own, in user messages. */
  readonly marks: boolean;
}

/** Keys of an object, by the extension that they belong to. */
type Keys = readonly (readonly [Extension, readonly string[]])[];

const OF_MESSAGE: Keys = [
  ['content_blocks', ['content_blocks']],
  ['content_parts', ['content_parts']],
  ['reasoning_content', ['reasoning_content']],
];
const OF_PART: Keys = [
  ['content_blocks', ['citations']],
  ['signature', ['signature', 'maker']],
];
const OF_MEDIA: Keys = [['mime_type', ['mime_type', 'format']]];
const OF_CALL: Keys = [
  ['thought_signature', ['thought_signature', 'maker']],
  ['extra_content', ['extra_content']],
  ['cache_control', ['cache_control']],
];
const OF_FUNCTION: Keys = [['thought_signature', ['thought_signature', 'maker']]];
const OF_TOOL: Keys = [['cache_control', ['cache_control']]];

/** Types of parts that OpenAI's API does not have, and that only thinking models read. */
const THOUGHTS: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking']);

/** The messages without what the target does not take. Undefined when nothing changes. Throws RequestFault. */
export function cleanMessages(
  messages: unknown,
  target: RequestTarget,
  report: LossReport,
): readonly unknown[] | undefined {
  const lacks = new Set(MESSAGE_EXTENSIONS.filter((name) => !takes(target, name)));
  const cleaner = { lacks, report, marks: target.host === 'direct' };
  return editItems(messages, (message, at) => cleanMessage(message, BodyPlace.item('messages', at), cleaner));
}

/** The tools of a request without cache markers. Undefined when nothing changes. */
export function withoutMarkers(field: string, tools: unknown, report: LossReport): readonly unknown[] | undefined {
  const cleaner: Cleaner = { lacks: new Set(['cache_control']), report, marks: false };
  return editItems(tools, (tool, at) => {
    const place = BodyPlace.item(field, at);
    const outer = without(tool, OF_TOOL, place, cleaner);
    return withField(outer, 'function', (fn) => without(fn, OF_TOOL, BodyPlace.field(place, 'function'), cleaner));
  });
}

function cleanMessage(message: JsonObject, place: BodyPlace, cleaner: Cleaner): JsonObject {
  const spoken = withText(message, cleaner);
  const bare = without(spoken, OF_MESSAGE, place, cleaner);
  const parts = cleanContent(bare, place, cleaner);
  const marked = cleanMarker(parts, place, cleaner);
  const calls = editItems(marked.tool_calls, (call, at) =>
    cleanCall(call, BodyPlace.itemOf(place, 'tool_calls', at), cleaner),
  );
  return calls ? { ...marked, tool_calls: calls } : marked;
}

/** An answer that has its text in `content_blocks` or `content_parts` alone keeps the text. */
function withText(message: JsonObject, { lacks }: Cleaner): JsonObject {
  if ((message.content ?? undefined) !== undefined) return message;
  const blocks = (['content_blocks', 'content_parts'] as const)
    .filter((name) => lacks.has(name))
    .map((name) => listOf(message[name]))
    .find((list) => list !== undefined);
  if (!blocks) return message;
  const texts = blocks.flatMap((block) =>
    isObject(block) && block.type === 'text' ? [stringOf(block.text) ?? ''] : [],
  );
  if (texts.length > 0) return { ...message, content: texts.join('') };
  return hasMore(message) ? message : { ...message, content: '' };
}

/** True for a message that may be sent without `content`. */
const hasMore = (message: JsonObject): boolean =>
  ['tool_calls', 'function_call', 'refusal', 'audio'].some((name) => (message[name] ?? undefined) !== undefined);

function cleanContent(message: JsonObject, place: BodyPlace, cleaner: Cleaner): JsonObject {
  const { role } = message;
  const content = editItems(message.content, (part, at) =>
    cleanPart(part, BodyPlace.itemOf(place, 'content', at), { cleaner, role }),
  );
  if (!content) return message;
  return { ...message, content: content.length > 0 ? content : hasMore(message) ? null : '' };
}

interface PartContext {
  readonly cleaner: Cleaner;
  readonly role: unknown;
}

/** Undefined for a part that is lost. */
function cleanPart(part: JsonObject, place: BodyPlace, { cleaner, role }: PartContext): JsonObject | undefined {
  const { lacks, report } = cleaner;
  if (THOUGHTS.has(part.type) && lacks.has('content_blocks') && !Array.isArray(part.thinking))
    return report.dropped(place, NOT_TAKEN);
  refuseMedia(part, place, lacks);
  let cleaned = without(part, OF_PART, place, cleaner);
  for (const media of ['image_url', 'file'])
    cleaned = withField(cleaned, media, (fields) => without(fields, OF_MEDIA, BodyPlace.field(place, media), cleaner));
  if (!lacks.has('cache_control') || !('cache_control' in cleaned)) return cleaned;
  const { cache_control: marker, ...rest } = cleaned;
  return { ...rest, ...breakpoint(rest, marker, BodyPlace.field(place, 'cache_control'), { cleaner, role }) };
}

/** A cache marker of a part as OpenAI's own, where it has one (docs/protocols/openai-chat.md#cache-markers). */
function breakpoint(part: JsonObject, marker: unknown, place: BodyPlace, { cleaner, role }: PartContext): JsonObject {
  const { report, marks } = cleaner;
  if (marker === null) return {};
  if (!marks || role !== 'user' || !isObject(marker) || marker.type !== 'ephemeral') {
    report.dropped(place, NOT_TAKEN);
    return {};
  }
  if ((marker.ttl ?? undefined) !== undefined)
    report.downgraded(BodyPlace.field(place, 'ttl'), 'OpenAI sets the time to live for the whole request.');
  return { prompt_cache_breakpoint: part.prompt_cache_breakpoint ?? { mode: 'explicit' } };
}

/** The marker of a whole message applies to its last part. */
function cleanMarker(message: JsonObject, place: BodyPlace, cleaner: Cleaner): JsonObject {
  if (!cleaner.lacks.has('cache_control') || !('cache_control' in message)) return message;
  const { cache_control: marker, ...rest } = message;
  const { content, role } = message;
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : (listOf(content) ?? []);
  const last = objectOf(parts.at(-1));
  const at = BodyPlace.field(place, 'cache_control');
  const mark = breakpoint(last ?? {}, marker, at, { cleaner, role: last && role });
  if (Object.keys(mark).length === 0) return rest;
  return { ...rest, content: [...parts.slice(0, -1), { ...last, ...mark }] };
}

/** Media that OpenAI's API cannot take in any form. Without them the answer would be another one. */
function refuseMedia(part: JsonObject, place: BodyPlace, lacks: Cleaner['lacks']): void {
  const { type, file } = part;
  const name = (['video_url', 'audio_url'] as const).find((known) => known === type);
  if (name !== undefined && lacks.has(name)) throw unknownMedia(place, name);
  if (isObject(file) && (file.file_url ?? undefined) !== undefined && lacks.has('file_url'))
    throw unknownMedia(BodyPlace.field(BodyPlace.field(place, 'file'), 'file_url'), 'file_url');
}

function unknownMedia(place: BodyPlace, name: string): RequestFault {
  const words = `\`${String(place)}\`: the API of this target has no \`${name}\`.`;
  return new RequestFault('unsupported_parameter', words, place);
}

function cleanCall(call: JsonObject, place: BodyPlace, cleaner: Cleaner): JsonObject {
  let cleaned = without(call, OF_CALL, place, cleaner);
  for (const kind of ['function', 'custom'])
    cleaned = withField(cleaned, kind, (fields) => without(fields, OF_FUNCTION, BodyPlace.field(place, kind), cleaner));
  return cleaned;
}

/** The object without keys that the target lacks, or the same object. A null counts as omitted, so it is no loss. */
function without(object: JsonObject, keys: Keys, place: BodyPlace, { lacks, report }: Cleaner): JsonObject {
  let left = object;
  for (const [extension, names] of keys) {
    if (!lacks.has(extension)) continue;
    for (const name of names) {
      if (!Object.hasOwn(left, name)) continue;
      const { [name]: value, ...others } = left;
      if (value !== null) report.dropped(BodyPlace.field(place, name), NOT_TAKEN);
      left = others;
    }
  }
  return left;
}

export function withField(object: JsonObject, name: string, change: (value: JsonObject) => JsonObject): JsonObject {
  const value = object[name];
  if (!isObject(value)) return object;
  const changed = change(value);
  return changed === value ? object : { ...object, [name]: changed };
}
