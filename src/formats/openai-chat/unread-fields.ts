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

const MARKERS: Shape = { cache_control: true, prompt_cache_breakpoint: true };
const TYPED: Shape = { mime_type: true, format: true };
const LOCATED: Shape = { type: true, signature: true, ...MARKERS };
const URL_SHAPE: Shape = { url: true, detail: true, ...TYPED };

/** Other part types are opaque: they are sent whole, or reported whole. */
const PARTS: ReadonlyMap<unknown, Shape> = new Map<unknown, Shape>([
  // `annotations` and `index` are reply fields that clients send back. They mean nothing to a model.
  ['text', { ...LOCATED, text: true, citations: true, annotations: true, index: true }],
  ['image_url', { ...LOCATED, image_url: URL_SHAPE }],
  ['video_url', { ...LOCATED, video_url: URL_SHAPE }],
  ['audio_url', { ...LOCATED, audio_url: URL_SHAPE }],
  ['input_audio', { ...LOCATED, input_audio: { data: true, format: true } }],
  ['file', { ...LOCATED, file: { file_data: true, file_id: true, file_url: true, filename: true, ...TYPED } }],
  ['refusal', { type: true, refusal: true }],
  ['thinking', { type: true, thinking: true, signature: true, image_url: true, index: true }],
  ['redacted_thinking', { type: true, data: true, index: true }],
]);

const FUNCTION: Shape = { name: true, description: true, parameters: true, strict: true, cache_control: true };
const CALLED: Shape = { name: true, arguments: true, thought_signature: true };
const CALL: Shape = {
  id: true,
  type: true,
  index: true,
  function: CALLED,
  custom: { name: true, input: true, thought_signature: true },
  extra_content: true,
  thought_signature: true,
  ...MARKERS,
};
const COMMON: Shape = { role: true, content: true, name: true, ...MARKERS };
const ASSISTANT: Shape = {
  ...COMMON,
  tool_calls: [CALL],
  function_call: { name: true, arguments: true },
  refusal: true,
  audio: true,
  annotations: true,
  content_blocks: true,
  content_parts: true,
  reasoning_content: true,
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
  ['custom', { type: true, custom: { name: true, description: true, format: true }, ...MARKERS }],
]);

const NAMED: Shape = { name: true };
const TOOL_CHOICES: ReadonlyMap<unknown, Shape> = new Map<unknown, Shape>([
  ['function', { type: true, function: NAMED }],
  ['custom', { type: true, custom: NAMED }],
  [
    'allowed_tools',
    { type: true, allowed_tools: { mode: true, tools: [{ type: true, function: NAMED, custom: NAMED }] } },
  ],
]);
const SCHEMA_WRAPPER: Shape = { name: true, description: true, schema: true, strict: true };

/** Request options that are read field by field. Options that are sent whole (`audio`, `metadata`) are not here. */
const OPTIONS: readonly (readonly [field: string, shapeOf: (option: JsonObject) => Shape | undefined])[] = [
  ['tool_choice', ({ type }) => TOOL_CHOICES.get(type)],
  ['function_call', () => NAMED],
  ['response_format', responseFormat],
  ['thinking', () => ({ type: true, budget_tokens: true, display: true })],
  ['stream_options', streamOptions],
];

/** The gateway pads no chunks, so `include_obfuscation: false` is honoured without a loss. */
function streamOptions({ include_obfuscation: padding }: JsonObject): Shape {
  return padding === false ? { include_usage: true, include_obfuscation: true } : { include_usage: true };
}

function responseFormat({ type, json_schema: wrapper }: JsonObject): Shape {
  if (type !== 'json_schema') return { type: true };
  return { type: true, json_schema: isObject(wrapper) && isBareSchema(wrapper) ? true : SCHEMA_WRAPPER };
}

/**
 * Some clients send the schema in place of its wrapper (docs/protocols/openai-chat.md#response-format). The wrapper has
 * none of a schema's own keywords.
 */
export function isBareSchema(wrapper: JsonObject): boolean {
  if (isObject(wrapper.schema)) return false;
  return ['type', 'properties', '$ref', 'anyOf', 'oneOf', 'allOf', 'enum'].some((keyword) => keyword in wrapper);
}

/** Returns the losses. Their places are paths in the caller's body, as OpenAI writes `param`. */
export function unreadFields(body: JsonObject): readonly Loss[] {
  const found = new LossReport();
  each(body.messages, 'messages', (message, path) => {
    const shape = MESSAGES.get(message.role);
    compare(message, shape, path, found);
    for (const list of PART_LISTS) {
      const parts = message[list];
      if (shape?.[list] !== true || !Array.isArray(parts)) continue;
      each(parts, BodyPlace.field(path, list), (part, place) => compare(part, PARTS.get(part.type), place, found));
    }
  });
  each(body.tools, 'tools', (tool, path) => compare(tool, TOOLS.get(tool.type), path, found));
  each(body.functions, 'functions', (fn, path) => compare(fn, FUNCTION, path, found));
  for (const [field, shapeOf] of OPTIONS) {
    const option = body[field];
    if (isObject(option)) compare(option, shapeOf(option), field, found);
  }
  return found.list();
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
  for (const key of Object.keys(object)) {
    const known = Object.hasOwn(shape, key) ? shape[key] : undefined;
    if (known === true) continue;
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
