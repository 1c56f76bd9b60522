import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';
import {
  anthropicReply,
  entriesFor,
  geminiReply,
  json,
  sse,
  startUpstream,
  type ScriptedUpstream,
  type SeenRequest,
} from '../support/upstream.ts';

/** Upstreams that refuse every signature which they did not make (docs/protocols/replies.md#foreign-signatures). */

type Maker = 'claude' | 'gemini';
type Json = Record<string, unknown>;

const CLAUDE = 'EqoBCkgIARABGAIiQAsEZNnSs0Jj3bYlY0n0m0Jt1dYJ1vS7x9vQ5o0C2wQh';
const GEMINI = { thought: 'CiQBjz1rX0dFTUlOSQ==', call: 'CiUBjz1rX0NBTEw=' };
const SKIP = 'skip_thought_signature_validator';

const TOOLS = [{ name: 'look', input_schema: { type: 'object', properties: {} } }];
const CHAT_TOOLS = [{ type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }];

let gateway: TestGateway;
let upstream: ScriptedUpstream;
let down: ReadonlySet<Maker> = new Set();
/** Index of a request that fails. */
let failing = -1;
/** Signatures that the upstreams accept. */
let accepted: ReadonlySet<string> = new Set();

const makerOf = ({ url }: SeenRequest): Maker => (url.includes('/publishers/google/') ? 'gemini' : 'claude');

beforeAll(async () => {
  upstream = await startUpstream((request, res, index) => {
    const maker = makerOf(request);
    if (down.has(maker) || index === failing)
      return json(res, { error: { message: 'busy', status: 'UNAVAILABLE' } }, 503);
    const fault = maker === 'claude' ? faultOfClaude(request.json) : faultOfGemini(request);
    if (fault !== undefined) return json(res, errorOf(maker, fault), 400);
    const stream = maker === 'claude' ? request.json['stream'] === true : request.url.includes('streamGenerate');
    if (maker === 'claude') return stream ? sse(res, claudeEvents) : json(res, claudeReply);
    return stream ? sse(res, [geminiAnswer]) : json(res, geminiAnswer);
  });
  const claude = { provider: '@claude', override_params: { model: 'claude-sonnet-4-5' } };
  const gemini = { provider: '@gemini', override_params: { model: 'gemini-3-pro-preview' } };
  gateway = await startTestGateway({
    catalog: { providers: entriesFor(upstream.url) },
    gateway: {
      both: { strategy: { mode: 'fallback' }, targets: [claude, gemini] },
      claude: { ...claude, retry: { attempts: 2, min_delay: '1ms', on_status_codes: [400, 503] } },
      gemini,
    },
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});
beforeEach(() => {
  down = new Set();
  accepted = new Set([CLAUDE, GEMINI.thought, GEMINI.call, SKIP]);
});

const call = { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} };
const claudeReply = {
  ...anthropicReply(''),
  content: [{ type: 'thinking', thinking: 'Hm', signature: CLAUDE }, { type: 'text', text: 'So.' }, call],
  stop_reason: 'tool_use',
};
const claudeEvents = [
  { type: 'message_start', message: { ...claudeReply, content: [], stop_reason: null } },
  { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: CLAUDE } },
  { type: 'content_block_stop', index: 0 },
  { type: 'content_block_start', index: 1, content_block: call },
  { type: 'content_block_stop', index: 1 },
  { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 2 } },
  { type: 'message_stop' },
];
const geminiAnswer = {
  ...geminiReply(''),
  candidates: [
    {
      content: {
        role: 'model',
        parts: [
          { text: 'Hm', thought: true, thoughtSignature: GEMINI.thought },
          { functionCall: { name: 'look', args: {} }, thoughtSignature: GEMINI.call },
        ],
      },
      finishReason: 'STOP',
      index: 0,
    },
  ],
};

const errorOf = (maker: Maker, message: string): Json =>
  maker === 'claude'
    ? { type: 'error', error: { type: 'invalid_request_error', message } }
    : { error: { code: 400, message, status: 'INVALID_ARGUMENT' } };

const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? (value as Json[]) : []);

function faultOfClaude({ messages, thinking }: Json): string | undefined {
  for (const [at, { content }] of listOf(messages).entries()) {
    for (const [index, block] of listOf(content).entries()) {
      if (block['type'] === 'thinking' && (block['signature'] !== CLAUDE || !accepted.has(CLAUDE)))
        return `messages.${at}.content.${index}: Invalid \`signature\` in \`thinking\` block`;
    }
  }
  // All tests have one tool loop: it begins with the first answer.
  const [first] = listOf(listOf(messages).find(({ role }) => role === 'assistant')?.['content']);
  const manual = (thinking as Json | undefined)?.['type'] === 'enabled';
  return manual && first && first['type'] !== 'thinking'
    ? 'messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.'
    : undefined;
}

