import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';
import {
  anthropicEvents,
  anthropicReply,
  geminiReply,
  json,
  openaiChunk,
  openaiReply,
  sse,
  startUpstream,
  type ScriptedUpstream,
  type SeenRequest,
} from '../support/upstream.ts';
import { codeOf, connect, responseOf, type Client } from './websockets/kit.testkit.ts';

/**
 * The checks that Open Responses publishes (docs/protocols/openai-responses.md), each by its name, against upstreams of other APIs, with the
 * store on and off. The shapes are those that its schemas demand.
 */

type Json = Record<string, unknown>;

const MODELS = { chat: '@chat/gpt-x', claude: '@claude/claude-sonnet-4-5', gemini: '@gemini/gemini-3-pro' };
const STORES = { on: {}, off: { responses: { store: false } } };

const gateways = new Map<string, TestGateway>();
let upstream: ScriptedUpstream;

beforeAll(async () => {
  upstream = await startUpstream(answer);
  const at = { base_url: upstream.url, allow_insecure: true };
  const providers = [
    { slug: 'chat', provider: 'openai', ...at, base_url: `${upstream.url}/v1` },
    { slug: 'claude', provider: 'anthropic', api_key: 'claude-key', ...at },
    { slug: 'gemini', provider: 'google-ai-studio', api_key: 'gemini-key', ...at },
  ];
  for (const [name, server] of Object.entries(STORES))
    gateways.set(name, await startTestGateway({ catalog: { providers }, server }));
});
afterAll(async () => {
  for (const gateway of gateways.values()) await gateway.close();
  await upstream.close();
});

/** As the vendors answer: with a call where the request has tools, in events where it asks for a stream. */
function answer({ url, json: body }: SeenRequest, res: Parameters<typeof json>[0]): void | Promise<void> {
  const tools = Array.isArray(body['tools']) && body['tools'].length > 0;
  const args = { location: 'San Francisco' };
  if (url.endsWith('/messages')) {
    if (body['stream'] === true) return sse(res, anthropicEvents('One, ', 'two.'));
    const call = { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: args };
    return json(
      res,
      tools ? { ...anthropicReply(''), content: [call], stop_reason: 'tool_use' } : anthropicReply('Hi.'),
    );
  }
  if (url.includes('enerateContent')) {
    const part = { functionCall: { name: 'get_weather', args }, thoughtSignature: 'c2lnbmVk' };
    const [candidate] = geminiReply('').candidates;
    const call = { ...geminiReply(''), candidates: [{ ...candidate, content: { role: 'model', parts: [part] } }] };
    if (url.includes('stream')) return sse(res, [geminiReply('One, two.')]);
    return json(res, tools ? call : geminiReply('Hi.'));
  }
  if (body['stream'] === true)
    return sse(res, [
      openaiChunk({ role: 'assistant', content: 'One, ' }),
      openaiChunk({ content: 'two.' }),
      openaiChunk({}, 'stop'),
      'data: [DONE]\n\n',
    ]);
  const tool_calls = [
    { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: JSON.stringify(args) } },
  ];
  const message = { role: 'assistant', content: null, tool_calls };
  const choices = [{ index: 0, message, finish_reason: 'tool_calls', logprobs: null }];
  return json(res, openaiReply('Hi.', tools ? { choices } : {}));
}

interface Asking {
  readonly model: string;
  post(path: string, body: Json): Promise<Response>;
  socket(): Promise<Client>;
  /** The body of the last request to the model. */
  asked(): string;
}

const create = async ({ model, post }: Asking, body: Json): Promise<Json> => {
  const reply = await post('/responses', { model, ...body });
  expect(reply.status).toBe(200);
  return expectResponse(await reply.json());
};

const say = (role: string, text: string, more: object = {}): Json => ({
  type: 'message',
  role,
  content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }],
  ...more,
});

const PICTURE =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const WEATHER = {
  type: 'function',
  name: 'get_weather',
  description: 'Weather of a place',
  parameters: { type: 'object', properties: { location: { type: 'string' } }, required: ['location'] },
};

const completes = (body: Json) => async (asking: Asking) =>
  expect(await create(asking, body)).toMatchObject({ status: 'completed', output: [{ type: 'message' }] });

/** A turn of a socket that completes, and its response. */
async function turn(client: Client, body: Json): Promise<Json> {
  const frames = await client.turn({ store: false, ...body });
  expectEvents(frames);
  return responseOf(frames.at(-1)) as unknown as Json;
}

const codeOfTurn = async (client: Client, body: Json): Promise<unknown> =>
  codeOf((await client.turn({ store: false, ...body })).at(-1));

const HELLO: Json = { input: [say('user', 'Say hello.')] };

