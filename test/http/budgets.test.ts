import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { KEY, until } from '../support/gateway.ts';
import { startPair, type Pair } from '../support/pair.ts';
import { json, openaiReply, sse, openaiChunk, type Script } from '../support/upstream.ts';

const OTHER = 'gatehouse-other-key-0123456789';

/** USD per million tokens: 1,000 tokens of answer cost 0.01 USD. */
const prices = { prices: [{ model: 'm*', usd: { input: 1, output: 10 } }] };

const keysOf = (own: object = {}, other: object = {}) => ({
  keys: [
    { id: 'test', key: `\${env:NONE:-${KEY}}`, ...own },
    { id: 'other', key: `\${env:NONE:-${OTHER}}`, ...other },
  ],
});
const capped = (cap: string, more: object = {}) => ({ budgets: [{ cap, period: 'month', ...more }] });

const usage = (input: number, output: number) => ({
  usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
});
const answers: Script = (_, res) => json(res, openaiReply('ok', usage(100, 100)));

interface Question {
  readonly model?: string;
  readonly key?: string;
  readonly max?: number;
  readonly path?: string;
  readonly body?: object;
  readonly config?: string;
}

const post = (
  { gateway }: Pair,
  { model = '@openai/m', key = KEY, max = 1000, path = '/v1/chat/completions', body, config }: Question = {},
): Promise<Response> =>
  fetch(gateway.url + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-gateway-api-key': key,
      ...(config !== undefined && { 'x-gateway-config': config }),
    },
    body: JSON.stringify({
      ...(model !== '' && { model, max_tokens: max, messages: [{ role: 'user', content: 'hi' }] }),
      ...body,
    }),
  });

/** The answer's status and code; its body is read to the end. */
async function outcome(reply: Promise<Response>): Promise<[number, string | undefined]> {
  const answer = await reply;
  const { error } = (await answer.json()) as { error?: { code: string } };
  return [answer.status, error?.code];
}

/** Until the request that was answered has been settled, which is after its reply. */
const settled = ({ gateway }: Pair): Promise<void> =>
  until(() => gateway.gateway.records({ limit: 1 }).length > 0, 'the request has ended');

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-budgets-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

