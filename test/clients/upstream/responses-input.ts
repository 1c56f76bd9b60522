import { refuse, type Ask } from './ask.ts';
import { fields, list, only, text, words, type Fields } from './strict.ts';

/** The items of a request, as OpenAI checks them. */

/** The one blob of this organisation. Another one is that of a stranger. */
export const OPENAI_BLOB = 'gAAAAABo-thought==';
/** Begins the blob of a compaction. What follows would be encrypted. */
export const COMPACTION_BLOB = 'gAAAAABo-compaction==';

/** OpenAI takes a null for a field that is not there. */
export const present = (value: unknown, at: string): Fields =>
  Object.fromEntries(Object.entries(fields(value, at)).filter(([, field]) => field !== null));

export interface Item {
  readonly type: string;
  readonly role: string | undefined;
  readonly text: string;
  readonly callId: string | undefined;
  readonly blob: string | undefined;
  readonly image: Ask['image'];
  /** Those of `additional_tools` and `tool_search_output`. */
  readonly tools: unknown;
}

/** Beside `type`, `id` and `status`. */
const ITEMS: Readonly<Record<string, readonly string[]>> = {
  message: words('role content phase'),
  reasoning: words('summary content encrypted_content'),
  function_call: words('call_id name namespace arguments'),
  function_call_output: words('call_id output name namespace'),
  custom_tool_call: words('call_id name namespace input'),
  custom_tool_call_output: words('call_id output name namespace'),
  tool_search_call: words('call_id execution arguments'),
  tool_search_output: words('call_id execution tools'),
  additional_tools: words('role tools'),
  compaction: words('encrypted_content'),
  compaction_trigger: [],
};

const ROLES = words('user assistant system developer');
const PARTS = words('type text image_url detail annotations logprobs refusal');

export function readInput(input: unknown): readonly Item[] {
  const items =
    typeof input === 'string'
      ? [readItem({ role: 'user', content: input }, 0)]
      : list(input, 'input').map((item, at) => readItem(item, at));
  items.forEach(({ type }, at) => {
    // Recorded: docs/protocols/openai-responses.md#encrypted-content.
    const next = items[at + 1];
    if (type === 'reasoning' && (next === undefined || next.role === 'user' || next.type.endsWith('_output')))
      refuse(`Item of type 'reasoning' at input[${at}] was provided without its required following item.`);
  });
  const trigger = items.findIndex(({ type }) => type === 'compaction_trigger');
  if (trigger >= 0 && trigger < items.length - 1)
    refuse(`input[${trigger}]: compaction_trigger must be the last item.`);
  checkPairs(items);
  return items;
}

function checkPairs(items: readonly Item[]): void {
  const calls = items.filter(({ type }) => type.endsWith('_call'));
  const outputs = items.filter(({ type }) => type.endsWith('_output'));
  for (const { callId, type } of calls) {
    if (outputs.filter((output) => output.callId === callId && output.type.startsWith(typeOfPair(type))).length !== 1)
      refuse(`No tool output found for ${type} ${callId}.`);
  }
  for (const { callId, type } of outputs)
    if (!calls.some((call) => call.callId === callId)) refuse(`No tool call found for ${type} with call_id ${callId}.`);
}

/** `function_call` and `function_call_output`; `tool_search_call` and `tool_search_output`. */
const typeOfPair = (type: string): string => type.replace(/_call$/, '');

function readItem(value: unknown, at: number): Item {
  const path = `input[${at}]`;
  const given = present(value, path);
  const type = given['type'] === undefined ? 'message' : text(given['type'], `${path}.type`);
  const known =
    ITEMS[type] ??
    refuse(`Invalid value: '${type}'. Supported values of ${path}.type are ${Object.keys(ITEMS).join(', ')}.`);
  const item = only(given, path, ['type', 'id', 'status', 'internal_chat_message_metadata_passthrough', ...known]);
  const blob = item['encrypted_content'];
  if (blob !== undefined && blob !== OPENAI_BLOB && !text(blob, path).startsWith(COMPACTION_BLOB))
    refuse(`invalid_encrypted_content: The encrypted content ${String(blob).slice(0, 12)}... could not be verified.`);
  if (type === 'reasoning') list(item['summary'], `${path}.summary`);
  if (type === 'message' && !ROLES.includes(text(item['role'], `${path}.role`)))
    refuse(`${path}.role is none of the roles.`);
  if (type === 'function_call') JSON.parse(text(item['arguments'], `${path}.arguments`));
  const callId = item['call_id'];
  if (type.includes('_call') && text(callId, `${path}.call_id`).length > 64)
    refuse(`${path}.call_id is longer than 64.`);
  const parts = partsOf(item['content'] ?? item['output'], path);
  return {
    type,
    role: type === 'message' ? text(item['role'], path) : undefined,
    text: parts.map((part) => part.text).join(''),
    callId: callId === undefined ? undefined : text(callId, path),
    blob: blob === undefined ? undefined : text(blob, path),
    image: parts.find(({ image }) => image)?.image,
    tools: item['tools'],
  };
}

interface ContentPart {
  readonly text: string;
  readonly image: Ask['image'];
}

function partsOf(content: unknown, path: string): readonly ContentPart[] {
  if (content === undefined) return [];
  if (typeof content === 'string') return [{ text: content, image: undefined }];
  return list(content, `${path}.content`).map((value) => {
    const part = only(present(value, path), `${path}.content[]`, PARTS);
    return { text: String(part['text'] ?? ''), image: imageOf(part['image_url'], path) };
  });
}

function imageOf(url: unknown, path: string): Ask['image'] {
  if (url === undefined) return undefined;
  const [, mime, data] = /^data:([^;]+);base64,(.+)$/.exec(text(url, `${path}.image_url`)) ?? [];
  return mime !== undefined && data !== undefined ? { mime, data } : refuse(`${path}.image_url: no data URL.`);
}
