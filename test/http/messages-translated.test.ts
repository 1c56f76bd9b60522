import Anthropic, {
  APIError,
  APIUserAbortError,
  BadRequestError,
  InternalServerError,
  RateLimitError,
} from '@anthropic-ai/sdk';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, until, type TestGateway } from '../support/gateway.ts';
import {
  anthropicEvents,
  anthropicReply,
  entriesFor,
  geminiReply,
  json,
  openaiChunk,
  openaiReply,
  sse,
  startUpstream,
  type Script,
  type ScriptedUpstream,
} from '../support/upstream.ts';

/** Anthropic's own SDK, unchanged, in front of every kind of model. What the upstream does is scripted. */

let gateway: TestGateway;
let upstream: ScriptedUpstream;
let client: Anthropic;
let script: Script = () => {};
beforeAll(async () => {
  upstream = await startUpstream((request, res, index) => script(request, res, index));
  gateway = await startTestGateway({ catalog: { providers: entriesFor(upstream.url) } });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});
beforeEach(() => {
  // Vertex wants the caller's token in Authorization, so the gateway's key has a header of its own.
  const defaultHeaders = { 'x-gateway-api-key': KEY };
  client = new Anthropic({ baseURL: gateway.url, apiKey: null, authToken: 'ya29.t', maxRetries: 0, defaultHeaders });
});

const GEMINI = '@gemini/gemini-3-pro-preview';
const OPENAI = '@openai/gpt-x';
const DIRECT = '@claude/claude-sonnet-4-5';
const VERTEX = '@gemini/anthropic.claude-sonnet-4-5@20250929';
const MODELS = [GEMINI, OPENAI, DIRECT, VERTEX];

type Message = Anthropic.MessageParam;
const hi: Message[] = [{ role: 'user', content: 'What is the weather in Oslo and Bergen?' }];
const tools: Anthropic.Tool[] = [
  { name: 'weather', input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } },
];
const ask = { max_tokens: 2000, messages: hi };
const last = () => upstream.seen.at(-1)!;

/** A Gemini chunk of these parts. */
const chunk = (parts: object[], finishReason?: string) => ({
  ...geminiReply(''),
  candidates: [{ content: { role: 'model', parts }, index: 0, ...(finishReason && { finishReason }) }],
});
const data = (events: readonly object[]): string[] => events.map((event) => `data: ${JSON.stringify(event)}\n\n`);

/** The same words by whichever upstream is asked, in as many pieces. */
const speak =
  (...texts: string[]): Script =>
  (request, res) => {
    const whole = texts.join('');
    if (request.url.includes('streamGenerateContent'))
      return sse(res, data([...texts.map((text) => chunk([{ text }])), chunk([{ text: '' }], 'STOP')]));
    if (request.url.includes('generateContent')) return json(res, geminiReply(whole));
    const claude = request.url.includes('messages') || request.url.includes('awPredict');
    if (request.json['stream'] !== true) return json(res, claude ? anthropicReply(whole) : openaiReply(whole));
    if (claude) return sse(res, anthropicEvents(...texts));
    const usage = {
      ...openaiChunk({}),
      choices: [],
      usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
    };
    return sse(res, [
      ...texts.map((content) => openaiChunk({ content })),
      openaiChunk({}, 'stop'),
      usage,
      'data: [DONE]\n\n',
    ]);
  };

/** Real ones have this beginning (signatures.ts), and every letter of base64. */
const signature = (n: number): string =>
  Buffer.from([0x0a, 62, 0x0a, 60, 0x01, ...Array.from({ length: 59 }, (_, i) => (i * 37 + n * 91) % 256)]).toString(
    'base64',
  );

