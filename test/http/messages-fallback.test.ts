import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
  type ScriptedUpstream,
  type Script,
  type SeenRequest,
} from '../support/upstream.ts';

/** One request of `/v1/messages` tried at one kind of upstream after another: each in its own words, and one answer. */

const TARGETS = {
  claude: { provider: '@claude', override_params: { model: 'claude-haiku-4-5' } },
  hosted: { provider: '@gemini', override_params: { model: 'anthropic.claude-haiku-4-5@20251001' } },
  gemini: { provider: '@gemini', override_params: { model: 'gemini-2.5-flash' } },
  openai: { provider: '@openai', override_params: { model: 'gpt-x' } },
};
type Kind = keyof typeof TARGETS;
const KINDS = Object.keys(TARGETS) as Kind[];
const PAIRS = KINDS.flatMap((first) =>
  KINDS.filter((second) => second !== first).map((second) => [first, second] as const),
);

let gateway: TestGateway;
let upstream: ScriptedUpstream;
let script: Script;
beforeAll(async () => {
  upstream = await startUpstream((request, res, index) => script(request, res, index));
  const pairs = PAIRS.map(([first, second]) => [
    `${first}-${second}`,
    {
      strategy: { mode: 'fallback' },
      targets: [{ ...TARGETS[first], timeouts: { first_content: '300ms' } }, TARGETS[second]],
    },
  ]);
  gateway = await startTestGateway({
    catalog: { providers: entriesFor(upstream.url) },
    gateway: {
      ...Object.fromEntries(pairs),
      ...Object.fromEntries(KINDS.map((kind) => [`only-${kind}`, TARGETS[kind]])),
      all: { strategy: { mode: 'fallback' }, targets: Object.values(TARGETS) },
    },
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const post = (config: string, body: object, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${gateway.url}/v1/messages`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-gateway-api-key': KEY,
      authorization: 'Bearer ya29.t',
      'x-gateway-config': config,
      ...headers,
    },
    body: JSON.stringify({ max_tokens: 16, messages: [{ role: 'user', content: 'hi' }], ...body, model: 'any' }),
  });

function kindOf({ url }: SeenRequest): Kind {
  if (url.includes('/publishers/anthropic/')) return 'hosted';
  if (url.includes('/publishers/google/')) return 'gemini';
  return url.includes('/chat/completions') ? 'openai' : 'claude';
}

const isClaude = (kind: Kind): boolean => kind === 'claude' || kind === 'hosted';

function eventsOf(kind: Kind): readonly (object | string)[] {
  if (kind === 'gemini') return [geminiReply('Hel'), geminiReply('lo')];
  if (kind === 'openai')
    return [
      openaiChunk({ content: 'Hel' }),
      openaiChunk({ content: 'lo' }),
      openaiChunk({}, 'stop'),
      'data: [DONE]\n\n',
    ];
  return anthropicEvents('Hel', 'lo');
}

function plainOf(kind: Kind): object {
  if (kind === 'gemini') return geminiReply('Hello');
  return kind === 'openai' ? openaiReply('Hello') : anthropicReply('Hello');
}

function errorOf(kind: Kind): object {
  if (kind === 'gemini') return { error: { code: 503, message: 'busy', status: 'UNAVAILABLE' } };
  if (kind === 'openai') return { error: { message: 'busy', type: 'server_error', code: null } };
  return { type: 'error', error: { type: 'overloaded_error', message: 'busy' } };
}

/** Ways to fail of which nothing has reached the client yet. */
const FAILURES: Readonly<Record<string, (kind: Kind) => Script>> = {
  'refuses as overloaded': (kind) => (_, res) => json(res, errorOf(kind), isClaude(kind) ? 529 : 503),
  'begins its stream with an error': (kind) => (_, res) => sse(res, [errorOf(kind)]),
  'is cut before its first word': (kind) => (_, res) =>
    sse(res, [...(isClaude(kind) ? eventsOf(kind).slice(0, 2) : []), null]),
  'says nothing': () => (_, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
  },
  'sends a page of HTML': () => (_, res) => void res.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hi</h1>'),
};

describe.each(PAIRS)('a stream of %s that falls back to %s', (first, second) => {
  it.each(Object.entries(FAILURES))('when the first %s is one whole stream of the second', async (_, failure) => {
    const seen = upstream.seen.length;
    script = (request, res, index) =>
      index === seen ? failure(first)(request, res, index) : sse(res, eventsOf(kindOf(request)));
    const answer = await post(`${first}-${second}`, { stream: true });
    const text = await answer.text();
    expect([answer.status, upstream.seen.slice(seen).map(kindOf)]).toEqual([200, [first, second]]);
    const names = [...text.matchAll(/^event: (\w+)$/gm)].map(([, name]) => name).filter((name) => name !== 'ping');
    expect(names).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    expect([...text.matchAll(/"text_delta","text":"(\w+)"/g)].map(([, word]) => word)).toEqual(['Hel', 'lo']);
  });

  it('gives a plain answer as plainly', async () => {
    const seen = upstream.seen.length;
    script = (request, res, index) =>
      index === seen ? json(res, errorOf(first), 503) : json(res, plainOf(kindOf(request)));
    const answer = await post(`${first}-${second}`, {});
    expect(await answer.json()).toMatchObject({ type: 'message', content: [{ type: 'text', text: 'Hello' }] });
    expect(answer.headers.get('x-gateway-last-used-option-index')).toBe('config.targets[1]');
  });
});

describe('a request that is tried everywhere', () => {
  const body = {
    messages: [
      { role: 'user', content: 'hi' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', signature: `ErUBCkYIBBgCIkDkZ${'a'.repeat(100)}` },
          { type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'rain' }] },
    ],
    tools: [{ name: 'weather', input_schema: { type: 'object', properties: {} } }],
    thinking: { type: 'enabled', budget_tokens: 1024 },
    tomorrow: { a: 1 },
  };

  it('is written anew for each, from what the caller sent and not from what the one before was sent', async () => {
    const seen = upstream.seen.length;
    script = (request, res) => json(res, errorOf(kindOf(request)), 503);
    const answer = await post('all', body, {
      'anthropic-version': '2024-01-01',
      'anthropic-beta': 'interleaved-thinking-2025-05-14',
    });
    expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([529, 'false']);
    const [direct, hosted, gemini, openai] = upstream.seen.slice(seen);
    const whole = { max_tokens: 16, ...body };
    expect(direct!.json).toEqual({ ...whole, model: 'claude-haiku-4-5' });
    expect(hosted!.json).toEqual({ ...whole, anthropic_version: 'vertex-2023-10-16' });
    for (const text of [gemini!.text, openai!.text]) {
      expect(text).toContain('rain');
      expect(text).not.toMatch(/ErUBCkYI|anthropic|tomorrow/);
    }
  });

  it('has the headers of each API at that API alone', async () => {
    const seen = upstream.seen.length;
    script = (request, res) => json(res, errorOf(kindOf(request)), 503);
    await post('all', body, { 'anthropic-version': '2024-01-01', 'anthropic-beta': 'interleaved-thinking-2025-05-14' });
    const reported = upstream.seen
      .slice(seen)
      .map(({ headers }) => [
        headers['anthropic-version'],
        headers['anthropic-beta'],
        headers['x-api-key'],
        headers.authorization,
      ]);
    const beta = 'interleaved-thinking-2025-05-14';
    expect(reported).toEqual([
      ['2024-01-01', beta, 'upstream-secret-key', undefined],
      [undefined, beta, undefined, 'Bearer ya29.t'],
      [undefined, undefined, undefined, 'Bearer ya29.t'],
      [undefined, undefined, undefined, undefined],
    ]);
  });
});

describe('a stream that is asked for and answered with JSON', () => {
  it.each(KINDS)('by %s reaches the client as a stream', async (kind) => {
    script = (_, res) => json(res, plainOf(kind));
    const answer = await post(`only-${kind}`, { stream: true });
    const text = await answer.text();
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    expect(text).toContain('"text_delta","text":"Hello"');
    expect(text).toMatch(/event: message_stop\n.*\n\n$/);
  });

  it.each(KINDS)('by %s without end is cut off', async (kind) => {
    const flood = Buffer.alloc(1024 * 1024, 'x');
    script = (_, res) => {
      res.writeHead(200, { 'content-type': 'application/json' }).write('{"content":"');
      const pour = (): void => {
        while (!res.destroyed && res.write(flood));
      };
      res.on('drain', pour);
      pour();
    };
    const answer = await post(`only-${kind}`, { stream: true });
    expect(await answer.text()).toMatch(/^event: error\ndata: \{.*exceeds 16777216 bytes.*\}\n\n$/);
    await until(() => upstream.seen.at(-1)!.aborted, 'the upstream was let go');
  });

  it.each(KINDS)('by %s with an error under 200 is that error', async (kind) => {
    const seen = upstream.seen.length;
    script = (_, res) => json(res, errorOf(kind));
    const answer = await post('all', { stream: true });
    expect(answer.status).toBeGreaterThanOrEqual(500);
    expect(await answer.json()).toMatchObject({ type: 'error', error: { message: 'busy' } });
    expect(upstream.seen.length).toBe(seen + KINDS.length);
  });
});
