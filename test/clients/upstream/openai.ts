import { USAGE } from '../words.ts';
import { refuse, type Answer, type Ask } from './ask.ts';
import { fields, list, only, text, words, type Fields } from './strict.ts';
import { halves, RETRY_AFTER, type Wire } from './wire.ts';

/**
 * Chat completions, as OpenAI and the servers compatible with it speak them (docs/protocols/openai-chat.md#request-fields,
 * docs/protocols/openai-chat.md#stream, docs/protocols/errors.md#openai-errors).
 */

/** `top_k` is no field of OpenAI's, but of vLLM, and of Llama on Vertex AI (docs/protocols/vertex-ai.md#open-model-fields). */
const TOP = words(
  'top_k model messages max_tokens max_completion_tokens temperature top_p n stop seed stream stream_options ' +
    'tools tool_choice parallel_tool_calls response_format reasoning_effort user safety_identifier ' +
    'presence_penalty frequency_penalty metadata store',
);
const MESSAGES: Readonly<Record<string, readonly string[]>> = {
  system: ['content', 'name'],
  developer: ['content', 'name'],
  user: ['content', 'name'],
  // Those that think take back what they thought, in the field they gave it in.
  assistant: ['content', 'tool_calls', 'refusal', 'annotations', 'name', 'reasoning_content'],
  tool: ['content', 'tool_call_id', 'name'],
};

interface Message extends Fields {
  readonly role: string;
  readonly calls: readonly string[];
}

function readMessages(value: unknown): readonly Message[] {
  const messages = list(value, 'messages').map((message, index): Message => {
    const at = `messages[${index}]`;
    const role = text(fields(message, at)['role'], `${at}.role`);
    const known = MESSAGES[role] ?? refuse(`${at}.role: '${role}' is not one of the roles.`);
    const present = Object.fromEntries(Object.entries(fields(message, at)).filter(([, field]) => field !== null));
    const read = only(present, at, ['role', ...known]);
    if (role !== 'assistant' && !('content' in read)) refuse(`${at}.content is required.`);
    if (role !== 'user' && partsOf(read['content']).some(({ type }) => type === 'image_url'))
      refuse(`Invalid ${at}: 'image_url' is only allowed for messages with role 'user'.`);
    return {
      ...read,
      role,
      calls: list(read['tool_calls'] ?? [], `${at}.tool_calls`).map((call) => readCall(call, at)),
    };
  });
  messages.forEach(({ calls }, index) => {
    const results = messages.slice(index + 1, index + 1 + calls.length);
    if (calls.some((id) => !results.some((result) => result.role === 'tool' && result['tool_call_id'] === id)))
      refuse(`An assistant message with 'tool_calls' must be followed by tool messages for each 'tool_call_id'.`);
  });
  return messages;
}

function readCall(value: unknown, at: string): string {
  const { id, type, function: called } = only(value, `${at}.tool_calls[]`, ['id', 'type', 'function', 'index']);
  if (type !== 'function') refuse(`${at}.tool_calls[].type must be function.`);
  const { name, arguments: args } = only(called, `${at}.function`, ['name', 'arguments']);
  text(name, `${at}.function.name`);
  JSON.parse(text(args, `${at}.function.arguments`));
  return text(id, `${at}.tool_calls[].id`);
}

function readTools(body: Fields): { tools: string[]; forced: string | undefined } {
  const tools = list(body['tools'] ?? [], 'tools').map((tool) => {
    const { function: declared } = only(tool, 'tools[]', ['type', 'function']);
    return text(only(declared, 'function', ['name', 'description', 'parameters', 'strict'])['name'], 'function.name');
  });
  const choice = body['tool_choice'];
  if (choice === undefined || choice === 'auto') return { tools, forced: undefined };
  if (tools.length === 0) refuse('tool_choice is only allowed when tools are specified.');
  if (choice === 'none') return { tools: [], forced: undefined };
  if (choice === 'required') return { tools, forced: tools[0] };
  const named = only(choice, 'tool_choice', ['type', 'function'])['function'];
  return { tools, forced: text(only(named, 'tool_choice.function', ['name'])['name'], 'name') };
}

const partsOf = (content: unknown): readonly Fields[] =>
  typeof content === 'string'
    ? [{ type: 'text', text: content }]
    : list(content ?? [], 'content').map((part) =>
        only(part, 'content[]', ['type', 'text', 'image_url', 'refusal', 'input_audio', 'file']),
      );
const textOf = ({ content }: Fields): string =>
  partsOf(content)
    .map((part) => part['text'] ?? '')
    .join('');

function readImage(message: Fields | undefined): Ask['image'] {
  const part = partsOf(message?.['content']).find(({ type }) => type === 'image_url');
  if (!part) return undefined;
  const { url } = only(part['image_url'], 'image_url', ['url', 'detail']);
  const [, mime, data] = /^data:([^;]+);base64,(.+)$/.exec(text(url, 'image_url.url')) ?? [];
  return mime !== undefined && data !== undefined ? { mime, data } : refuse('image_url.url: not a data URL.');
}