function faultOfGemini({ json: { contents } }: SeenRequest): string | undefined {
  const makes = new Set<unknown>([GEMINI.thought, GEMINI.call, SKIP]);
  for (const { parts } of listOf(contents)) {
    for (const { thoughtSignature: signature } of listOf(parts)) {
      if (signature !== undefined && !(makes.has(signature) && accepted.has(String(signature))))
        return 'Unable to submit request because Thought signature is not valid..';
    }
    const first = listOf(parts).find(({ functionCall }) => functionCall !== undefined);
    if (first && first['thoughtSignature'] === undefined)
      return 'Function call is missing a thought_signature in functionCall parts.';
  }
  return undefined;
}

const headers = (config: string, more: Record<string, string> = {}): Record<string, string> => ({
  'content-type': 'application/json',
  'x-gateway-api-key': KEY,
  authorization: 'Bearer ya29.t',
  'x-gateway-config': config,
  'x-gateway-strict-open-ai-compliance': 'false',
  ...more,
});

async function post(path: string, body: Json, more: Record<string, string>): Promise<Response> {
  return fetch(`${gateway.url}${path}`, { method: 'POST', headers: more, body: JSON.stringify(body) });
}

interface Turn {
  /** The turns that the client adds to the conversation: the answer, and the results of its calls. */
  readonly said: readonly Json[];
  readonly dropped: string | null;
}
type Client = (messages: readonly Json[], config: string) => Promise<Turn>;

async function chat(messages: readonly Json[], config: string, stream: boolean): Promise<Turn> {
  const body = { model: 'm', messages, tools: CHAT_TOOLS, thinking: { type: 'enabled', budget_tokens: 1024 }, stream };
  const answer = await post('/v1/chat/completions', { ...body, max_tokens: 4000 }, headers(config));
  expect(answer.status).toBe(200);
  const message = stream
    ? collected(await answer.text())
    : listOf(((await answer.json()) as Json)['choices'])[0]!['message'];
  const said = message as Json;
  const results = listOf(said['tool_calls']).map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'ok' }));
  return { said: [said, ...results], dropped: answer.headers.get('x-gateway-dropped-params') };
}

/** A message as a client collects it that keeps the pieces of `content_blocks` in one list. */
function collected(text: string): Json {
  const chunks = text.matchAll(/^data: (\{.*\})$/gm).map(([, data]) => JSON.parse(data!) as Json);
  const deltas = [...chunks].flatMap(({ choices }) => listOf(choices).map(({ delta }) => delta as Json));
  const calls = deltas.flatMap(({ tool_calls }) => listOf(tool_calls)).filter(({ id }) => id !== undefined);
  return {
    role: 'assistant',
    content: deltas.map(({ content }) => (typeof content === 'string' ? content : '')).join(''),
    content_blocks: deltas.flatMap(({ content_blocks }) => listOf(content_blocks)),
    tool_calls: calls.map(({ index: _, ...rest }) => rest),
  };
}

async function messagesApi(messages: readonly Json[], config: string, stream: boolean): Promise<Turn> {
  const client = new Anthropic({ baseURL: gateway.url, apiKey: KEY, defaultHeaders: headers(config) });
  const body = {
    model: 'm',
    max_tokens: 4000,
    messages: messages as unknown as Anthropic.MessageParam[],
    tools: TOOLS as unknown as Anthropic.Tool[],
    thinking: { type: 'enabled' as const, budget_tokens: 1024 },
  };
  const { data, response } = stream
    ? await client.messages
        .stream(body)
        .withResponse()
        .then(async ({ data: events, response: head }) => ({ data: await events.finalMessage(), response: head }))
    : await client.messages.create(body).withResponse();
  const content = data.content as unknown as Json[];
  const results = content
    .filter(({ type }) => type === 'tool_use')
    .map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' }));
  return {
    said: [
      { role: 'assistant', content },
      { role: 'user', content: results },
    ],
    dropped: response.headers.get('x-gateway-dropped-params'),
  };
}

const CLIENTS: readonly (readonly [string, Client])[] = [
  ['chat', (messages, config) => chat(messages, config, false)],
  ['chat, streamed', (messages, config) => chat(messages, config, true)],
  ['the Messages API', (messages, config) => messagesApi(messages, config, false)],
  ['the Messages API, streamed', (messages, config) => messagesApi(messages, config, true)],
];

describe.each(CLIENTS)('a client of %s', (_, client) => {
  it('continues a conversation that goes from Claude to Gemini and back, with the signatures of each', async () => {
    const messages: Json[] = [{ role: 'user', content: 'hi' }];
    const seen = upstream.seen.length;
    const dropped: (string | null)[] = [];
    for (const off of [[], ['claude'], ['gemini'], ['claude']] as const) {
      down = new Set(off);
      const { said, dropped: lost } = await client(messages, 'both');
      messages.push(...said);
      dropped.push(lost);
    }
    expect(JSON.stringify(messages)).toContain(CLAUDE);
    const asked = upstream.seen.slice(seen);
    // Claude, Claude down, Gemini, Claude, Claude down, Gemini: nothing was refused and sent again.
    expect(asked.map(makerOf)).toEqual(['claude', 'claude', 'gemini', 'claude', 'claude', 'gemini']);
    const [, , gemini, back, , again] = asked.map(({ text }) => text);
    expect(gemini).not.toContain(CLAUDE);
    expect(gemini).toContain(SKIP);
    expect(back).toContain(CLAUDE);
    expect(back).not.toContain(GEMINI.thought);
    expect(back).not.toContain(GEMINI.call);
    expect(again).toContain(GEMINI.thought);
    expect(again).toContain(GEMINI.call);
    expect(again).not.toContain(CLAUDE);
    // Every signature that was not sent is reported.
    expect(dropped[0]).toBeNull();
    for (const lost of dropped.slice(1)) expect(lost).toContain('messages[');
  });
});