const CHECKS: Readonly<Record<string, (asking: Asking) => Promise<void>>> = {
  'basic-response': completes({ input: [say('user', 'Say hello in exactly 3 words.')] }),
  'streaming-response': async ({ model, post }) => {
    const reply = await post('/responses', { model, stream: true, input: [say('user', 'Count from 1 to 5.')] });
    expect(reply.headers.get('content-type')).toContain('text/event-stream');
    expectStream(await reply.text());
  },
  'system-prompt': completes({ input: [say('system', 'You are a pirate.'), say('user', 'Say hello.')] }),
  'tool-calling': async (asking) => {
    const { output } = await create(asking, { tools: [WEATHER], input: [say('user', 'Weather in San Francisco?')] });
    const call = (output as Json[]).find(({ type }) => type === 'function_call');
    expect(call).toMatchObject({ name: 'get_weather', call_id: expect.any(String), status: 'completed' });
    expect(JSON.parse(String(call?.['arguments']))).toEqual({ location: 'San Francisco' });
  },
  'image-input': completes({
    input: [
      {
        ...say('user', ''),
        content: [
          { type: 'input_text', text: 'What is it?' },
          { type: 'input_image', image_url: PICTURE },
        ],
      },
    ],
  }),
  'multi-turn': completes({
    input: [say('user', 'My name is Alice.'), say('assistant', 'Hello Alice.'), say('user', 'What is my name?')],
  }),
  'assistant-phase': completes({
    input: [
      say('user', 'Look it up.'),
      say('assistant', 'Looking.', { phase: 'commentary' }),
      say('assistant', 'Found.', { phase: 'final_answer' }),
      say('user', 'And?'),
    ],
  }),
  'response-output-phase-schema': async (asking) => {
    const { output } = await create(asking, { input: 'Hi' });
    for (const item of output as Json[])
      if ('phase' in item) expect(['commentary', 'final_answer']).toContain(item['phase']);
  },
  'compact-response': async ({ model, post }) => {
    const reply = await post('/responses/compact', { model, input: [say('user', 'A'), say('assistant', 'B')] });
    const body = (await reply.json()) as { object: string; output: Json[] };
    expect([reply.status, body.object]).toEqual([200, 'response.compaction']);
    expect(body.output).toContainEqual({
      type: 'compaction',
      id: expect.any(String),
      encrypted_content: expect.any(String),
    });
  },
  'compact-missing-model': async ({ post }) => {
    const { status } = await post('/responses/compact', { input: 'Hi' });
    expect([400, 422]).toContain(status);
  },
  'websocket-response': async ({ model, socket }) => {
    await turn(await socket(), { model, ...HELLO });
  },
  'websocket-sequential-responses': async ({ model, socket }) => {
    const client = await socket();
    const ids = [];
    for (const input of ['Say one.', 'Say two.']) ids.push((await turn(client, { model, input }))['id']);
    expect(new Set(ids).size).toBe(2);
  },
  'websocket-continuation': async ({ model, socket, asked }) => {
    const client = await socket();
    const { id } = await turn(client, { model, input: 'Remember 42.' });
    const next = await turn(client, { model, previous_response_id: id, input: [say('user', 'Which number?')] });
    expect(next['previous_response_id']).toBe(id);
    expect(asked()).toMatch(/Remember 42\..*One, two\..*Which number\?/);
  },
  'websocket-previous-response-not-found': async ({ model, socket }) => {
    const unknown = { model, previous_response_id: 'resp_unknown', ...HELLO };
    expect(await codeOfTurn(await socket(), unknown)).toBe('previous_response_not_found');
  },
  'websocket-reconnect-store-false-recovery': async ({ model, socket }) => {
    const before = await socket();
    const { id } = await turn(before, { model, ...HELLO });
    before.ws.close();
    await before.end();
    const after = await socket();
    const continued = { model, previous_response_id: id, ...HELLO };
    expect(await codeOfTurn(after, continued)).toBe('previous_response_not_found');
    await turn(after, {
      model,
      input: [say('user', 'Say hello.'), say('assistant', 'One, two.'), say('user', 'Go on.')],
    });
  },
  'websocket-failed-continuation-evicts-cache': async ({ model, socket }) => {
    const client = await socket();
    const { id } = await turn(client, { model, ...HELLO });
    const input = [{ type: 'function_call_output', call_id: 'call_of_none', output: '{}' }];
    const failed = (await client.turn({ model, store: false, previous_response_id: id, input })).at(-1);
    expect(failed).toMatchObject({
      type: 'error',
      status: 400,
      error: { message: expect.stringContaining('names no call') },
    });
    const again = { model, previous_response_id: id, ...HELLO };
    expect(await codeOfTurn(client, again)).toBe('previous_response_not_found');
  },
  'websocket-compact-new-chain': async ({ model, post, socket, asked }) => {
    const client = await socket();
    await turn(client, { model, ...HELLO });
    const compacted = await post('/responses/compact', { model, input: [say('user', 'Say hello.')] });
    const { output } = (await compacted.json()) as { output: Json[] };
    const next = await turn(client, { model, tools: [], input: [...output, say('user', 'Go on.')] });
    expect(next['previous_response_id']).toBeNull();
    // The summary, which only the gateway reads, goes to the model.
    expect(asked()).toMatch(/Hi\..*Go on\./);
  },
};