describe.each(MODELS)('in front of %s', (model) => {
  it('a message is created', async () => {
    script = speak('Rain ', 'in both.');
    const message = await client.messages.create({ ...ask, model });
    expect(message).toMatchObject({
      type: 'message',
      role: 'assistant',
      content: [{ type: 'text', text: 'Rain in both.' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 3, output_tokens: 2 },
    });
    expect(message.id).toMatch(/^msg_/);
  });

  it('a message is streamed', async () => {
    script = speak('Rain ', 'in ', 'both.');
    const stream = client.messages.stream({ ...ask, model });
    const texts: string[] = [];
    stream.on('text', (text) => texts.push(text));
    const message = await stream.finalMessage();
    expect(texts).toEqual(['Rain ', 'in ', 'both.']);
    expect(message).toMatchObject({
      content: [{ type: 'text', text: 'Rain in both.' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 3, output_tokens: 2 },
    });
    expect(message.id).toMatch(/^msg_/);
  });

  it('a client that leaves ends the upstream’s work', async () => {
    script = async (_, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(data([chunk([{ text: 'Rain' }])]).join('') + data([openaiChunk({ content: 'Rain' })]).join(''));
      for (const event of anthropicEvents('Rain').slice(0, 3))
        res.write(`event: ${'type' in event ? String(event.type) : ''}\ndata: ${JSON.stringify(event)}\n\n`);
      await new Promise((resolve) => res.once('close', resolve));
    };
    const stream = client.messages.stream({ ...ask, model });
    const failed = stream.finalMessage().catch((error: unknown) => error);
    await new Promise((resolve) => stream.once('text', resolve));
    stream.abort();
    expect(await failed).toBeInstanceOf(APIUserAbortError);
    const request = last();
    await until(() => request.aborted, 'the upstream request is aborted');
  });

  it('an upstream’s refusal is the SDK’s error of that class', async () => {
    script = (_, res) =>
      json(
        res,
        { error: { message: 'slow down', type: 'rate_limit_error', status: 'RESOURCE_EXHAUSTED', code: 429 } },
        429,
      );
    const error: unknown = await client.messages.create({ ...ask, model }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RateLimitError);
    expect(error).toMatchObject({
      status: 429,
      type: 'rate_limit_error',
      error: { type: 'error', request_id: expect.stringMatching(/./) },
    });
  });
});

describe('the key of the gateway', () => {
  it('may be given to the SDK as its own', async () => {
    script = speak('Rain.');
    const plain = new Anthropic({ baseURL: gateway.url, apiKey: KEY, maxRetries: 0 });
    for (const model of [DIRECT, OPENAI])
      expect(await plain.messages.create({ ...ask, model })).toMatchObject({ content: [{ text: 'Rain.' }] });
  });
});

describe('tools in two turns', () => {
  it.each([false, true])('with Gemini 3 keep each signature where it was, streamed: %s', async (streamed) => {
    const call = (city: string, more: object = {}) => ({ functionCall: { name: 'weather', args: { city } }, ...more });
    const parts = [
      { text: 'Let me look.', thoughtSignature: signature(1) },
      call('Oslo', { thoughtSignature: signature(2) }),
      call('Bergen'),
    ];
    script = (request, res) =>
      request.url.includes('stream')
        ? sse(res, data([chunk([{ text: 'Two.', thought: true }]), chunk(parts, 'STOP')]))
        : json(res, chunk([{ text: 'Two.', thought: true }, ...parts], 'STOP'));
    const params = { ...ask, model: GEMINI, tools, thinking: { type: 'enabled' as const, budget_tokens: 1024 } };
    const first = streamed ? await client.messages.stream(params).finalMessage() : await client.messages.create(params);
    expect(first.stop_reason).toBe('tool_use');
    expect(first.content.map(({ type }) => type)).toEqual(['thinking', 'text', 'thinking', 'tool_use', 'tool_use']);
    expect(first.content[0]).toEqual({ type: 'thinking', thinking: 'Two.', signature: '' });
    const calls = first.content.filter((block) => block.type === 'tool_use');
    expect(calls.map(({ name, input }) => [name, input])).toEqual([
      ['weather', { city: 'Oslo' }],
      ['weather', { city: 'Bergen' }],
    ]);
    for (const { id } of calls) expect(id).toMatch(/^[a-zA-Z0-9_-]+$/);

    const results = calls
      .toReversed()
      .map(({ id }) => ({ type: 'tool_result' as const, tool_use_id: id, content: `rain ${id.length}` }));
    script = speak('Rain in both.');
    const { data: second, response } = await client.messages
      .create({
        ...params,
        messages: [...hi, { role: 'assistant', content: first.content }, { role: 'user', content: results }],
      })
      .withResponse();
    expect(second.content).toEqual([{ type: 'text', text: 'Rain in both.' }]);
    expect(response.headers.get('x-gateway-dropped-params')).not.toMatch(/messages/);
    const contents = last().json['contents'] as { role: string; parts: object[] }[];
    expect(contents[1]).toEqual({ role: 'model', parts });
    expect(contents[2]!.parts).toMatchObject([
      { functionResponse: { name: 'weather' } },
      { functionResponse: { name: 'weather' } },
    ]);
  });

  it('with Gemini keep the signatures of calls for clients that ask for no thoughts, and show none', async () => {
    const parts = [
      { text: 'Hm.', thought: true },
      { text: 'Look.', thoughtSignature: signature(1) },
      { functionCall: { name: 'weather', args: {} }, thoughtSignature: signature(2) },
    ];
    script = (_, res) => json(res, chunk(parts, 'STOP'));
    const first = await client.messages.create({ ...ask, model: GEMINI, tools });
    expect(first.content.map(({ type }) => type)).toEqual(['text', 'tool_use']);
    const [, use] = first.content;
    const id = use?.type === 'tool_use' ? use.id : '';
    await client.messages.create({
      ...ask,
      model: GEMINI,
      tools,
      messages: [
        ...hi,
        { role: 'assistant', content: first.content },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'x' }] },
      ],
    });
    const contents = last().json['contents'] as { parts: object[] }[];
    expect(contents[1]!.parts).toEqual([{ text: 'Look.' }, parts[2]]);
  });

  it('with an OpenAI-compatible model arrive one after the other, however their pieces are mixed', async () => {
    const piece = (index: number, more: object) => openaiChunk({ tool_calls: [{ index, ...more }] });
    script = (_, res) =>
      sse(res, [
        openaiChunk({ role: 'assistant', content: 'Let me look.' }),
        piece(0, { id: 'call_a', type: 'function', function: { name: 'weather', arguments: '{"city":' } }),
        piece(1, { id: 'call_b', type: 'function', function: { name: 'weather', arguments: '' } }),
        piece(1, { function: { arguments: '{"city":"Bergen"}' } }),
        piece(0, { function: { arguments: '"Oslo"}' } }),
        openaiChunk({}, 'tool_calls'),
        'data: [DONE]\n\n',
      ]);
    const first = await client.messages.stream({ ...ask, model: OPENAI, tools }).finalMessage();
    expect(first.content).toMatchObject([
      { type: 'text', text: 'Let me look.' },
      { type: 'tool_use', id: 'call_a', input: { city: 'Oslo' } },
      { type: 'tool_use', id: 'call_b', input: { city: 'Bergen' } },
    ]);
    script = speak('Rain.');
    const results = [
      { type: 'tool_result' as const, tool_use_id: 'call_b', content: 'no', is_error: true },
      { type: 'tool_result' as const, tool_use_id: 'call_a', content: [{ type: 'text' as const, text: 'rain' }] },
      { type: 'text' as const, text: 'Well?' },
    ];
    await client.messages.create({
      ...ask,
      model: OPENAI,
      tools,
      messages: [...hi, { role: 'assistant', content: first.content }, { role: 'user', content: results }],
    });
    expect((last().json['messages'] as object[]).slice(1)).toEqual([
      {
        role: 'assistant',
        content: 'Let me look.',
        tool_calls: [
          { id: 'call_a', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } },
          { id: 'call_b', type: 'function', function: { name: 'weather', arguments: '{"city":"Bergen"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_b', content: 'Error: no' },
      { role: 'tool', tool_call_id: 'call_a', content: 'rain' },
      { role: 'user', content: 'Well?' },
    ]);
  });

  it('go on with Claude after Gemini has begun them', async () => {
    script = (_, res) =>
      json(
        res,
        chunk(
          [
            { text: 'Hm.', thought: true },
            { functionCall: { name: 'weather', args: {} }, thoughtSignature: signature(3) },
          ],
          'STOP',
        ),
      );
    const first = await client.messages.create({ ...ask, model: GEMINI, tools, thinking: { type: 'adaptive' } });
    const use = first.content.find((block) => block.type === 'tool_use')!;
    script = speak('Rain.');
    await client.messages.create({
      ...ask,
      model: DIRECT,
      messages: [
        ...hi,
        { role: 'assistant', content: first.content },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: use.id, content: 'x' }] },
      ],
    });
    const id = use.id.split('__thought__')[0];
    expect((last().json['messages'] as object[]).slice(1)).toMatchObject([
      { role: 'assistant', content: [{ type: 'tool_use', id }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: id }] },
    ]);
    expect(JSON.stringify(last().json)).not.toContain('thought');
  });
});

