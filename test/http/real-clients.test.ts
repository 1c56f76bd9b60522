import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import OpenAI, {
  APIConnectionTimeoutError,
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
} from 'openai';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, until, type TestGateway } from '../support/gateway.ts';
import {
  anthropicEvents,
  anthropicReply,
  entriesFor,
  json,
  sse,
  startUpstream,
  type Script,
  type ScriptedUpstream,
  geminiReply,
} from '../support/upstream.ts';

/** The clients people use, unchanged, against a running gateway. What the upstream does is scripted. */

let gateway: TestGateway;
let upstream: ScriptedUpstream;
let script: Script = () => {};
beforeAll(async () => {
  upstream = await startUpstream((request, res, index) => script(request, res, index));
  gateway = await startTestGateway({
    catalog: { providers: [...entriesFor(upstream.url), { slug: 'sim', provider: 'simulator' }] },
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const messages = [{ role: 'user' as const, content: 'What is the weather in Oslo?' }];
const CLAUDE = '@claude/claude-3-5-haiku-20241022';
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } as const;

const claudeCalls = {
  ...anthropicReply('Let me look.'),
  content: [
    { type: 'text', text: 'Let me look.' },
    { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Oslo' } },
    { type: 'tool_use', id: 'toolu_2', name: 'weather', input: { city: 'Bergen' } },
  ],
  stop_reason: 'tool_use',
};
const claudeCallStream = [
  ...anthropicEvents('Let me look.').slice(0, 4),
  ...[1, 2].flatMap((index) => [
    {
      type: 'content_block_start',
      index,
      content_block: { type: 'tool_use', id: `toolu_${index}`, name: 'weather', input: {} },
    },
    { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: '' } },
    { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: '{"city":' } },
    {
      type: 'content_block_delta',
      index,
      delta: { type: 'input_json_delta', partial_json: index === 1 ? '"Oslo"}' : '"Bergen"}' },
    },
    { type: 'content_block_stop', index },
  ]),
  { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 20 } },
  { type: 'message_stop' },
];
/** Calls when asked, answers when it has the results. */
const weatherScript: Script = (request, res) => {
  const turns = request.json['messages'] as { content: string | { type: string }[] }[];
  const answered = turns.some(
    ({ content }) => Array.isArray(content) && content.some(({ type }) => type === 'tool_result'),
  );
  if (request.json['stream']) return sse(res, answered ? anthropicEvents('Rain ', 'in both.') : claudeCallStream);
  return json(res, answered ? anthropicReply('Rain in both.') : claudeCalls);
};

describe('the openai SDK', () => {
  let client: OpenAI;
  beforeEach(() => {
    client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: KEY, maxRetries: 0 });
  });

  it('chats with Claude', async () => {
    script = (_, res) => json(res, anthropicReply('Hello.'));
    const answer = await client.chat.completions.create({ model: CLAUDE, max_tokens: 50, messages });
    expect(answer).toMatchObject({
      object: 'chat.completion',
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hello.', refusal: null } }],
      usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
    });
  });

  it('streams, and gets a usage chunk exactly when it asks for one', async () => {
    script = (_, res) => sse(res, anthropicEvents('Hel', 'lo.'));
    for (const [model, include] of [
      [CLAUDE, true],
      [CLAUDE, false],
      ['@sim/demo', true],
      ['@sim/demo', false],
    ] as const) {
      const stream = await client.chat.completions.create({
        model,
        max_tokens: 50,
        messages,
        stream: true,
        ...(include && { stream_options: { include_usage: true } }),
      });
      const chunks = [];
      for await (const chunk of stream) chunks.push(chunk);
      expect(chunks.filter(({ usage }) => usage).length).toBe(include ? 1 : 0);
      expect(chunks.filter(({ choices }) => choices.length === 0).length).toBe(include ? 1 : 0);
      expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
      expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).not.toBe('');
    }
  });

  it('runs tools: parallel calls out, scrambled results in, text beside calls kept', async () => {
    script = weatherScript;
    const tools = [{ type: 'function' as const, function: { name: 'weather', parameters } }];
    const first = await client.chat.completions.create({ model: CLAUDE, max_tokens: 50, messages, tools });
    const [choice] = first.choices;
    expect(choice).toMatchObject({ finish_reason: 'tool_calls', message: { content: 'Let me look.' } });
    const calls = choice!.message.tool_calls!;
    expect(
      calls.map((call) =>
        call.type === 'function' ? [call.id, call.function.name, JSON.parse(call.function.arguments)] : [],
      ),
    ).toEqual([
      ['toolu_1', 'weather', { city: 'Oslo' }],
      ['toolu_2', 'weather', { city: 'Bergen' }],
    ]);
    const results = calls
      .map((call) => ({ role: 'tool' as const, tool_call_id: call.id, content: `rain for ${call.id}` }))
      .toReversed();
    const second = await client.chat.completions.create({
      model: CLAUDE,
      max_tokens: 50,
      messages: [...messages, choice!.message, ...results],
      tools,
    });
    expect(second.choices[0]?.message.content).toBe('Rain in both.');
    expect(upstream.seen.at(-1)!.json['messages']).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'What is the weather in Oslo?' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Let me look.' },
          { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Oslo' } },
          { type: 'tool_use', id: 'toolu_2', name: 'weather', input: { city: 'Bergen' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'rain for toolu_1' }] },
          { type: 'tool_result', tool_use_id: 'toolu_2', content: [{ type: 'text', text: 'rain for toolu_2' }] },
        ],
      },
    ]);
  });

  it('assembles streamed tool calls with its own accumulator', async () => {
    script = weatherScript;
    const final = await client.chat.completions
      .stream({
        model: CLAUDE,
        max_tokens: 50,
        messages,
        tools: [{ type: 'function', function: { name: 'weather', parameters } }],
      })
      .finalChatCompletion();
    expect(final.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: 'Let me look.',
        tool_calls: [
          { id: 'toolu_1', function: { name: 'weather', arguments: '{"city":"Oslo"}' } },
          { id: 'toolu_2', function: { name: 'weather', arguments: '{"city":"Bergen"}' } },
        ],
      },
    });
  });

  it.each([
    [400, { type: 'invalid_request_error', message: 'too hot' }, BadRequestError, null],
    [403, { type: 'permission_error', message: 'no' }, PermissionDeniedError, null],
    [404, { type: 'not_found_error', message: 'model: x' }, NotFoundError, 'model_not_found'],
    [429, { type: 'rate_limit_error', message: 'slow down' }, RateLimitError, 'rate_limit_exceeded'],
    [500, { type: 'api_error', message: 'oops' }, InternalServerError, null],
    [529, { type: 'overloaded_error', message: 'busy' }, InternalServerError, 'overloaded'],
  ])('throws its own class for an upstream’s %i', async (status, error, Class, code) => {
    script = (_, res) => json(res, { type: 'error', error }, status);
    const thrown = await client.chat.completions
      .create({ model: CLAUDE, max_tokens: 50, messages })
      .catch((failure: unknown) => failure);
    expect(thrown).toBeInstanceOf(Class);
    expect(thrown).toMatchObject({
      status: status === 529 ? 503 : status,
      message: expect.stringContaining(error.message),
      ...(code && { code }),
    });
  });

  it('throws its own class for what the gateway refuses', async () => {
    await expect(
      new OpenAI({
        baseURL: `${gateway.url}/v1`,
        apiKey: 'wrong-key-0123456789',
        maxRetries: 0,
      }).chat.completions.create({ model: CLAUDE, messages }),
    ).rejects.toBeInstanceOf(AuthenticationError);
    await expect(client.chat.completions.create({ model: '@nobody/x', messages })).rejects.toBeInstanceOf(
      BadRequestError,
    );
  });

  it('retries a 429 of its own accord and honours retry-after-ms', async () => {
    let calls = 0;
    script = (_, res) =>
      calls++ === 0
        ? json(res, { type: 'error', error: { type: 'rate_limit_error', message: 'slow' } }, 429, {
            'retry-after': '0.05',
          })
        : json(res, anthropicReply('ok'));
    const retrying = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: KEY, maxRetries: 1 });
    expect(
      (await retrying.chat.completions.create({ model: CLAUDE, max_tokens: 5, messages })).choices[0]?.message.content,
    ).toBe('ok');
    expect(calls).toBe(2);
  });

  it('aborts: a running stream, and a request without a reply, both reach the upstream', async () => {
    script = async (_, res) => {
      await sse(res, anthropicEvents('Hel').slice(0, 3), false);
    };
    const before = upstream.seen.length;
    const stream = await client.chat.completions.create({ model: CLAUDE, max_tokens: 50, messages, stream: true });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
    await until(() => upstream.seen[before]?.aborted === true, 'the upstream saw the stream aborted');
    script = () => {};
    const controller = new AbortController();
    const pending = client.chat.completions.create(
      { model: CLAUDE, max_tokens: 50, messages },
      { signal: controller.signal },
    );
    await until(() => upstream.seen.length === before + 2, 'the upstream was asked');
    controller.abort();
    await expect(pending).rejects.toBeInstanceOf(APIUserAbortError);
    await until(() => upstream.seen[before + 1]!.aborted, 'the upstream saw the request aborted');
    await expect(
      client.chat.completions.create({ model: CLAUDE, max_tokens: 50, messages }, { timeout: 30 }),
    ).rejects.toBeInstanceOf(APIConnectionTimeoutError);
  });

  it('carries thinking and its signatures through a conversation when it is not strict', async () => {
    const block = { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' };
    script = (_, res) => json(res, { ...anthropicReply('Yes.'), content: [block, { type: 'text', text: 'Yes.' }] });
    const lax = new OpenAI({
      baseURL: `${gateway.url}/v1`,
      apiKey: KEY,
      maxRetries: 0,
      defaultHeaders: { 'x-gateway-strict-open-ai-compliance': 'false' },
    });
    const model = '@claude/claude-3-7-sonnet-20250219';
    const thinking = { type: 'enabled', budget_tokens: 1024 };
    const first = await lax.chat.completions.create({ model, max_tokens: 2000, messages, thinking } as never);
    const message = (first as OpenAI.ChatCompletion).choices[0]!.message;
    expect(message).toMatchObject({ content: 'Yes.', content_blocks: [block, { type: 'text', text: 'Yes.' }] });
    await lax.chat.completions.create({
      model,
      max_tokens: 2000,
      messages: [...messages, message, { role: 'user', content: 'Sure?' }],
      thinking,
    } as never);
    expect((upstream.seen.at(-1)!.json['messages'] as { content: unknown }[])[1]).toEqual({
      role: 'assistant',
      content: [block, { type: 'text', text: 'Yes.' }],
    });
    const strict = await client.chat.completions.create({ model, max_tokens: 2000, messages });
    expect(JSON.stringify(strict)).not.toMatch(/Hm\.|c2ln|content_blocks/);
  });
});

