import type { JsonObject, Loss } from '../conversation.ts';
import { LossReport } from '../losses/losses.ts';
import { BodyPlace, type ParamPath } from '../losses/place.ts';
import { isObject } from '../json/object.ts';

/**
 * Fields of messages, parts, calls, tools and options that the decoder reads. The conversation has no place for other
 * fields there, so a target of another format reports them; unknown top-level fields are `extras`. `true`: the field is
 * read, or its value is kept whole.
 */
type Shape = { readonly [field: string]: true | Shape | readonly [Shape] };

const fields = (...names: readonly string[]): Shape => Object.fromEntries(names.map((name) => [name, true]));

/** `scope` needs a beta header, which belongs to the Messages API. */
const MARKER = fields('type', 'ttl');
const MARKERS: Shape = { cache_control: MARKER, prompt_cache_breakpoint: true };
const LOCATED: Shape = { ...fields('type', 'signature', 'maker'), ...MARKERS };
const URL_SHAPE = fields('url', 'detail', 'mime_type', 'format');
const FILE = fields('file_data', 'file_id', 'file_url', 'filename', 'mime_type', 'format');

/** Other part types are opaque: they are sent whole, or reported whole. */
const PARTS: ReadonlyMap<unknown, Shape> = new Map<unknown, Shape>([
  // `annotations` and `index` are reply fields that clients send back. They mean nothing to a model.
  ['text', { ...LOCATED, ...fields('text', 'citations', 'annotations', 'index') }],
  ['image_url', { ...LOCATED, image_url: URL_SHAPE }],
  ['video_url', { ...LOCATED, video_url: URL_SHAPE }],
  ['audio_url', { ...LOCATED, audio_url: URL_SHAPE }],
  ['input_audio', { ...LOCATED, input_audio: fields('data', 'format') }],
  ['file', { ...LOCATED, file: FILE }],
  ['refusal', fields('type', 'refusal')],
  ['thinking', fields('type', 'thinking', 'signature', 'maker', 'image_url', 'index')],
  ['redacted_thinking', fields('type', 'data', 'maker', 'index')],
]);

const FUNCTION: Shape = { ...fields('name', 'description', 'parameters', 'strict'), cache_control: MARKER };
const CALL: Shape = {
  ...fields('id', 'type', 'index', 'extra_content', 'thought_signature'),
  function: fields('name', 'arguments', 'thought_signature', 'maker'),
  custom: fields('name', 'input', 'thought_signature', 'maker'),
  ...MARKERS,
};
const COMMON: Shape = { ...fields('role', 'content', 'name'), ...MARKERS };
const ASSISTANT: Shape = {
  ...COMMON,
  ...fields('refusal', 'audio', 'annotations', 'content_blocks', 'content_parts', 'reasoning_content'),
  tool_calls: [CALL],
  function_call: fields('name', 'arguments'),
};
/** decode-messages.ts reads different fields for each role, and refuses roles that are not here. */
const MESSAGES: ReadonlyMap<unknown, Shape> = new Map<unknown, Shape>([
  ['developer', COMMON],
  ['system', COMMON],
  ['user', COMMON],
  ['assistant', ASSISTANT],
  ['tool', { ...COMMON, tool_call_id: true }],
  ['function', COMMON],
]);
const TOOLS: ReadonlyMap<unknown, Shape> = new Map<unknown, Shape>([
  ['function', { type: true, function: FUNCTION, ...MARKERS }],
  ['custom', { type: true, custom: fields('name', 'description', 'format'), ...MARKERS }],
]);

const NAMED = fields('name');
const ALLOWED_TOOLS: Shape = { mode: true, tools: [{ type: true, function: NAMED, custom: NAMED }] };
const TOOL_CHOICES: ReadonlyMap<unknown, Shape> = new Map<unknown, Shape>([
  ['function', { type: true, function: NAMED }],
  ['custom', { type: true, custom: NAMED }],
  ['allowed_tools', { type: true, allowed_tools: ALLOWED_TOOLS }],
]);
const SCHEMA_WRAPPER = fields('name', 'description', 'schema', 'strict');
const THINKING = fields('type', 'budget_tokens', 'display');
const STREAM = fields('include_usage');
const UNPADDED_STREAM = fields('include_usage', 'include_obfuscation');