describe('a request that a budget cannot cover', () => {
  const setup = { prices, keys: keysOf(capped('0.001 USD', { time_zone: 'Europe/Berlin' })) };

  it.each([
    ['memory', () => ({})],
    ['a state store', () => ({ server: { state: { store: { type: 'sqlite', dir: newFolder() } } } })],
  ])('is refused to clients of OpenAI as an exhausted quota, which they do not retry: in %s', async (_, more) => {
    const pair = await startPair(answers, { ...setup, ...more() });
    const reply = await post(pair);
    const { error } = (await reply.json()) as { error: object };
    expect([reply.status, reply.headers.get('x-should-retry')]).toEqual([429, 'false']);
    expect(error).toMatchObject({ type: 'insufficient_quota', code: 'insufficient_quota' });
    expect(error).toHaveProperty(
      'message',
      expect.stringMatching(
        /^The budget key:test:month:usd \(0\.001 USD\), of which 0\.001 USD are left, cannot cover this request, for which 0\.010\d+ USD would be reserved with an answer of at most 1000 tokens\. It begins anew at 20\d\d-\d\d-(?:28|29|30|31)T2[23]:00:00\.000Z\.$/,
      ),
    );
    expect(pair.upstream.seen).toEqual([]);
  });

  it('is refused to clients of Anthropic as a billing error', async () => {
    const pair = await startPair(answers, setup);
    const reply = await post(pair, { path: '/v1/messages' });
    expect([reply.status, reply.headers.get('x-should-retry')]).toEqual([429, 'false']);
    expect(reply.headers.get('anthropic-ratelimit-unified-status')).toBe('rejected');
    const reset = reply.headers.get('anthropic-ratelimit-unified-reset');
    expect(Number(reset) * 1000).toBeGreaterThan(Date.now());
    expect(Object.fromEntries([...reply.headers].filter(([name]) => name.includes('overage')))).toEqual({
      'anthropic-ratelimit-unified-overage-reset': reset,
      'anthropic-ratelimit-unified-overage-utilization': '1',
      'anthropic-ratelimit-unified-overage-surpassed-threshold': '1',
      'anthropic-ratelimit-unified-overage-period': 'monthly',
      'anthropic-ratelimit-unified-overage-disabled-reason': 'org_spend_cap_reached',
    });
    // With it, Claude Code would show a text of its own in place of the error's.
    expect(reply.headers.has('anthropic-ratelimit-unified-representative-claim')).toBe(false);
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await reply.json()).toMatchObject({ type: 'error', error: { type: 'billing_error' } });
  });

  it('that is nearly spent is shown to clients of Anthropic with each answer', async () => {
    // 1,100 millionths of a USD an answer.
    const pair = await startPair(answers, {
      prices,
      keys: keysOf({
        budgets: [
          { cap: '0.008 USD', period: 'month' },
          { cap: '1 USD', period: 'day' },
        ],
      }),
    });
    const shown = async (path = '/v1/messages') => {
      const reply = await post(pair, { path, max: 50 });
      await reply.text();
      const before = pair.upstream.seen.length;
      await until(() => pair.gateway.gateway.records({ limit: 100 }).length >= before, 'the request has ended');
      return Object.fromEntries(
        [...reply.headers].flatMap(([name, value]) =>
          name.startsWith('anthropic-ratelimit-unified') && !name.endsWith('reset')
            ? [[name.slice('anthropic-ratelimit-unified-'.length), value]]
            : [],
        ),
      );
    };
    const at = (utilization: string, threshold?: string) => ({
      status: threshold === undefined ? 'allowed' : 'allowed_warning',
      'representative-claim': 'overage',
      'overage-status': threshold === undefined ? 'allowed' : 'allowed_warning',
      'overage-utilization': utilization,
      ...(threshold !== undefined && { 'overage-surpassed-threshold': threshold }),
    });
    expect(await shown('/v1/chat/completions')).toEqual({});
    expect(await shown()).toEqual(at('0.14'));
    for (let count = 0; count < 3; count += 1) await shown();
    expect(await shown()).toEqual(at('0.69'));
    expect(await shown()).toEqual(at('0.83', '0.75'));
  });

  it('is refused to clients of Gemini as an exhausted resource', async () => {
    const pair = await startPair(answers, setup);
    const reply = await post(pair, {
      path: '/v1beta/models/@openai%2Fm:generateContent',
      model: '',
      body: {
        contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
        generationConfig: { maxOutputTokens: 1000 },
      },
    });
    const { error } = (await reply.json()) as { error: { details: object[] } };
    expect([reply.status, error]).toMatchObject([429, { code: 429, status: 'RESOURCE_EXHAUSTED' }]);
    expect(error.details).toContainEqual({
      '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
      violations: [
        { subject: 'budget', description: expect.stringContaining('The budget key:test:month:usd') as string },
      ],
    });
  });

  it('is not sent to another target, and counts for no breaker', async () => {
    const pair = await startPair(answers, {
      prices,
      keys: keysOf(capped('0 USD', { models: ['m-dear'] })),
      gateway: {
        both: {
          strategy: { mode: 'fallback', on_status_codes: [429] },
          retry: { attempts: 2, on_status_codes: [429] },
          circuit_breaker: { failures: 1 },
          targets: [
            { provider: '@openai', override_params: { model: 'm-dear' } },
            { provider: '@openai', override_params: { model: 'm-cheap' } },
          ],
        },
      },
    });
    for (let at = 0; at < 3; at++)
      expect(await outcome(post(pair, { config: 'both' }))).toEqual([429, 'insufficient_quota']);
    expect(pair.upstream.seen).toEqual([]);
    expect(await outcome(post(pair))).toEqual([200, undefined]);
  });
});

