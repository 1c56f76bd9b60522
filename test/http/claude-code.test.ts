import type { ServerResponse } from 'node:http';
import Anthropic, { AuthenticationError } from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import type { MessageCreateParamsBase as BetaParams } from '@anthropic-ai/sdk/resources/beta/messages/messages';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';
import {
  anthropicReply,
  entriesFor,
  json,
  openaiReply,
  sse,
  startUpstream,
  type ScriptedUpstream,
} from '../support/upstream.ts';

/** What Claude Code and the SDKs of Anthropic send beyond plain messages, at Claude itself, at Vertex AI and elsewhere. */

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let refusal: string | undefined;
let scripted: ((res: ServerResponse) => void | Promise<void>) | undefined;
/** The fields that the upstream takes; it refuses all others. */
let taken: ReadonlySet<string> | undefined;

beforeAll(async () => {
  upstream = await startUpstream(({ url, json: body }, res) => {
    const unknown = taken && Object.keys(body).filter((field) => !taken?.has(field));
    if (unknown?.length) return json(res, { error: { code: 400, message: `${unknown}: Extra inputs` } }, 400);
    if (scripted) return scripted(res);
    if (refusal !== undefined) return json(res, { error: { code: 400, message: refusal } }, 400);
    return json(res, /messages|anthropic/.test(url) ? anthropicReply('ok') : openaiReply('ok'));
  });
  gateway = await startTestGateway({
    catalog: {
      providers: [
        ...entriesFor(upstream.url),
        { ...entriesFor(upstream.url)[2], slug: 'narrow', anthropic_betas: { allow: ['claude-code-20250219'] } },
        { ...entriesFor(upstream.url)[2], slug: 'wide', anthropic_betas: { deny: [] } },
        {
          ...entriesFor(upstream.url)[2],
          slug: 'clearing',
          anthropic_betas: { allow: ['context-management-2025-06-27'] },
        },
      ],
      aliases: {
        'claude-gw-old': { target: '@claude/claude-opus-4-5' },
        'claude-gw-chat': { target: '@openai/gpt-4o' },
        'claude-gw-new': { target: '@claude/claude-opus-5' },
      },
    },
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const MODELS = {
  claude: '@claude/claude-opus-5',
  vertex: '@gemini/anthropic.claude-opus-5',
  narrow: '@narrow/anthropic.claude-opus-5',
  other: '@openai/gpt-4o',
} as const;

const BETAS = 'claude-code-20250219,context-management-2025-06-27,advanced-tool-use-2025-11-20,request-tags-2026-08-21';

async function ask(model: string, body: object, betas = BETAS, headers: Record<string, string> = {}) {
  const before = upstream.seen.length;
  const response = await fetch(`${gateway.url}/v1/messages?beta=true`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-api-key': KEY,
      authorization: 'Bearer ya29.callers-own',
      'anthropic-version': '2023-06-01',
      ...(betas && { 'anthropic-beta': betas }),
      ...headers,
    },
    body: JSON.stringify({ model, max_tokens: 9000, messages: [{ role: 'user', content: 'hi' }], ...body }),
  });
  const text = await response.text();
  const [sent] = upstream.seen.slice(before);
  return {
    status: response.status,
    headers: response.headers,
    text,
    lost: response.headers.get('x-gateway-dropped-params') ?? '',
    sent: sent?.json,
    betas: String(sent?.headers['anthropic-beta'] ?? ''),
  };
}

async function post(model: string, body: object, betas = BETAS, headers: Record<string, string> = {}) {
  const { text, ...answer } = await ask(model, body, betas, headers);
  return { ...answer, reply: JSON.parse(text) as { error?: { type: string; message: string; details?: object } } };
}

const CLEARS = { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] };
const COMPACTS = { edits: [{ type: 'compact_20260112' }] };
const TOOLS = [
  { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' },
  { name: 'weather', input_schema: { type: 'object' }, defer_loading: true },
];

/** Parameters that the SDK sends as headers, deprecated ones, and the model, which is in the path. */
type Elsewhere = 'betas' | 'user_profile_id' | 'workspace_id' | 'output_format' | 'model';

type Outcome = 'sent' | 'lost' | 'refused';

describe('a field of the Messages API', () => {
  it.each<[string, object, Record<keyof typeof MODELS, Outcome>]>([
    ['thread', { thread: { id: 't' } }, { claude: 'sent', vertex: 'refused', narrow: 'refused', other: 'refused' }],
    ['safeguards', { safeguards: {} }, { claude: 'sent', vertex: 'refused', narrow: 'refused', other: 'refused' }],
    ['container', { container: 'c' }, { claude: 'sent', vertex: 'refused', narrow: 'refused', other: 'refused' }],
    [
      'context_management',
      { context_management: CLEARS },
      { claude: 'sent', vertex: 'sent', narrow: 'lost', other: 'lost' },
    ],
    [
      'context_management',
      { context_management: COMPACTS },
      { claude: 'sent', vertex: 'refused', narrow: 'refused', other: 'refused' },
    ],
    ['compaction', { compaction: {} }, { claude: 'sent', vertex: 'refused', narrow: 'refused', other: 'refused' }],
    ['speed', { speed: 'fast' }, { claude: 'sent', vertex: 'lost', narrow: 'lost', other: 'lost' }],
    [
      'inference_geo',
      { inference_geo: 'us' },
      { claude: 'sent', vertex: 'refused', narrow: 'refused', other: 'refused' },
    ],
    [
      'billing_policy',
      { billing_policy: { type: 'billing_policy', bill_to: 'self' } },
      { claude: 'sent', vertex: 'lost', narrow: 'lost', other: 'lost' },
    ],
    [
      'billing_policy',
      { billing_policy: { type: 'billing_policy', bill_to: 'user_profile' } },
      { claude: 'sent', vertex: 'refused', narrow: 'refused', other: 'refused' },
    ],
    ['tags', { tags: { a: 'b' } }, { claude: 'sent', vertex: 'lost', narrow: 'lost', other: 'lost' }],
    ['thread', { thread: null }, { claude: 'sent', vertex: 'sent', narrow: 'sent', other: 'lost' }],
  ])('%s of %j is sent, left out and reported, or refused, by target', async (field, body, expected) => {
    for (const [target, outcome] of Object.entries(expected)) {
      const { status, reply, lost, sent } = await post(MODELS[target as keyof typeof MODELS], body);
      const at = `${field} at ${target}`;
      expect(status, at).toBe(outcome === 'refused' ? 400 : 200);
      if (outcome === 'refused') {
        expect(reply.error, at).toMatchObject({ type: 'invalid_request_error', details: { param: field } });
        expect(sent, at).toBeUndefined();
      } else if (JSON.stringify(body).includes('null')) expect(sent, at).not.toHaveProperty(`${field}.id`);
      else
        expect([Object.hasOwn(sent!, field), lost.includes(field)], at).toEqual([
          outcome === 'sent',
          outcome === 'lost',
        ]);
    }
  });

  it('of any name in the SDK reaches Vertex AI only if Vertex AI takes it', async () => {
    // A field that a later SDK adds is missing here, which does not compile.
    const fields: Record<Exclude<keyof BetaParams, Elsewhere>, unknown> = {
      max_tokens: 9000,
      messages: [{ role: 'user', content: 'hi' }],
      cache_control: { type: 'ephemeral' },
      compaction: null,
      container: null,
      context_management: CLEARS,
      diagnostics: { previous_message_id: null },
      billing_policy: { type: 'billing_policy', bill_to: 'self' },
      fallback_credit_token: 'token',
      fallbacks: 'default',
      inference_geo: 'global',
      mcp_servers: [{ type: 'url', name: 'm', url: 'https://mcp.example' }],
      metadata: { user_id: 'u' },
      output_config: { effort: 'high' },
      service_tier: 'auto',
      speed: 'fast',
      stop_sequences: ['x'],
      stream: false,
      system: 'Be brief.',
      thinking: { type: 'adaptive' },
      thread: null,
      tool_choice: { type: 'auto' },
      tools: TOOLS,
    };
    taken = new Set(
      'anthropic_version anthropic_beta max_tokens messages cache_control context_management metadata output_config service_tier stop_sequences stream system thinking tool_choice tools'.split(
        ' ',
      ),
    );
    const { status, sent, lost } = await post(MODELS.vertex, fields);
    taken = undefined;
    expect(status).toBe(200);
    expect(Object.keys(sent ?? {})).toContain('output_config');
    expect(lost.split(',').toSorted()).toEqual(
      expect.arrayContaining('billing_policy diagnostics fallback_credit_token fallbacks mcp_servers speed'.split(' ')),
    );
  });

  it('thread is refused with the code after which SDKs send the whole conversation', async () => {
    const { reply } = await post(MODELS.vertex, { thread: { id: 't' } });
    expect(reply.error?.details).toEqual({
      error_code: 'thread_unsupported_request',
      param: 'thread',
      unsupported: ['thread'],
    });
  });

  it('thread is in the requests of the SDK’s tool runner, which goes on without it at Vertex AI', async () => {
    const statuses: number[] = [];
    const client = new Anthropic({
      baseURL: gateway.url,
      authToken: null,
      apiKey: KEY,
      maxRetries: 0,
      defaultHeaders: { 'x-gateway-api-key': KEY, authorization: 'Bearer ya29.callers-own' },
      fetch: async (...input) => {
        const response = await fetch(...input);
        statuses.push(response.status);
        return response;
      },
    });
    const before = upstream.seen.length;
    scripted = (res) => {
      const content = [{ type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Oslo' } }];
      const calls = upstream.seen.length === before + 1;
      return json(res, calls ? { ...anthropicReply(''), content, stop_reason: 'tool_use' } : anthropicReply('Rain.'));
    };
    const weather = betaTool({
      name: 'weather',
      description: 'The weather of a city.',
      inputSchema: { type: 'object', properties: { city: { type: 'string' } } },
      run: () => 'rain',
    });
    const last = await client.beta.messages.toolRunner({
      model: MODELS.vertex,
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Weather in Oslo?' }],
      tools: [weather],
    });
    scripted = undefined;
    expect(last.content).toMatchObject([{ type: 'text', text: 'Rain.' }]);
    expect(statuses).toEqual([400, 200, 200]);
    const [asked, answered] = upstream.seen.slice(before).map((request) => request.json);
    expect([asked, answered].some((body) => Object.hasOwn(body!, 'thread'))).toBe(false);
    expect(answered?.['messages']).toHaveLength(3);
  });

  it('defer_loading goes to Vertex AI with the beta that it takes there, else it is left out', async () => {
    const vertex = await post(MODELS.vertex, { tools: TOOLS });
    expect(vertex.betas.split(',')).toEqual([
      'claude-code-20250219',
      'context-management-2025-06-27',
      'tool-search-tool-2025-10-19',
    ]);
    expect(vertex.sent?.['tools']).toEqual(TOOLS);
    const narrow = await post(MODELS.narrow, { tools: TOOLS });
    expect(narrow.betas).toBe('claude-code-20250219');
    expect(narrow.sent?.['tools']).toEqual([TOOLS[0], { name: 'weather', input_schema: { type: 'object' } }]);
    expect(narrow.lost).toContain('tools[1].defer_loading');
  });

  it('context_management that compacts needs its own beta at Vertex AI, and other edits need theirs', async () => {
    const betas = 'context-management-2025-06-27,compact-2026-01-12';
    const both = { edits: [...CLEARS.edits, ...COMPACTS.edits] };
    for (const context_management of [CLEARS, COMPACTS, both])
      expect((await post(MODELS.vertex, { context_management }, betas)).sent).toMatchObject({ context_management });
    for (const context_management of [COMPACTS, both]) {
      const { status, reply, sent } = await post('@clearing/anthropic.claude-opus-5', { context_management }, betas);
      expect([status, sent]).toEqual([400, undefined]);
      expect(reply.error).toMatchObject({ type: 'invalid_request_error', details: { param: 'context_management' } });
    }
    const cleared = await post(MODELS.vertex, { context_management: CLEARS }, 'compact-2026-01-12');
    expect([cleared.sent?.['context_management'], cleared.lost]).toEqual([undefined, 'context_management']);
  });

  const OWN_BETAS =
    'prompt-caching-scope-2026-01-05,advanced-tool-use-2025-11-20,fine-grained-tool-streaming-2025-05-14';
  const MARKED = { type: 'ephemeral', scope: 'global' };
  const tool = (extras: object) => ({ name: 'weather', input_schema: { type: 'object' }, ...extras });
  const NESTED = {
    cache_control: MARKED,
    system: [{ type: 'text', text: 'Be brief.', cache_control: MARKED }],
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'Weather?', cache_control: MARKED }] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'weather', input: { scope: 'global' } }] },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'a',
            content: [{ type: 'text', text: 'Rain', cache_control: MARKED }],
          },
        ],
      },
    ],
    tools: [
      tool({
        cache_control: MARKED,
        input_examples: [{ strict: true }],
        allowed_callers: ['code_execution_20260120'],
        eager_input_streaming: true,
        strict: true,
      }),
      tool({ name: 'other', allowed_callers: ['direct'], eager_input_streaming: false, strict: false }),
    ],
  };

  it('in a tool, a block or a cache marker goes to Vertex AI with its beta, else it is left out and reported', async () => {
    const marker = { type: 'ephemeral' };
    const { status, sent, lost, betas } = await post(MODELS.vertex, NESTED, OWN_BETAS);
    expect([status, betas]).toEqual([200, 'tool-search-tool-2025-10-19']);
    const [question, call, result] = NESTED.messages;
    expect(sent).toMatchObject({
      cache_control: marker,
      system: [{ type: 'text', text: 'Be brief.', cache_control: marker }],
      messages: [
        { ...question, content: [{ type: 'text', text: 'Weather?', cache_control: marker }] },
        call,
        {
          ...result,
          content: [{ ...result!.content[0], content: [{ type: 'text', text: 'Rain', cache_control: marker }] }],
        },
      ],
    });
    expect(JSON.stringify(sent).match(/"scope"/g)).toHaveLength(1);
    expect(sent?.['tools']).toEqual([tool({ cache_control: marker }), tool({ name: 'other' })]);
    expect(
      lost
        .split(',')
        .filter((name) => !name.startsWith('anthropic-beta'))
        .toSorted(),
    ).toEqual([
      'cache_control.scope',
      'messages[0].content[0].cache_control.scope',
      'messages[2].content[0].content[0].cache_control.scope',
      'system[0].cache_control.scope',
      'tools[0].allowed_callers',
      'tools[0].cache_control.scope',
      'tools[0].eager_input_streaming',
      'tools[0].input_examples',
      'tools[0].strict',
    ]);
    expect((await post(MODELS.claude, NESTED, OWN_BETAS)).sent).toMatchObject(NESTED);
    const { tools, ...others } = NESTED;
    const wide = await post('@wide/anthropic.claude-opus-5', NESTED, OWN_BETAS);
    expect(wide.sent).toMatchObject(others);
    expect(wide.sent?.['tools']).toEqual(tools.map((tool) => ({ ...tool, strict: undefined })));
  });

  it.each([
    ['output_config', (format: object) => ({ output_config: { effort: 'high', format } })],
    ['output_format', (format: object) => ({ output_format: format })],
  ])('%s with a schema is a forced tool at Vertex AI, whose input is the text of the reply', async (_field, bodyOf) => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'number' } },
      required: ['a'],
      additionalProperties: false,
    };
    scripted = (res) => {
      const content = [{ type: 'tool_use', id: 'a', name: 'json', input: { a: 1 } }];
      return json(res, { ...anthropicReply(''), content, stop_reason: 'tool_use' });
    };
    const { sent, text } = await ask(MODELS.vertex, bodyOf({ type: 'json_schema', schema }));
    scripted = undefined;
    expect(sent).toMatchObject({
      tools: [{ name: 'json', input_schema: schema }],
      tool_choice: { type: 'tool', name: 'json' },
    });
    expect(sent).not.toHaveProperty('output_format');
    expect(sent).not.toHaveProperty('output_config.format');
    expect(JSON.parse(text)).toMatchObject({ content: [{ type: 'text', text: '{"a":1}' }], stop_reason: 'end_turn' });
  });

  it('metadata.user_id of more than 64 characters is hashed for OpenAI', async () => {
    const user = JSON.stringify({ device: 'd'.repeat(150) });
    const { sent, lost } = await post(MODELS.other, { metadata: { user_id: user } });
    expect(sent?.['user']).toMatch(/^[0-9a-f]{64}$/);
    expect(lost).toContain('metadata.user_id');
    expect((await post(MODELS.claude, { metadata: { user_id: user } })).sent?.['metadata']).toEqual({ user_id: user });
  });
});