/** Request options that are read field by field. Options that are sent whole (`audio`, `metadata`) are not here. */
const OPTIONS: readonly { readonly field: string; readonly shapeOf: (option: JsonObject) => Shape | undefined }[] = [
  { field: 'tool_choice', shapeOf: ({ type }) => TOOL_CHOICES.get(type) },
  { field: 'function_call', shapeOf: () => NAMED },
  { field: 'response_format', shapeOf: responseFormat },
  { field: 'thinking', shapeOf: () => THINKING },
  { field: 'stream_options', shapeOf: streamOptions },
];

/** The gateway pads no chunks, so `include_obfuscation: false` is honoured without a loss. */
function streamOptions({ include_obfuscation: padding }: JsonObject): Shape {
  return padding === false ? UNPADDED_STREAM : STREAM;
}

function responseFormat({ type, json_schema: wrapper }: JsonObject): Shape {
  if (type !== 'json_schema') return { type: true };
  return { type: true, json_schema: isObject(wrapper) && isBareSchema(wrapper) ? true : SCHEMA_WRAPPER };
}

/** Some clients send the schema without its wrapper (docs/protocols/openai-chat.md#response-format). */
export function isBareSchema(wrapper: JsonObject): boolean {
  if (isObject(wrapper.schema)) return false;
  return ['type', 'properties', '$ref', 'anyOf', 'oneOf', 'allOf', 'enum'].some((keyword) => keyword in wrapper);
}

/** Returns the losses. Their places are paths in the caller's body, as OpenAI writes `param`. */
export function unreadFields(body: JsonObject): readonly Loss[] {
  const found = new LossReport();
  if (Array.isArray(body.messages)) compareMessages(body.messages, found);
  if (body.tools) each(body.tools, 'tools', (tool, path) => compare(tool, TOOLS.get(tool.type), path, found));
  if (body.functions) each(body.functions, 'functions', (fn, path) => compare(fn, FUNCTION, path, found));
  for (const { field, shapeOf } of OPTIONS) {
    const option = body[field];
    if (isObject(option)) compare(option, shapeOf(option), field, found);
  }
  return found.list();
}

function compareMessages(messages: readonly unknown[], found: LossReport): void {
  for (let at = 0; at < messages.length; at += 1) {
    const message = messages[at];
    if (!isObject(message)) continue;
    const shape = MESSAGES.get(message.role);
    const path = BodyPlace.item('messages', at);
    compare(message, shape, path, found);
    for (const list of PART_LISTS) {
      const parts = message[list];
      if (shape?.[list] !== true || !Array.isArray(parts)) continue;
      each(parts, BodyPlace.field(path, list), (part, place) => compare(part, PARTS.get(part.type), place, found));
    }
  }
}

const PART_LISTS = ['content', 'content_blocks', 'content_parts'] as const;

function each(list: unknown, place: ParamPath, visit: (item: JsonObject, place: BodyPlace) => void): void {
  if (!Array.isArray(list)) return;
  for (let at = 0; at < list.length; at += 1) {
    const item: unknown = list[at];
    if (isObject(item)) visit(item, BodyPlace.item(place, at));
  }
}

function compare(object: JsonObject, shape: Shape | undefined, path: ParamPath, found: LossReport): void {
  if (!shape) return;
  for (const key in object) {
    const known = Object.hasOwn(shape, key) ? shape[key] : undefined;
    if (known === true || !Object.hasOwn(object, key)) continue;
    const value = object[key];
    // null is "not set" everywhere (read.ts).
    if (value === undefined || value === null) continue;
    if (known === undefined) {
      if (found.isFull) found.count('dropped', 1);
      else found.dropped(BodyPlace.field(path, key), 'No field of this name is known here.');
    } else if (isList(known)) {
      each(value, BodyPlace.field(path, key), (item, place) => compare(item, known[0], place, found));
    } else if (isObject(value)) compare(value, known, BodyPlace.field(path, key), found);
  }
}

function isList(shape: true | Shape | readonly [Shape]): shape is readonly [Shape] {
  return Array.isArray(shape);
}