describe('the AI SDK', () => {
  const provider = () =>
    createOpenAICompatible({ name: 'gatehouse', baseURL: `${gateway.url}/v1`, apiKey: KEY, includeUsage: true });
  const tools = {
    weather: tool({
      inputSchema: jsonSchema<{ city: string }>({ ...parameters, required: ['city'] }),
      execute: ({ city }) => Promise.resolve(`rain in ${city}`),
    }),
  };
  afterEach(() => {
    script = () => {};
  });

  it('generates text and counts tokens', async () => {
    script = (_, res) => json(res, anthropicReply('Hello.'));
    const result = await generateText({ model: provider()(CLAUDE), prompt: 'hi', maxOutputTokens: 50 });
    expect([result.text, result.finishReason, result.usage.inputTokens, result.usage.outputTokens]).toEqual([
      'Hello.',
      'stop',
      3,
      2,
    ]);
  });

  it('streams text', async () => {
    script = (_, res) => sse(res, anthropicEvents('Hel', 'lo.'));
    const result = streamText({ model: provider()(CLAUDE), prompt: 'hi', maxOutputTokens: 50 });
    let text = '';
    for await (const piece of result.textStream) text += piece;
    expect([text, await result.finishReason, (await result.usage).outputTokens]).toEqual(['Hello.', 'stop', 2]);
  });

  it.each(['plain', 'streamed'])('runs a loop of tools, %s', async (mode) => {
    script = weatherScript;
    const settings = { model: provider()(CLAUDE), messages, tools, maxOutputTokens: 50, stopWhen: stepCountIs(3) };
    if (mode === 'plain') {
      const result = await generateText(settings);
      expect([result.text, result.steps.length, result.steps[0]!.toolResults.map(({ output }) => output)]).toEqual([
        'Rain in both.',
        2,
        ['rain in Oslo', 'rain in Bergen'],
      ]);
    } else {
      const result = streamText(settings);
      let text = '';
      for await (const piece of result.textStream) text += piece;
      expect([text, (await result.steps).length]).toEqual(['Let me look.Rain in both.', 2]);
    }
  });

  it.each([
    ['returns', 'google', 'false', 'c2lnbmF0dXJl'],
    // By this mark Gemini takes a call without its signature, and forgets its thought.
    ['loses', 'google', 'true', 'skip_thought_signature_validator'],
    ['loses', 'gatehouse', 'false', 'skip_thought_signature_validator'],
  ])('%s the signatures of Gemini’s calls as %s with strict compliance: %s', async (_does, name, strict, signature) => {
    const call = { functionCall: { name: 'weather', args: { city: 'Oslo' } }, thoughtSignature: 'c2lnbmF0dXJl' };
    script = (_, res, index) => {
      const reply = geminiReply('Rain.');
      const [candidate] = reply.candidates;
      const calling = { ...candidate, content: { role: 'model', parts: [call] } };
      json(res, index === first ? { ...reply, candidates: [calling] } : reply);
    };
    const first = upstream.seen.length;
    const headers = {
      'x-gateway-api-key': KEY,
      'x-gateway-strict-open-ai-compliance': strict,
    };
    const sdk = createOpenAICompatible({ name, baseURL: `${gateway.url}/v1`, apiKey: 'ya29.callers-own', headers });
    const model = sdk('@gemini/gemini-3-flash-preview');
    const result = await generateText({ model, messages, tools, stopWhen: stepCountIs(3) });
    expect(result.text).toBe('Rain.');
    const { contents } = upstream.seen.at(-1)!.json as { contents: { parts: Record<string, unknown>[] }[] };
    const sent = contents.flatMap(({ parts }) => parts).find((part) => 'functionCall' in part);
    expect(sent?.['thoughtSignature']).toBe(signature);
  });

  it('tells errors with status and message', async () => {
    script = (_, res) =>
      json(res, { type: 'error', error: { type: 'invalid_request_error', message: 'too hot' } }, 400);
    const thrown = await generateText({
      model: provider()(CLAUDE),
      prompt: 'hi',
      maxOutputTokens: 50,
      maxRetries: 0,
    }).catch((error: unknown) => error);
    expect(APICallError.isInstance(thrown)).toBe(true);
    expect(thrown).toMatchObject({ statusCode: 400, message: expect.stringContaining('too hot') });
  });

  it('aborts the upstream request when its caller aborts', async () => {
    script = async (_, res) => {
      await sse(res, anthropicEvents('Hel').slice(0, 3), false);
    };
    const before = upstream.seen.length;
    const controller = new AbortController();
    const result = streamText({
      model: provider()(CLAUDE),
      prompt: 'hi',
      maxOutputTokens: 50,
      abortSignal: controller.signal,
      onError: () => {},
    });
    for await (const piece of result.textStream) if (piece) controller.abort();
    await until(() => upstream.seen[before]?.aborted === true, 'the upstream saw the abort');
  });
});