describe('what requests have cost', () => {
  it('counts for the key, its team and its organization, and is not shown to others', async () => {
    const pair = await startPair((_, res) => json(res, openaiReply('ok', usage(4000, 600))), {
      prices,
      keys: keysOf({ team: 'search' }, { team: 'find' }),
      teams: {
        organizations: { acme: capped('0.02 USD') },
        teams: { search: { organization: 'acme' }, find: { organization: 'acme' } },
      },
    });
    // Each costs 0.01 USD.
    expect(await outcome(post(pair))).toEqual([200, undefined]);
    await settled(pair);
    const refused = await post(pair, { key: OTHER, max: 1100 });
    const { error } = (await refused.json()) as { error: { message: string } };
    expect([refused.status, error.message]).toEqual([
      429,
      expect.stringMatching(
        /^The budget organization:acme:month:usd \(0\.02 USD\) cannot cover this request, for which 0\.011\d* USD would be reserved/,
      ),
    ]);
    expect(await outcome(post(pair, { key: OTHER, max: 900 }))).toEqual([200, undefined]);
  });

  it('is reserved while requests are under way', async () => {
    const waiting: ServerResponse[] = [];
    const pair = await startPair((_, res) => void waiting.push(res), { prices, keys: keysOf(capped('0.015 USD')) });
    const first = outcome(post(pair));
    await until(() => waiting.length === 1, 'the first is at the upstream');
    expect(await outcome(post(pair))).toEqual([429, 'insufficient_quota']);
    json(waiting[0]!, openaiReply('ok', usage(1, 1)));
    expect(await first).toEqual([200, undefined]);
    await settled(pair);
    const third = outcome(post(pair));
    await until(() => waiting.length === 2, 'the third is at the upstream');
    json(waiting[1]!, openaiReply('ok', usage(1, 1)));
    expect(await third).toEqual([200, undefined]);
  });

  it('is nothing where the upstream refused the request', async () => {
    const pair = await startPair((_, res) => json(res, { error: { message: 'no' } }, 400), {
      prices,
      keys: keysOf(capped('0.011 USD')),
    });
    for (let at = 0; at < 3; at++) expect((await post(pair)).status).toBe(400);
  });

  it('is estimated for a stream that the client leaves', async () => {
    const pair = await startPair(
      async (_, res, index) => {
        if (index > 0) return json(res, openaiReply('ok'));
        await sse(
          res,
          Array.from({ length: 20 }, () => openaiChunk({ content: 'word' })),
          false,
        );
      },
      { prices, keys: keysOf(capped('0.0103 USD')) },
    );
    const leaving = new AbortController();
    const reply = await fetch(`${pair.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      signal: leaving.signal,
      headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY },
      body: JSON.stringify({
        model: '@openai/m',
        max_tokens: 1000,
        stream: true,
        messages: [{ role: 'user', content: 'hi' }],
      }),
    });
    let seen = '';
    for await (const piece of reply.body!.pipeThrough(new TextDecoderStream())) {
      seen += piece;
      if (seen.split('word').length > 20) break;
    }
    leaving.abort();
    // 20 pieces cost 0.0002 USD: 0.0101 are left, and the reserve is less than 0.0101 only for a shorter answer.
    await until(() => pair.gateway.logText().includes('client_closed'), 'the request has ended');
    expect(await outcome(post(pair, { max: 1005 }))).toEqual([429, 'insufficient_quota']);
  });

  it('stays when the settings are read again, which change the cap at once', async () => {
    const pair = await startPair((_, res) => json(res, openaiReply('ok', usage(0, 1000))), {
      prices,
      keys: keysOf(capped('0.011 USD')),
    });
    expect(await outcome(post(pair))).toEqual([200, undefined]);
    await settled(pair);
    expect(await outcome(post(pair))).toEqual([429, 'insufficient_quota']);
    writeFileSync(join(pair.gateway.configs, 'keys.yaml'), JSON.stringify(keysOf(capped('0.021 USD'))));
    await pair.gateway.gateway.reload();
    expect(await outcome(post(pair))).toEqual([200, undefined]);
    await settled(pair);
    expect(await outcome(post(pair))).toEqual([429, 'insufficient_quota']);
  });
});

/** The upstream ignores the limit of the answer, until its client leaves. */
const endless: Script = async (_, res) => {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  res.on('error', () => {});
  for (let at = 0; at < 2000 && !res.destroyed; at += 1) {
    res.write(`data: ${JSON.stringify(openaiChunk({ content: 'word ' }))}\n\n`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  res.end('data: [DONE]\n\n');
};

describe('a stream beyond its reserve', () => {
  const streamed = { stream: true };
  const doors = [
    [
      'OpenAI',
      '/v1/chat/completions',
      { model: '@openai/m', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }], ...streamed },
      /data: \{"error":\{[^\n]*"code":"insufficient_quota"[^\n]*\}\s*$/,
    ],
    [
      'Anthropic',
      '/v1/messages',
      { model: '@openai/m', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }], ...streamed },
      /event: error\ndata: \{"type":"error","error":\{"type":"billing_error"[^\n]*\}\s*$/,
    ],
    [
      'Gemini',
      '/v1beta/models/@openai%2Fm:streamGenerateContent?alt=sse',
      { contents: [{ role: 'user', parts: [{ text: 'hi' }] }], generationConfig: { maxOutputTokens: 10 } },
      /"status":"RESOURCE_EXHAUSTED"[^\n]*\}\s*$/,
    ],
  ] as const;

  it.each(doors)(
    'is cut with the error of %s when its budget has no room, and what arrived is booked',
    async (_, path, body, error) => {
      const pair = await startPair(endless, {
        prices,
        keys: keysOf(capped('0.002 USD')),
        server: {
          chains: {
            attempt: ['override', 'transform', { plugin: 'budget', options: { on_overrun: 'cut' } }, 'retry', 'send'],
          },
        },
      });
      const reply = await fetch(pair.gateway.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY },
        body: JSON.stringify(body),
      });
      const text = await reply.text();
      expect(reply.status).toBe(200);
      expect(text).toMatch(error);
      expect(text).toContain('The budget key:test:month:usd (0.002 USD) is used up: the answer was cut');
      // One end: nothing follows the error.
      expect(text).not.toMatch(/\[DONE\]|message_stop|"finishReason":"STOP"/);
      await until(() => pair.upstream.seen[0]!.aborted, 'the upstream was left');
      await settled(pair);
      const words = text.split('word').length - 1;
      const record = pair.gateway.logs.find(({ cost_usd: cost }) => cost !== undefined)!;
      // A word is a piece, and a piece counts as a token at least: 10 USD per million.
      expect(Number(record.cost_usd)).toBeGreaterThanOrEqual(words * 10e-6);
      expect(Number(record.cost_usd)).toBeLessThan(0.0025);
      expect(record).toMatchObject({ error_code: 'budget_cut' });
      expect(await outcome(post(pair, { max: 1 }))).toEqual([429, 'insufficient_quota']);
      const metrics = await (await fetch(`${pair.gateway.statusUrl}/metrics`)).text();
      expect(metrics).toContain('gatehouse_budget_overruns_total{what="cut"} 1');
      expect(metrics).toMatch(/gatehouse_budget_overruns_total\{what="grown"\} [1-9]/);
    },
  );

  it('goes on by default, and the budget is exceeded by the rest', async () => {
    const short: Script = (_, res) =>
      sse(res, [
        ...Array.from({ length: 300 }, () => openaiChunk({ content: 'word ' })),
        openaiChunk({}, 'stop'),
        'data: [DONE]\n\n',
      ]);
    const pair = await startPair(short, { prices, keys: keysOf(capped('0.002 USD')) });
    const reply = await post(pair, { max: 10, body: streamed });
    const text = await reply.text();
    expect([text.split('word').length - 1, text.includes('"error"')]).toEqual([300, false]);
    await settled(pair);
    expect(await outcome(post(pair, { max: 1 }))).toEqual([429, 'insufficient_quota']);
    const metrics = await (await fetch(`${pair.gateway.statusUrl}/metrics`)).text();
    expect(metrics).toContain('gatehouse_budget_overruns_total{what="continued"} 1');
  });
});

describe('a budget of tokens', () => {
  it('counts the tokens of prompts and answers', async () => {
    const pair = await startPair(answers, { keys: keysOf(capped('1300 tokens')) });
    // The price of the model is not known, and a budget in tokens needs none.
    expect(await outcome(post(pair, { model: '@openai/unpriced' }))).toEqual([200, undefined]);
    await settled(pair);
    // 200 tokens are spent; 1,040 or so would be reserved.
    expect(await outcome(post(pair, { max: 1090 }))).toEqual([429, 'insufficient_quota']);
    expect(await outcome(post(pair, { max: 1000 }))).toEqual([200, undefined]);
  });
});

describe('a budget that only warns', () => {
  it('admits and counts', async () => {
    const pair = await startPair(answers, { prices, keys: keysOf(capped('0 USD', { on_exceeded: 'warn' })) });
    expect(await outcome(post(pair))).toEqual([200, undefined]);
  });
});

describe('a model without a price', () => {
  const keys = keysOf(capped('5 USD'));
  const options = (unknown: unknown) => ({
    server: {
      chains: {
        attempt: [
          'override',
          'cache',
          'transform',
          { plugin: 'budget', options: { unknown_price: unknown } },
          'retry',
          'send',
        ],
      },
    },
  });

  it('is refused to a key with a budget in USD, and to no other', async () => {
    const pair = await startPair(answers, { keys });
    expect(await outcome(post(pair, { model: '@openai/unpriced' }))).toEqual([403, 'model_unpriced']);
    expect(await outcome(post(pair, { model: '@openai/unpriced', key: OTHER }))).toEqual([200, undefined]);
  });

  it('is refused by the name of the budget that counts USD, which may be that of the team', async () => {
    const teams = { teams: { search: capped('5 USD') } };
    const pair = await startPair(answers, { teams, keys: keysOf({ team: 'search' }) });
    const refusal = await post(pair, { model: '@openai/unpriced' });
    expect(await refusal.json()).toMatchObject({
      error: {
        message: 'The budget team:search:month:usd counts USD, and the price of unpriced is not known (model).',
      },
    });
  });

  it('is sent where the operator accepts that, and logged', async () => {
    const pair = await startPair(answers, { keys, ...options('admit_and_alarm') });
    expect(await outcome(post(pair, { model: '@openai/unpriced' }))).toEqual([200, undefined]);
    expect(pair.gateway.logText()).toContain('a request was sent whose price is not known');
  });

  it('has the price that the operator assumes', async () => {
    const pair = await startPair(answers, { keys: keysOf(capped('0.01 USD')), ...options({ input: 1, output: 10 }) });
    expect(await outcome(post(pair, { model: '@openai/unpriced' }))).toEqual([429, 'insufficient_quota']);
    expect(await outcome(post(pair, { model: '@openai/unpriced', max: 100 }))).toEqual([200, undefined]);
  });
});

it('the start says that budgets begin at zero', async () => {
  const pair = await startPair(answers, { prices, keys: keysOf(capped('5 USD')) });
  expect(pair.gateway.logText()).toContain(
    'budgets are counted in memory: what is spent begins at zero with each start',
  );
});
