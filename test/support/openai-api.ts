/** OpenAI's chat API as its documents have it (docs/protocols/openai-chat.md): it refuses every other field. */

const TOP_LEVEL = `model messages max_completion_tokens max_tokens temperature top_p n stop frequency_penalty presence_penalty
  logit_bias logprobs top_logprobs seed stream stream_options tools tool_choice parallel_tool_calls functions function_call
  response_format reasoning_effort verbosity modalities audio prediction web_search_options metadata store user
  safety_identifier prompt_cache_key prompt_cache_options prompt_cache_retention service_tier moderation`;

interface Shape {
  readonly [field: string]: true | Shape | readonly [Shape | ((item: object) => Shape | undefined)];
}

const fields = (names: string): Shape => Object.fromEntries(names.split(/\s+/).map((name) => [name, true]));

const PARTS: Readonly<Record<string, Shape>> = {
  text: fields('type text prompt_cache_breakpoint'),
  image_url: { ...fields('type prompt_cache_breakpoint'), image_url: fields('url detail') },
  input_audio: { ...fields('type prompt_cache_breakpoint'), input_audio: fields('data format') },
  file: { ...fields('type prompt_cache_breakpoint'), file: fields('file_data file_id filename') },
  refusal: fields('type refusal'),
};
/** Parts of other types have no field at all. */
const part = (item: object): Shape => PARTS[String((item as { type?: unknown }).type)] ?? {};

const CALL: Shape = { ...fields('id type'), function: fields('name arguments'), custom: fields('name input') };
const MESSAGE: Shape = {
  ...fields('role name refusal audio function_call tool_call_id annotations'),
  content: [part],
  tool_calls: [CALL],
};
const TOOL: Shape = {
  type: true,
  function: fields('name description parameters strict'),
  custom: fields('name description format'),
};

const REQUEST: Shape = {
  ...fields(TOP_LEVEL),
  messages: [MESSAGE],
  tools: [TOOL],
  functions: [TOOL.function as Shape],
};

/** The path of the first field that OpenAI does not document. */
export const undocumentedField = (body: object): string | undefined => firstUnknown(body, REQUEST, '');

function firstUnknown(object: object, shape: Shape, path: string): string | undefined {
  for (const [key, value] of Object.entries(object)) {
    const known = Object.hasOwn(shape, key) ? shape[key] : undefined;
    const place = path + key;
    if (known === undefined) return place;
    if (known === true || typeof value !== 'object' || value === null) continue;
    const found = isItems(known) ? firstUnknownItem(value, known[0], place) : firstUnknown(value, known, `${place}.`);
    if (found !== undefined) return found;
  }
  return undefined;
}

type Items = readonly [Shape | ((item: object) => Shape | undefined)];
const isItems = (known: Shape | Items): known is Items => Array.isArray(known);

function firstUnknownItem(list: object, shape: Items[0], place: string): string | undefined {
  for (const [at, item] of Object.entries(list)) {
    if (typeof item !== 'object' || item === null) continue;
    const one = typeof shape === 'function' ? shape(item as object) : shape;
    const found = firstUnknown(item as object, one ?? {}, `${place}[${at}].`);
    if (found !== undefined) return found;
  }
  return undefined;
}