describe.each([DIRECT, VERTEX])('thinking in two turns of %s', (model) => {
  it('goes back as it came', async () => {
    const content = [
      { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
      { type: 'redacted_thinking', data: 'abc' },
      { type: 'text', text: 'Rain.' },
    ];
    script = (_, res) => json(res, { ...anthropicReply(''), content });
    const params = { ...ask, model, thinking: { type: 'enabled' as const, budget_tokens: 1024 } };
    const first = await client.messages.create(params);
    expect(first.content).toEqual(content);
    await client.messages.create({
      ...params,
      messages: [...hi, { role: 'assistant', content: first.content }, ...hi],
    });
    expect(last().json['messages']).toMatchObject([{}, { role: 'assistant', content }, {}]);
  });
});

describe('a reply of another model', () => {
  const post = (body: object) =>
    fetch(`${gateway.url}/v1/messages`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-api-key': KEY,
        authorization: 'Bearer ya29.t',
        'x-request-id': 'req-7',
      },
      body: JSON.stringify({ ...ask, ...body }),
    });

  it('streams the events of the Messages API, in their order', async () => {
    script = (_, res) =>
      sse(
        res,
        data([
          chunk([{ text: 'Hm', thought: true }]),
          chunk([{ text: 'Rain' }]),
          chunk([{ functionCall: { name: 'weather', args: { city: 'Oslo' } } }], 'STOP'),
        ]),
      );
    const text = await (await post({ model: GEMINI, stream: true, tools, thinking: { type: 'adaptive' } })).text();
    const names = [...text.matchAll(/^event: (.*)$/gm)].map(([, name]) => name);
    expect(names).toEqual([
      'message_start',
      'ping',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    expect(text).toMatch(/"id":"msg_[0-9a-f]{32}"/);
    expect(text).not.toContain('[DONE]');
  });

  it('has an empty text where the model said nothing, and says it was refused where it was', async () => {
    script = (_, res) =>
      json(res, {
        promptFeedback: { blockReason: 'SAFETY' },
        usageMetadata: { promptTokenCount: 3, totalTokenCount: 3 },
      });
    expect(await client.messages.create({ ...ask, model: GEMINI })).toMatchObject({
      content: [{ type: 'text', text: '' }],
      stop_reason: 'refusal',
      usage: { input_tokens: 3, output_tokens: 0 },
    });
  });

  it.each([
    ['MAX_TOKENS', 'max_tokens'],
    ['SAFETY', 'refusal'],
    ['OTHER', 'end_turn'],
  ])('that ended for %s ended for %s', async (reason, expected) => {
    script = (_, res) => json(res, chunk([{ text: 'Ra' }], reason));
    expect((await client.messages.create({ ...ask, model: GEMINI })).stop_reason).toBe(expected);
  });

  it('counts cached tokens apart, as Anthropic does', async () => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 15,
      prompt_tokens_details: { cached_tokens: 4 },
      completion_tokens_details: { reasoning_tokens: 2 },
    };
    script = (request, res) =>
      request.json['stream'] === true
        ? sse(res, [
            openaiChunk({ content: 'x' }),
            openaiChunk({}, 'stop'),
            { ...openaiChunk({}), choices: [], usage },
            'data: [DONE]\n\n',
          ])
        : json(res, openaiReply('x', { usage }));
    const expected = {
      input_tokens: 6,
      cache_read_input_tokens: 4,
      output_tokens: 5,
      output_tokens_details: { thinking_tokens: 2 },
    };
    expect((await client.messages.create({ ...ask, model: OPENAI })).usage).toMatchObject(expected);
    expect((await client.messages.stream({ ...ask, model: OPENAI }).finalMessage()).usage).toMatchObject(expected);
  });

  it('does not change with the compliance header, which is about another API', async () => {
    script = (_, res) => json(res, chunk([{ text: 'Hm', thought: true }, { text: 'Rain' }], 'STOP'));
    for (const value of ['true', 'false']) {
      const headers = { 'x-gateway-strict-open-ai-compliance': value };
      const shown = await client.messages.create(
        { ...ask, model: GEMINI, thinking: { type: 'adaptive' } },
        { headers },
      );
      expect(shown.content.map(({ type }) => type)).toEqual(['thinking', 'text']);
      const hidden = await client.messages.create({ ...ask, model: GEMINI }, { headers });
      expect(hidden.content.map(({ type }) => type)).toEqual(['text']);
    }
    const headers = { 'x-gateway-strict-open-ai-compliance': 'maybe' };
    await expect(client.messages.create({ ...ask, model: GEMINI }, { headers })).rejects.toBeInstanceOf(
      BadRequestError,
    );
  });

  it('that breaks in the middle ends with an error event, and no message_stop', async () => {
    script = (_, res) => sse(res, [...data([chunk([{ text: 'Rain' }])]), null]);
    const text = await (await post({ model: GEMINI, stream: true })).text();
    expect(text).toMatch(/event: error\ndata: \{"type":"error".*"request_id":"req-7"\}\n\n$/);
    expect(text).not.toContain('message_stop');
    const error: unknown = await client.messages
      .stream({ ...ask, model: GEMINI })
      .finalMessage()
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(APIError);
  });

  it('of an overloaded model is 529', async () => {
    script = (_, res) => json(res, { error: { code: 503, message: 'busy', status: 'UNAVAILABLE' } }, 503);
    const error: unknown = await client.messages.create({ ...ask, model: GEMINI }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(InternalServerError);
    expect(error).toMatchObject({ status: 529, type: 'overloaded_error' });
  });
});