function readFormat(body: Fields): boolean {
  const format = only(body['response_format'] ?? { type: 'text' }, 'response_format', ['type', 'json_schema']);
  if (format['type'] !== 'json_schema') return format['type'] === 'json_object';
  const { name, schema } = only(format['json_schema'], 'json_schema', ['name', 'description', 'schema', 'strict']);
  text(name, 'response_format.json_schema.name');
  fields(schema, 'response_format.json_schema.schema');
  return true;
}

export const openai: Wire = {
  read({ json: body, url }): Ask {
    only(body, 'request', TOP);
    const name = text(body['model'], 'model');
    if (name.startsWith('@') || url.includes('/endpoints/openapi/') !== /^(?:meta|openai)\//.test(name))
      refuse(`The model '${name}' does not exist.`);
    if ('stream_options' in body && body['stream'] !== true) refuse('stream_options is only allowed with stream.');
    const messages = readMessages(body['messages']);
    const turn = messages.findLastIndex(({ calls }) => calls.length > 0);
    const results = messages.slice(turn + 1);
    const users = messages.filter(({ role }) => role === 'user');
    return {
      system: messages
        .filter(({ role }) => role === 'system' || role === 'developer')
        .map(textOf)
        .join(''),
      question: textOf(users.at(-1) ?? {}),
      stream: body['stream'] === true,
      ...readTools(body),
      results:
        turn < 0
          ? undefined
          : messages[turn]?.calls.map((id) => textOf(results.find((result) => result['tool_call_id'] === id) ?? {})),
      json: readFormat(body),
      image: readImage(users.at(-1)),
      thinks: 'reasoning_effort' in body && body['reasoning_effort'] !== 'none',
      signed: false,
      rounds: messages.filter(({ calls }) => calls.length > 0).length,
    };
  },

  reply: (answer, { json: body }) => ({
    ...envelope('chat.completion', body),
    choices: [{ index: 0, message: messageOf(answer), finish_reason: finishOf(answer), logprobs: null }],
    usage: usageOf(answer),
  }),

  stream(answer, { json: body }) {
    const usage = fields(body['stream_options'] ?? {}, 'stream_options')['include_usage'] === true;
    const chunk = (choices: readonly object[], more: object = {}): string =>
      frame({ ...envelope('chat.completion.chunk', body), choices, ...(usage && { usage: null }), ...more });
    const delta = (value: object, finish: string | null = null): string =>
      chunk([{ index: 0, delta: value, finish_reason: finish }]);
    return [
      delta({ role: 'assistant', content: '' }),
      ': keep-alive\n\n',
      ...deltasOf(answer).map((value) => delta(value)),
      delta({}, finishOf(answer)),
      ...(usage ? [chunk([], { usage: usageOf(answer) })] : []),
      'data: [DONE]\n\n',
    ];
  },

  error(status, message, retryAfter = RETRY_AFTER) {
    const { type, code } = ERRORS[status] ?? { type: 'server_error', code: null };
    const headers: Record<string, string> = status === 429 ? { 'retry-after': String(retryAfter) } : {};
    return { status, headers, body: { error: { message, type, param: null, code } } };
  },

  streamError: frame({
    error: { message: 'The model is overloaded.', type: 'server_error', param: null, code: 'overloaded' },
  }),
};

const ERRORS: Readonly<Record<number, { readonly type: string; readonly code: string | null }>> = {
  400: { type: 'invalid_request_error', code: null },
  401: { type: 'invalid_request_error', code: 'invalid_api_key' },
  403: { type: 'permission_error', code: null },
  404: { type: 'invalid_request_error', code: 'model_not_found' },
  413: { type: 'invalid_request_error', code: 'request_too_large' },
  429: { type: 'rate_limit_error', code: 'rate_limit_exceeded' },
};

function frame(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

const envelope = (object: string, { model }: Fields) => ({ id: 'chatcmpl-up', object, created: 1_795_132_800, model });
const finishOf = ({ calls }: Answer): string => (calls.length > 0 ? 'tool_calls' : 'stop');

function usageOf({ thought, input = USAGE.input }: Answer): object {
  const thoughts = thought === undefined ? 0 : USAGE.thought;
  return {
    prompt_tokens: input,
    completion_tokens: USAGE.output + thoughts,
    total_tokens: input + USAGE.output + thoughts,
    completion_tokens_details: { reasoning_tokens: thoughts },
  };
}

const callsOf = ({ calls }: Answer) =>
  calls.map(({ id, name, args }, index) => ({
    id: id ?? `call_${index + 1}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }));

const messageOf = (answer: Answer) => ({
  role: 'assistant',
  content: answer.text === '' ? null : answer.text,
  refusal: null,
  ...(answer.thought !== undefined && { reasoning_content: answer.thought }),
  ...(answer.calls.length > 0 && { tool_calls: callsOf(answer) }),
});

const deltasOf = (answer: Answer): object[] => [
  ...halves(answer.thought ?? '').map((piece) => ({ reasoning_content: piece })),
  ...halves(answer.text).map((content) => ({ content })),
  ...callsOf(answer).flatMap(({ function: { name, arguments: args }, ...call }, index) => [
    { tool_calls: [{ index, ...call, function: { name, arguments: '' } }] },
    ...halves(args).map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
  ]),
];