describe('a refused signature', () => {
  const REFUSED = 'messages[].signature';
  const thinking = { type: 'enabled', budget_tokens: 1024 };
  const native = (more: Json = {}): Json => ({
    model: 'm',
    max_tokens: 4000,
    tools: TOOLS,
    thinking,
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: [{ type: 'thinking', thinking: 'Hm', signature: 'c3RhbGU=' }, call] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'ok' }] },
    ],
    ...more,
  });
  const calling = (more: Json): Json => ({ role: 'assistant', content: null, ...more });
  const openai = (assistant: Json): Json => ({
    model: 'm',
    max_tokens: 4000,
    tools: CHAT_TOOLS,
    messages: [{ role: 'user', content: 'hi' }, assistant, { role: 'tool', tool_call_id: 'call_1', content: 'ok' }],
  });
  const signedCall = {
    id: 'call_1',
    type: 'function',
    function: { name: 'look', arguments: '{}', thought_signature: 'c3RhbGU=' },
  };
  const plainCall = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } };
  const thought = { type: 'thinking', thinking: 'Hm', signature: 'c3RhbGU=' };

  it.each<[string, string, string, Json, string]>([
    ['passed through to Claude', '/v1/messages', 'claude', native(), `${REFUSED},thinking`],
    ['in a stream from Claude', '/v1/messages', 'claude', native({ stream: true }), `${REFUSED},thinking`],
    [
      'translated for Claude',
      '/v1/chat/completions',
      'claude',
      { ...openai(calling({ content_blocks: [thought], tool_calls: [plainCall] })), thinking },
      `${REFUSED},thinking`,
    ],
    ['of a call for Gemini', '/v1/chat/completions', 'gemini', openai(calling({ tool_calls: [signedCall] })), REFUSED],
    [
      'in a stream from Gemini',
      '/v1/chat/completions',
      'gemini',
      { ...openai(calling({ tool_calls: [signedCall] })), stream: true },
      REFUSED,
    ],
  ])('%s is left out once, and the loss is reported', async (_, path, config, body, lost) => {
    const seen = upstream.seen.length;
    const answer = await post(path, body, headers(config));
    expect([answer.status, answer.headers.get('x-gateway-dropped-params')]).toEqual([200, lost]);
    expect(answer.headers.get('x-gateway-retry-attempt-count')).toBe('1');
    await answer.text();
    const [first, second, ...more] = upstream.seen.slice(seen).map(({ text }) => text);
    expect(first).toContain('c3RhbGU=');
    expect(second).not.toContain('c3RhbGU=');
    if (config === 'gemini') expect(second).toContain(SKIP);
    expect(more).toEqual([]);
  });

  it('is in the record of the request, with the refused try', async () => {
    const answer = await post('/v1/messages', native(), headers('claude'));
    await answer.text();
    const id = answer.headers.get('x-gateway-request-id')!;
    await expect.poll(() => gateway.gateway.record(id)).toMatchObject({ state: 'complete' });
    expect(await gateway.gateway.record(id)).toMatchObject({
      attempts: [
        {
          losses: [`${REFUSED}: dropped`, 'thinking: dropped'],
          tries: [{ status: 400 }, { status: 200 }],
        },
      ],
    });
  });

  it('is left out of later retries too', async () => {
    // The upstream fails once after the refusal.
    const seen = upstream.seen.length;
    failing = seen + 1;
    const answer = await post('/v1/messages', native(), headers('claude'));
    expect([answer.status, answer.headers.get('x-gateway-dropped-params')]).toEqual([200, `${REFUSED},thinking`]);
    expect(upstream.seen.slice(seen).map(({ text }) => text.includes('c3RhbGU='))).toEqual([true, false, false]);
  });

  it('is the caller’s 400 where strict parameters are requested', async () => {
    const seen = upstream.seen.length;
    const answer = await post(
      '/v1/messages',
      native(),
      headers('claude', { 'x-gateway-strict-params': 'true', 'x-gateway-config': 'both' }),
    );
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain('Invalid `signature` in `thinking` block');
    expect(upstream.seen.length - seen).toBe(1);
  });

  it('is the client’s 400 if the upstream refuses the request without signatures too', async () => {
    accepted = new Set();
    const seen = upstream.seen.length;
    const answer = await post('/v1/chat/completions', openai(calling({ tool_calls: [signedCall] })), headers('gemini'));
    expect(answer.status).toBe(400);
    expect(upstream.seen.length - seen).toBe(2);
  });
});