/** Keys of a response that may not be null, with their types, and those that may. */
const REQUIRED: Readonly<Record<string, unknown>> = {
  id: expect.stringMatching(/^resp_/),
  object: 'response',
  created_at: expect.any(Number),
  status: expect.stringMatching(/^(?:completed|incomplete|failed|in_progress)$/),
  model: expect.any(String),
  output: expect.any(Array),
  tools: expect.any(Array),
  tool_choice: expect.anything(),
  truncation: 'disabled',
  parallel_tool_calls: expect.any(Boolean),
  text: { format: { type: 'text' } },
  top_p: expect.any(Number),
  presence_penalty: 0,
  frequency_penalty: 0,
  top_logprobs: 0,
  temperature: expect.any(Number),
  store: expect.any(Boolean),
  background: false,
  service_tier: expect.any(String),
  metadata: {},
};
const NULLABLE = [
  'completed_at',
  'incomplete_details',
  'previous_response_id',
  'instructions',
  'error',
  'reasoning',
  'usage',
  'max_output_tokens',
  'max_tool_calls',
  'safety_identifier',
  'prompt_cache_key',
];
const ITEMS = ['message', 'function_call', 'function_call_output', 'reasoning', 'compaction'];

function expectResponse(value: unknown): Json {
  const response = value as Json;
  expect(response).toMatchObject(REQUIRED);
  expect(NULLABLE.filter((key) => !(key in response))).toEqual([]);
  for (const tool of response['tools'] as Json[])
    expect(Object.keys(tool)).toEqual(expect.arrayContaining(['type', 'name', 'description', 'parameters', 'strict']));
  for (const item of response['output'] as Json[]) {
    expect(ITEMS).toContain(item['type']);
    expect(item['id']).toEqual(expect.any(String));
    if (item['type'] === 'message') expect(item['content']).toMatchObject([{ type: 'output_text', annotations: [] }]);
  }
  if (response['status'] === 'completed')
    expect(response['usage']).toMatchObject({
      input_tokens_details: { cached_tokens: expect.any(Number) },
      output_tokens_details: { reasoning_tokens: expect.any(Number) },
    });
  return response;
}

function expectStream(text: string): void {
  const records = text.trim().split('\n\n');
  expect(records.pop()).toBe('data: [DONE]');
  const events = records.map((record) => {
    const [, name, data] = /^event: (\S+)\ndata: (\{.*\})$/.exec(record) ?? [];
    const event = JSON.parse(data ?? '{}') as Json;
    expect(event['type']).toBe(name);
    return event;
  });
  expectEvents(events);
}

/** The events of a response that completes, of a stream or of a turn. */
function expectEvents(events: readonly Json[]): void {
  expect(events.map((event) => event['sequence_number'])).toEqual(events.map((_, at) => at));
  const names = events.map(({ type }) => String(type).replace(/^response\./, ''));
  const deltas = names.filter((name) => name === 'output_text.delta');
  expect(deltas.length).toBeGreaterThan(0);
  expect(names).toEqual([
    'created',
    'in_progress',
    'output_item.added',
    'content_part.added',
    ...deltas,
    'output_text.done',
    'content_part.done',
    'output_item.done',
    'completed',
  ]);
  for (const { response } of events) if (response) expectResponse(response);
  expect(events.at(-1)).toMatchObject({
    response: { id: (events[0]!['response'] as Json)['id'], output: [{ content: [{ text: 'One, two.' }] }] },
  });
}

it('There are as many checks as Open Responses publishes', () => {
  expect(Object.keys(CHECKS)).toHaveLength(17);
});

const PLACES = Object.keys(STORES).flatMap((store) =>
  Object.entries(MODELS).map(([name, model]) => [name, store, model] as const),
);

describe.each(PLACES)('Open Responses at %s, with the store %s', (_, store, model) => {
  const asking: Asking = {
    model,
    post: (path, body) =>
      fetch(`${gateways.get(store)!.url}/v1${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${KEY}` },
        body: JSON.stringify(body),
      }),
    socket: () => connect(gateways.get(store)!),
    asked: () => upstream.seen.at(-1)!.text,
  };
  for (const [name, check] of Object.entries(CHECKS)) it(`passes ${name}`, () => check(asking));
});