describe('a request for another model', () => {
  it('is refused with tools that have no schema', async () => {
    const typed = [{ type: 'bash_20250124' as const, name: 'bash' as const }];
    for (const model of [GEMINI, OPENAI])
      await expect(client.messages.create({ ...ask, model, tools: typed })).rejects.toMatchObject({
        status: 400,
        type: 'invalid_request_error',
        message: expect.stringContaining('bash_20250124'),
      });
  });

  it('searches the web by the model’s own means', async () => {
    const search = [{ type: 'web_search_20250305' as const, name: 'web_search' as const }];
    script = speak('x');
    await client.messages.create({ ...ask, model: GEMINI, tools: search });
    expect(last().json['tools']).toEqual([{ googleSearch: {} }]);
    const { response } = await client.messages.create({ ...ask, model: OPENAI, tools: search }).withResponse();
    expect(last().json).not.toHaveProperty('web_search_options');
    expect(response.headers.get('x-gateway-dropped-params')).toContain('tools[0]');
    await client.messages.create({ ...ask, model: '@openai/gpt-x-search-preview', tools: search });
    expect(last().json['web_search_options']).toEqual({});
  });

  it('loses what the model has no word for, and is refused for it where the caller asks so', async () => {
    script = speak('x');
    const body = {
      ...ask,
      model: GEMINI,
      system: [{ type: 'text' as const, text: 'S', cache_control: { type: 'ephemeral' as const } }],
      diagnostics: { previous_message_id: null },
      mcp_servers: [],
      service_tier: 'standard_only' as const,
    };
    const { response } = await client.messages.create(body).withResponse();
    const lost = response.headers.get('x-gateway-dropped-params') ?? '';
    for (const param of ['diagnostics', 'mcp_servers', 'cache_control']) expect(lost).toContain(param);
    const headers = { 'x-gateway-strict-params': 'true' };
    await expect(client.messages.create(body, { headers })).rejects.toBeInstanceOf(BadRequestError);
  });
});
