import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';
import {
  anthropicReply,
  entriesFor,
  geminiReply,
  json,
  openaiReply,
  startUpstream,
  type ScriptedUpstream,
} from '../support/upstream.ts';

/** Conversations whose next turn sends back what the turn before it brought, to servers that refuse it in another form. */

let gateway: TestGateway;
let upstream: ScriptedUpstream;

const call = { id: 'call_a', type: 'function', function: { name: 'get', arguments: '{"c":"X"}' } };
type Message = Record<string, unknown>;

/** The reply of a thinking model to its first turn, as chunks. */
const thinkingChunks = [
  { role: 'assistant', content: '', reasoning_content: 'I should ' },
  { reasoning_content: 'call get' },
  { tool_calls: [{ ...call, index: 0 }] },
].map((delta) => ({ id: 'c1', model: 'm', choices: [{ index: 0, delta, finish_reason: null as string | null }] }));
thinkingChunks.push({ id: 'c1', model: 'm', choices: [{ index: 0, delta: {} as never, finish_reason: 'tool_calls' }] });

beforeAll(async () => {
  upstream = await startUpstream(({ url, json: body, text }, res) => {
    if (url.includes(':generateContent')) return json(res, geminiReply('ok'));
    if (url.endsWith('/messages')) return json(res, anthropicReply('ok'));
    if (url.includes('embeddings'))
      return json(res, { object: 'list', model: 'e', data: [{ object: 'embedding', index: 0, embedding: [0.5, -1] }] });
    const messages = body['messages'] as readonly Message[];
    const refuse = (message: string) => json(res, { error: { message, type: 'invalid_request_error' } }, 400);
    // Groq refuses every field of a message that its API does not have.
    if (url.includes('groq') && /"(?:annotations|refusal|reasoning_content)"/.test(text))
      return refuse("property 'annotations' is unsupported");
    // Kimi and DeepSeek refuse calls without the thoughts that led to them.
    const bare = messages.some(
      (message) => message['tool_calls'] && message['reasoning_content'] !== 'I should call get',
    );
    if (url.includes('kimi') && bare) return refuse('thinking is enabled but reasoning_content is missing');
    if (url.includes('groq') || messages.some(({ role }) => role === 'tool')) return json(res, openaiReply('done'));
    if (body['stream'] === true) {
      res.setHeader('content-type', 'text/event-stream');
      for (const chunk of thinkingChunks) res.write(`data: ${JSON.stringify(chunk)}\n\n`);
      res.end('data: [DONE]\n\n');
      return;
    }
    const message = { role: 'assistant', content: null, reasoning_content: 'I should call get', tool_calls: [call] };
    return json(res, { ...openaiReply(''), choices: [{ index: 0, message, finish_reason: 'tool_calls' }] });
  });
  const server = (slug: string, path: string) => ({
    slug,
    provider: 'openai',
    base_url: `${upstream.url}/${path}/v1`,
    allow_insecure: true,
  });
  const responses = { provider: 'openai', api: 'responses', base_url: `${upstream.url}/v1`, allow_insecure: true };
  gateway = await startTestGateway({
    catalog: {
      providers: [
        ...entriesFor(upstream.url),
        server('kimi', 'kimi'),
        server('other', 'other'),
        server('groq', 'groq'),
        { slug: 'native', ...responses },
      ],
    },
    gateway: {
      fails_over: {
        strategy: { mode: 'fallback', on_status_codes: [400] },
        targets: [
          { provider: '@groq', override_params: { model: 'm' } },
          { provider: '@kimi', override_params: { model: 'm' } },
        ],
      },
    },
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

interface Answer {
  readonly status: number;
  readonly dropped: string;
  readonly text: string;
}

async function post(path: string, body: object, more: Record<string, string> = {}): Promise<Answer> {
  const headers = {
    'content-type': 'application/json',
    'x-gateway-api-key': KEY,
    authorization: 'Bearer ya29.of-the-caller',
    ...more,
  };
  const reply = await fetch(`${gateway.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  return {
    status: reply.status,
    dropped: reply.headers.get('x-gateway-dropped-params') ?? '',
    text: await reply.text(),
  };
}

const events = (text: string): Message[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)) as Message);

/** The content of a streamed message as Anthropic's SDKs assemble it. */
function assembled(text: string): Message[] {
  const blocks: Message[] = [];
  for (const { type, index, content_block, delta } of events(text)) {
    const at = Number(index);
    const { thinking, signature, partial_json, text: words } = (delta ?? {}) as Record<string, string>;
    if (type === 'content_block_start') blocks[at] = { ...(content_block as Message) };
    const block = blocks[at];
    if (type !== 'content_block_delta' || !block) continue;
    if (thinking !== undefined) block['thinking'] = `${String(block['thinking'])}${thinking}`;
    if (words !== undefined) block['text'] = `${String(block['text'])}${words}`;
    if (signature !== undefined) block['signature'] = signature;
    if (partial_json !== undefined) block['input'] = JSON.parse(partial_json);
  }
  return blocks;
}

interface Door {
  first(model: string, stream: boolean): readonly [path: string, body: object];
  next(model: string, reply: string, stream: boolean): readonly [path: string, body: object];
  readonly lost: string;
}

const parameters = { type: 'object', properties: { c: { type: 'string' } } };

const DOORS: Readonly<Record<string, Door>> = {
  Messages: {
    first: (model, stream) => ['/v1/messages', { ...messagesBody(model), stream }],
    next(model, reply, stream) {
      const content = stream ? assembled(reply) : (JSON.parse(reply) as { content: Message[] }).content;
      const result = { type: 'tool_result', tool_use_id: 'call_a', content: 'r' };
      const messages = [
        { role: 'user', content: 'q' },
        { role: 'assistant', content },
        { role: 'user', content: [result] },
      ];
      return ['/v1/messages', { ...messagesBody(model), messages }];
    },
    lost: 'messages[1].content[0]',
  },
  Responses: {
    first: (model, stream) => ['/v1/responses', { ...responsesBody(model), stream }],
    next(model, reply, stream) {
      const last = stream ? (events(reply).at(-1)!['response'] as Message) : (JSON.parse(reply) as Message);
      const input = [
        { role: 'user', content: 'q' },
        ...(last['output'] as Message[]),
        { type: 'function_call_output', call_id: 'call_a', output: 'r' },
      ];
      return ['/v1/responses', { ...responsesBody(model), input }];
    },
    lost: 'input[1]',
  },
  'Responses, continued by its id': {
    first: (model, stream) => ['/v1/responses', { ...responsesBody(model), stream }],
    next(model, reply, stream) {
      const last = stream ? (events(reply).at(-1)!['response'] as Message) : (JSON.parse(reply) as Message);
      const input = [{ type: 'function_call_output', call_id: 'call_a', output: 'r' }];
      return ['/v1/responses', { ...responsesBody(model), previous_response_id: last['id'], input }];
    },
    lost: 'input[1]',
  },
  Gemini: {
    first: (model, stream) => [geminiPath(model, stream), geminiBody],
    next(model, reply, stream) {
      const chunks = stream ? events(reply) : [JSON.parse(reply) as Message];
      const parts = chunks.flatMap(
        ({ candidates }) =>
          (candidates as { content?: { parts?: Message[] } }[] | undefined)?.[0]?.content?.parts ?? [],
      );
      const result = { functionResponse: { id: 'call_a', name: 'get', response: { output: 'r' } } };
      const contents = [...geminiBody.contents, { role: 'model', parts }, { role: 'user', parts: [result] }];
      return [geminiPath(model, false), { ...geminiBody, contents }];
    },
    lost: 'contents[1].parts[',
  },
};

const messagesBody = (model: string) => ({
  model,
  max_tokens: 2000,
  thinking: { type: 'enabled', budget_tokens: 1024 },
  tools: [{ name: 'get', input_schema: parameters }],
  messages: [{ role: 'user', content: 'q' }],
});
const responsesBody = (model: string) => ({
  model,
  tools: [{ type: 'function', name: 'get', parameters, strict: false }],
  input: [{ role: 'user', content: 'q' }],
});
const geminiPath = (model: string, stream: boolean): string =>
  `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`;
const geminiBody = {
  contents: [{ role: 'user', parts: [{ text: 'q' }] }],
  tools: [{ functionDeclarations: [{ name: 'get', parametersJsonSchema: parameters }] }],
  generationConfig: { thinkingConfig: { includeThoughts: true } },
};

const sent = () => upstream.seen.at(-1)!;
const thoughtSent = (): unknown =>
  (sent().json['messages'] as readonly Message[]).find(({ role }) => role === 'assistant')?.['reasoning_content'];

const cells = Object.keys(DOORS).flatMap((door) => [true, false].map((stream) => [door, stream] as const));

describe('a tool loop with a server that demands its thoughts', () => {
  it.each(cells)('goes on for a client of %s (stream: %s)', async (name, stream) => {
    const door = DOORS[name]!;
    const first = await post(...door.first('@kimi/m', stream));
    expect(first.status).toBe(200);
    const next = await post(...door.next('@kimi/m', first.text, stream));
    expect([next.status, thoughtSent()]).toEqual([200, 'I should call get']);
  });

  it.each(cells)(
    'sends another entry none of them, and reports that, for a client of %s (stream: %s)',
    async (name, stream) => {
      const door = DOORS[name]!;
      const first = await post(...door.first('@kimi/m', stream));
      const next = await post(...door.next('@other/m', first.text, stream));
      expect([next.status, thoughtSent()]).toEqual([200, undefined]);
      expect(next.dropped).toContain(door.lost);
      const strict = await post(...door.next('@other/m', first.text, stream), { 'x-gateway-strict-params': 'true' });
      expect(strict.status).toBe(400);
    },
  );

  it.each(cells)('goes on at the second target of a config, for a client of %s (stream: %s)', async (name, stream) => {
    const door = DOORS[name]!;
    const first = await post(...door.first('@kimi/m', stream));
    const next = await post(...door.next('m', first.text, stream), { 'x-gateway-config': 'fails_over' });
    expect(next.status).toBe(200);
  });
});

describe('an assistant message that a chat client sends back', () => {
  const question = { role: 'user', content: 'q' };

  it.each(['@claude/claude-sonnet-4-5', '@gemini/gemini-2.5-flash'])(
    'of %s is taken by a server that refuses empty fields',
    async (model) => {
      const first = await post('/v1/chat/completions', { model, messages: [question] });
      const { choices } = JSON.parse(first.text) as { choices: readonly [{ message: Message }] };
      expect(choices[0].message).toMatchObject({ refusal: null, annotations: [] });
      const messages = [question, choices[0].message, question];
      const next = await post('/v1/chat/completions', { model: '@groq/m', temperature: 1.0, messages });
      expect([next.status, next.dropped]).toEqual([200, '']);
      expect(sent().json['messages']).toEqual([question, { role: 'assistant', content: 'ok' }, question]);
    },
  );
});

describe('broken arguments of a call in the history', () => {
  const broken = '{"c": abc}';
  const requests: Readonly<Record<string, (model: string) => readonly [string, object, place: string]>> = {
    chat: (model) => [
      '/v1/chat/completions',
      {
        model,
        max_tokens: 100,
        messages: [
          { role: 'user', content: 'q' },
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 'a', type: 'function', function: { name: 'get', arguments: broken } }],
          },
          { role: 'tool', tool_call_id: 'a', content: 'Error' },
        ],
      },
      'messages[1].tool_calls[0].function.arguments',
    ],
    'chat, with the older field': (model) => [
      '/v1/chat/completions',
      {
        model,
        max_tokens: 100,
        messages: [
          { role: 'user', content: 'q' },
          { role: 'assistant', content: null, function_call: { name: 'get', arguments: broken } },
          { role: 'function', name: 'get', content: 'Error' },
        ],
      },
      'messages[1].function_call.arguments',
    ],
    Responses: (model) => [
      '/v1/responses',
      {
        model,
        max_output_tokens: 100,
        input: [
          { role: 'user', content: 'q' },
          { type: 'function_call', call_id: 'a', name: 'get', arguments: broken },
          { type: 'function_call_output', call_id: 'a', output: 'Error' },
        ],
      },
      'input[1].arguments',
    ],
    // Input of the Messages API is JSON: a client sends arguments that it cannot parse as a string.
    Messages: (model) => [
      '/v1/messages',
      {
        model,
        max_tokens: 100,
        messages: [
          { role: 'user', content: 'q' },
          { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'get', input: broken }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'Error' }] },
        ],
      },
      'messages[1].content[0].input',
    ],
    Gemini: (model) => [
      geminiPath(model, false),
      {
        contents: [
          { role: 'user', parts: [{ text: 'q' }] },
          { role: 'model', parts: [{ functionCall: { id: 'a', name: 'get', args: broken } }] },
          { role: 'user', parts: [{ functionResponse: { id: 'a', name: 'get', response: { output: 'Error' } } }] },
        ],
        generationConfig: { maxOutputTokens: 100 },
      },
      'contents[1].parts[0].functionCall.args',
    ],
  };
  const native: Readonly<Record<string, string>> = { Messages: 'claude', Gemini: 'gemini' };
  const pairs = Object.keys(requests).flatMap((door) =>
    ['claude', 'gemini'].filter((slug) => native[door] !== slug).map((slug) => [door, slug] as const),
  );

  it.each(pairs)('of a client of %s reach %s as an object, which is reported', async (door, slug) => {
    const model = slug === 'claude' ? '@claude/claude-sonnet-4-5' : '@gemini/gemini-2.5-flash';
    const [path, body, place] = requests[door]!(model);
    const reply = await post(path, body);
    expect([reply.status, reply.dropped]).toEqual([200, expect.stringContaining(place)]);
    const called = slug === 'claude' ? '"name":"get","input":' : '"name":"get","args":';
    expect(sent().text).toContain(`${called}${JSON.stringify({ value: broken })}`);
    const before = upstream.seen.length;
    expect((await post(path, body, { 'x-gateway-strict-params': 'true' })).status).toBe(400);
    expect(upstream.seen).toHaveLength(before);
  });
});

describe('an unknown previous response', () => {
  const output = [{ type: 'function_call_output', call_id: 'call_1', output: '{}' }];
  it.each(['@native/gpt-x', '@kimi/m', '@openai/gpt-4o', '@claude/claude-sonnet-4-5', '@gemini/gemini-2.5-flash'])(
    'is not found where the input has only results of its calls: %s',
    async (model) => {
      for (const input of [
        output,
        [...output, { role: 'user', content: 'q' }],
        [{ ...output[0], type: 'custom_tool_call_output' }],
      ]) {
        const reply = await post('/v1/responses', { model, previous_response_id: 'resp_abc', input });
        expect([reply.status, JSON.parse(reply.text)]).toMatchObject([
          400,
          { error: { code: 'previous_response_not_found', param: 'previous_response_id' } },
        ]);
      }
    },
  );

  it('is not asked for where the request names none', async () => {
    const reply = await post('/v1/responses', { model: '@kimi/m', input: output });
    expect(JSON.parse(reply.text)).toMatchObject({ error: { code: 'invalid_value', param: 'input[0].call_id' } });
  });
});

describe('embeddings of a server that ignores `base64`', () => {
  const embeddings = async (encoding_format?: string) => {
    const reply = await post('/v1/embeddings', {
      model: '@kimi/e',
      input: 'hi',
      ...(encoding_format && { encoding_format }),
    });
    return (JSON.parse(reply.text) as { data: readonly [{ embedding: unknown }] }).data[0].embedding;
  };

  it('are base64 for a client that asks for it, and numbers for any other', async () => {
    const floats = Buffer.alloc(8);
    floats.writeFloatLE(0.5, 0);
    floats.writeFloatLE(-1, 4);
    expect(await embeddings('base64')).toBe(floats.toString('base64'));
    expect(await embeddings('float')).toEqual([0.5, -1]);
    expect(await embeddings()).toEqual([0.5, -1]);
  });
});