describe('a body for another generation of Claude than the target', () => {
  const messages = [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: [{ type: 'text', text: 'Hello.' }] },
    { role: 'system', content: 'Answer in rhyme.' },
    { role: 'user', content: 'Who are you?' },
  ];

  it('has a budget in place of adaptive thinking, and reminders in place of system turns', async () => {
    const body = { messages, thinking: { type: 'adaptive' }, output_config: { effort: 'high' } };
    const { status, sent, lost } = await post('claude-gw-old', body);
    expect(status).toBe(200);
    expect(sent).toMatchObject({
      model: 'claude-opus-4-5',
      thinking: { type: 'enabled', budget_tokens: expect.any(Number) },
    });
    expect(sent?.['messages']).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'hi' }] },
      messages[1],
      {
        role: 'user',
        content: [
          { type: 'text', text: '<system-reminder>\nAnswer in rhyme.\n</system-reminder>' },
          { type: 'text', text: 'Who are you?' },
        ],
      },
    ]);
    expect(lost).toContain('thinking');
    expect(lost).toContain('messages[2]');
  });

  it.each([
    ['a document', false],
    ['a stream', true],
  ])('has a reply whose unknown parts stay (%s)', async (_title, stream) => {
    const events = [
      { type: 'message_start', message: { ...anthropicReply(''), content: [], tomorrow: 1 } },
      { type: 'tomorrow', model: 'm' },
      { type: 'message_stop' },
    ];
    scripted = (res) => (stream ? sse(res, events) : json(res, { ...anthropicReply('ok'), tomorrow: { model: 'm' } }));
    const body = { messages, stream };
    const { text } = await ask('claude-gw-old', body);
    scripted = undefined;
    const named = { model: 'claude-gw-old' };
    if (!stream)
      return expect(JSON.parse(text)).toEqual({ ...anthropicReply('ok'), ...named, tomorrow: { model: 'm' } });
    const [first, ...others] = events;
    const { message } = first as { message: object };
    const expected = [{ type: 'message_start', message: { ...message, ...named } }, ...others];
    expect(text).toBe(expected.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
  });

  it('has adaptive thinking in place of a budget', async () => {
    const { sent, lost } = await post('claude-gw-new', { thinking: { type: 'enabled', budget_tokens: 4000 } });
    expect(sent).toMatchObject({ model: 'claude-opus-5', thinking: { type: 'adaptive' } });
    expect(lost).toContain('thinking.budget_tokens');
  });

  it('stays as it was written where the model takes it, and where the gateway does not know the model', async () => {
    const body = { messages, thinking: { type: 'adaptive' } };
    expect((await post('claude-gw-new', body)).sent).toMatchObject(body);
    expect((await post('@claude/claude-of-tomorrow', body)).sent).toMatchObject(body);
    const quotes = {
      messages: [
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'x', input: { role: 'system' } }] },
      ],
    };
    expect((await post('@claude/claude-opus-4-5', quotes)).sent).toMatchObject(quotes);
  });

  it.each([
    '@claude/claude-opus-4-5',
    '@gemini/anthropic.claude-opus-4-5',
    '@claude/claude-opus-4-5[1m]',
    'claude-opus-4-5',
  ])('is rewritten for %s, too: the model of the upstream decides', async (model) => {
    const body = { messages, thinking: { type: 'adaptive' } };
    const { status, sent, lost } = await post(
      model,
      body,
      '',
      model.startsWith('@') ? {} : { 'x-gateway-provider': '@claude' },
    );
    expect(status).toBe(200);
    expect(sent?.['thinking']).toMatchObject({ type: 'enabled' });
    expect(JSON.stringify(sent)).not.toContain('"role":"system"');
    expect(lost).toContain('messages[2]');
    expect(lost).toContain('thinking');
  });
});

describe('the suffix [1m] of a model', () => {
  it('behind an alias asks for the long context window by its beta', async () => {
    const { sent, betas } = await post('claude-gw-new[1m]', {}, '');
    expect([sent?.['model'], betas]).toEqual(['claude-opus-5', 'context-1m-2025-08-07']);
    expect((await post('claude-gw-new', {}, '')).betas).toBe('');
    expect((await post('claude-gw-chat[1m]', {}, '')).lost).toContain('context-1m-2025-08-07');
  });

  it('behind the name of a model does the same, and is no part of the name', async () => {
    for (const [model, headers] of [
      ['@claude/claude-opus-4-5[1m]', {}],
      ['claude-opus-4-5[1m]', { 'x-gateway-provider': '@claude' }],
    ] as const) {
      const { sent, betas } = await post(model, {}, '', headers);
      expect([sent?.['model'], betas]).toEqual(['claude-opus-4-5', 'context-1m-2025-08-07']);
    }
    expect((await post('@openai/gpt-4o[1m]', {}, '')).lost).toContain('context-1m-2025-08-07');
  });
});

describe('an error', () => {
  it('for a wrong key, and for a key without the right, makes SDKs send one request', async () => {
    let requests = 0;
    const client = new Anthropic({
      baseURL: gateway.url,
      apiKey: 'wrong',
      fetch: (...input) => {
        requests += 1;
        return fetch(...input);
      },
    });
    const asking = client.messages.create({
      model: 'claude-gw-new',
      max_tokens: 9,
      messages: [{ role: 'user', content: 'hi' }],
    });
    await expect(asking).rejects.toBeInstanceOf(AuthenticationError);
    await asking.catch((error: unknown) => {
      if (error instanceof AuthenticationError) expect(error.headers.get('x-should-retry')).toBe('false');
    });
    expect(requests).toBe(1);
  });

  it.each([
    ['the caller’s own token', '@gemini/anthropic.claude-opus-5', 401, [401, 'authentication_error']],
    ['the caller’s own token', '@gemini/anthropic.claude-opus-5', 403, [403, 'permission_error']],
    ['the token of the entry', '@claude/claude-opus-5', 403, [403, 'permission_error']],
  ])('of an upstream that refuses %s of %s with %i is final, even if it advises a retry', async (...row) => {
    const [, model, refused, expected] = row;
    const error = { type: 'error', error: { type: 'x', message: 'No.' } };
    scripted = (res) => json(res, error, refused, { 'x-should-retry': 'true' });
    const { status, text, headers } = await ask(model, {}, '');
    scripted = undefined;
    expect([status, (JSON.parse(text) as { error: { type: string } }).error.type]).toEqual(expected);
    expect(headers.get('x-should-retry')).toBe('false');
  });

  it.each([
    [
      '@gemini/anthropic.claude-opus-5',
      'The request size (40 MB) exceeds 30 MB.',
      'prompt is too long. Input is too long.',
    ],
    [
      '@claude/claude-opus-5',
      'prompt is too long: 210000 tokens > 200000 maximum',
      'prompt is too long: 210000 tokens > 200000 maximum',
    ],
  ])('of %s about the length has the words by which Claude Code compacts', async (model, words, expected) => {
    refusal = words;
    const { status, reply } = await post(model, {}, '');
    refusal = undefined;
    expect([status, reply.error?.message]).toEqual([400, expected]);
  });

  it('names the account of the gateway in the log, and not to the client', async () => {
    refusal = 'No quota left in organization org-AbCdEf123456 of projects/123456789.';
    const { reply } = await post('@claude/claude-opus-5', {}, '');
    const own = await post('@gemini/anthropic.claude-opus-5', {}, '');
    const words = refusal;
    refusal = undefined;
    expect(reply.error?.message).toBe('No quota left in organization [organization] of projects/[project].');
    expect(own.reply.error?.message).toBe(words);
    expect(gateway.logText()).toContain(words);
  });

  it.each([
    // OAuth has the code itself in `error` (RFC 6749, section 5.2).
    ['GET', '/.well-known/oauth-authorization-server', 'not_found'],
    ['GET', '/managed/settings', 'not_found'],
    ['GET', '/api/oauth/usage', 'not_found'],
    ['POST', '/v1/metrics', { type: 'invalid_request_error' }],
  ])('of %s %s says that this gateway has no sign-in, no policies and no telemetry', async (method, path, error) => {
    const response = await fetch(gateway.url + path, { method, headers: { 'x-api-key': KEY } });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error });
  });
});
