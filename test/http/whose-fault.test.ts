import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  json,
  openaiChunk,
  openaiReply,
  sse,
  startUpstream,
  type ScriptedUpstream,
  type SeenRequest,
  type Script,
} from '../support/upstream.ts';
import { KEY, startTestGateway, until, type TestGateway, type TestSettings } from '../support/gateway.ts';

/** Failures that are not the upstream's, nor every caller's: the error of each caller, and the effect on the target's health. */

const OTHER_KEY = 'gatehouse-other-key-0123456789';
const BREAKER = { failures: 3, min_requests: 3, failure_rate: 0.5, window: '60s', cooldown: '10s' };

interface Setup extends TestSettings {
  readonly first: Script;
  readonly entries?: (url: string) => readonly object[];
  /** To the first upstream. */
  readonly connections?: number;
}

interface Running {
  readonly gateway: TestGateway;
  readonly first: ScriptedUpstream;
  readonly second: ScriptedUpstream;
}

async function start({ first: script, entries = () => [], connections, ...settings }: Setup): Promise<Running> {
  const first = await startUpstream(script);
  const second = await startUpstream((_, res) => json(res, openaiReply('from the second')));
  const simulator = { provider: 'simulator', allow_insecure: true };
  const gateway = await startTestGateway({
    catalog: {
      providers: [
        ...entries(first.url),
        { slug: 'first', base_url: first.url, ...(connections !== undefined && { connections }), ...simulator },
        { slug: 'second', base_url: second.url, ...simulator },
      ],
    },
    keys: {
      keys: [
        { id: 'test', key: `\${env:NONE:-${KEY}}` },
        { id: 'other', key: `\${env:NONE:-${OTHER_KEY}}` },
      ],
    },
    ...settings,
  });
  onTestFinished(async () => {
    await gateway.close();
    await Promise.all([first.close(), second.close()]);
  });
  return { gateway, first, second };
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly code: string | undefined;
  /** `config.targets[1]` */
  readonly from: string | null;
}

async function chat({ gateway }: Running, body: object, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY, ...headers },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }], ...body }),
  });
  const text = await response.text();
  const code = /"code":"(\w+)"/.exec(text)?.[1];
  const from = response.headers.get('x-gateway-last-used-option-index');
  return { status: response.status, headers: response.headers, text, code, from };
}

const read = async (url: string): Promise<string> => (await fetch(url)).text();
const healthOf = async ({ gateway }: Running): Promise<string[]> =>
  (await read(`${gateway.statusUrl}/readyz?verbose`)).split('\n').filter((line) => line.startsWith('target '));
const seriesOf = async ({ gateway }: Running, name: string): Promise<string[]> =>
  (await read(`${gateway.statusUrl}/metrics`)).split('\n').filter((line) => line.startsWith(`gatehouse_${name}`));
const wellInMetrics = async (running: Running): Promise<string[]> =>
  (await seriesOf(running, 'upstream_target_healthy{')).map((line) => line.replace(/^.*target="([^"]*)".*\} /, '$1 '));

describe('a token that a caller brings', () => {
  /** Vertex without credentials of its own. */
  const vertex = (url: string): readonly object[] => [
    {
      slug: 'vertex',
      provider: 'vertex-ai',
      project_id: 'my-project',
      region: 'us-central1',
      base_url: url,
      allow_insecure: true,
    },
  ];
  const gateway = {
    it: {
      strategy: { mode: 'fallback', on_status_codes: [401, 403, 429, 503] },
      circuit_breaker: { ...BREAKER, on_status_codes: [401, 403, 429, 500, 503] },
      targets: [
        { provider: '@vertex', override_params: { model: 'gemini-2.5-flash' } },
        { provider: '@second', override_params: { model: 'n' } },
      ],
    },
  };
  const answered = { candidates: [{ content: { role: 'model', parts: [{ text: 'hi' }] }, finishReason: 'STOP' }] };
  const bearerOf = ({ headers }: SeenRequest): string => headers.authorization?.replace('Bearer ', '') ?? '';
  const as = (token: string) => ({ authorization: `Bearer ${token}`, 'x-gateway-config': 'it' });
  const FIRST = 'config.targets[0]';
  const SECOND = 'config.targets[1]';

  it.each([
    [401, 'UNAUTHENTICATED'],
    [403, 'PERMISSION_DENIED'],
    [429, 'RESOURCE_EXHAUSTED'],
  ])('and the upstream refuses with %i closes the target to this caller alone', async (status, word) => {
    const running = await start({
      gateway,
      entries: vertex,
      first: (request, res) =>
        bearerOf(request) === 'ya29.canary-poor'
          ? json(res, { error: { code: status, message: 'Not for you.', status: word } }, status)
          : json(res, answered),
    });
    const poor: (string | null)[] = [];
    for (let count = 0; count < 6; count += 1) poor.push((await chat(running, {}, as('ya29.canary-poor'))).from);
    // After three refusals its breaker leaves the first target alone.
    expect(poor).toEqual(Array.from({ length: 6 }, () => SECOND));
    expect(running.first.seen.length).toBe(3);
    expect((await chat(running, {}, as('ya29.canary-rich'))).from).toBe(FIRST);
    expect(await wellInMetrics(running)).toEqual([`${FIRST} 1`, `${SECOND} 1`]);
    const health = await healthOf(running);
    expect(health).toHaveLength(2);
    for (const line of health) expect(line).toMatch(/ (?:ok|closed|well)/);
    const reported = [health.join('\n'), await read(`${running.gateway.statusUrl}/metrics`), running.gateway.logText()];
    expect(reported.join('\n')).not.toContain('canary');
  });

  it('gets the upstream’s own 401 when the upstream refuses it', async () => {
    const running = await start({
      entries: vertex,
      first: (_, res) => json(res, { error: { code: 401, message: 'Expired.', status: 'UNAUTHENTICATED' } }, 401),
    });
    const answer = await chat(running, { model: '@vertex/gemini-2.5-flash' }, { authorization: 'Bearer ya29.mine' });
    expect([answer.status, answer.code]).toEqual([401, 'invalid_api_key']);
    expect(answer.text).toContain('Expired.');
    expect(running.first.seen.length).toBe(1);
  });

  it('does not hide that the target itself is down: a 503 closes it to all callers', async () => {
    const running = await start({
      gateway,
      entries: vertex,
      first: (_, res) => json(res, { error: { code: 503, message: 'Down.', status: 'UNAVAILABLE' } }, 503),
    });
    for (const token of ['a', 'b', 'c']) await chat(running, {}, as(`ya29.${token}`));
    await chat(running, {}, as('ya29.d'));
    expect(running.first.seen.length).toBe(3);
    expect(await wellInMetrics(running)).toEqual([`${FIRST} 0`, `${SECOND} 1`]);
  });
});

describe('the gateway’s own key, refused by the upstream', () => {
  const CANARY = 'sk-proj-canary-0123456789';
  const quoting = { message: `Incorrect API key provided: ${CANARY.slice(0, 8)}****${CANARY.slice(-4)}.` };
  const refusing: Script = (request, res) =>
    request.url.includes('generateContent') || request.url.includes('countTokens')
      ? json(res, { error: { code: 401, ...quoting, status: 'UNAUTHENTICATED' } }, 401)
      : request.url.startsWith('/v1/messages')
        ? json(res, { type: 'error', error: { type: 'authentication_error', ...quoting } }, 401)
        : json(res, { error: { ...quoting, type: 'invalid_request_error', code: 'invalid_api_key' } }, 401);
  const entries = (url: string): readonly object[] => {
    const to = { base_url: url, allow_insecure: true, api_key: `\${env:NONE:-${CANARY}}` };
    return [
      { slug: 'openai', provider: 'openai', ...to, base_url: `${url}/v1` },
      { slug: 'claude', provider: 'anthropic', ...to },
      { slug: 'gemini', provider: 'vertex-ai', ...to },
    ];
  };
  const MODELS = ['@openai/gpt-4o', '@claude/claude-sonnet-4-5', '@gemini/gemini-2.5-flash'];
  const messages = [{ role: 'user' as const, content: 'hi' }];

  const check = (thrown: unknown, { first }: Running): void => {
    expect(thrown).toMatchObject({ status: 502 });
    const text = `${String(thrown)} ${JSON.stringify(thrown)}`;
    expect(text).toMatch(/The upstream refused the credentials of the catalog entry @(?:openai|claude|gemini) \(401\)/);
    expect(text).not.toMatch(/canary|6789|sk-proj/);
    expect(first.seen.length).toBe(1);
  };
  const thrownBy = (call: Promise<unknown>): Promise<unknown> =>
    call.then(
      () => undefined,
      (error: unknown) => error,
    );

  it.each(MODELS.flatMap((model) => [false, true].map((stream) => [model, stream] as const)))(
    'is a 502 that the SDKs do not try again: %s, stream %s',
    async (model, stream) => {
      const openai = await start({ entries, first: refusing });
      const baseURL = openai.gateway.url;
      // Their own defaults: two more tries after a 5xx.
      const one = new OpenAI({ baseURL: `${baseURL}/v1`, apiKey: KEY });
      check(await thrownBy(one.chat.completions.create({ model, messages, max_tokens: 5, stream })), openai);
      const anthropic = await start({ entries, first: refusing });
      const other = new Anthropic({ baseURL: anthropic.gateway.url, apiKey: KEY });
      check(await thrownBy(other.messages.create({ model, messages, max_tokens: 5, stream })), anthropic);
    },
  );

  it.each<[string, (url: string) => Promise<unknown>]>([
    [
      'embeddings',
      (url) =>
        new OpenAI({ baseURL: `${url}/v1`, apiKey: KEY }).embeddings.create({
          model: '@openai/text-embedding-3-small',
          input: 'hi',
        }),
    ],
    [
      'images',
      (url) =>
        new OpenAI({ baseURL: `${url}/v1`, apiKey: KEY }).images.generate({
          model: '@openai/gpt-image-1',
          prompt: 'hi',
        }),
    ],
    [
      'token counts',
      (url) =>
        new Anthropic({ baseURL: url, apiKey: KEY }).messages.countTokens({
          model: '@claude/claude-sonnet-4-5',
          messages,
        }),
    ],
  ])('is the same for %s', async (_, call) => {
    const running = await start({ entries, first: refusing });
    check(await thrownBy(call(running.gateway.url)), running);
  });

  it('is the upstream’s 401 to the rules of a config, and `auth` among the kinds of failure', async () => {
    const fallback = (strategy: object) => ({
      strategy: { mode: 'fallback', ...strategy },
      targets: [
        { provider: '@openai', override_params: { model: 'gpt-4o' } },
        { provider: '@second', override_params: { model: 'n' } },
      ],
    });
    const running = await start({
      entries,
      first: refusing,
      gateway: {
        status: fallback({ on_status_codes: [401] }),
        kind: fallback({ on_errors: ['auth'] }),
        'not-502': fallback({ on_status_codes: [502] }),
        retry: {
          provider: '@openai',
          override_params: { model: 'gpt-4o' },
          retry: { attempts: 1, on_status_codes: [401], min_delay: '1ms' },
        },
      },
    });
    const by = (config: string) => chat(running, {}, { 'x-gateway-config': config });
    for (const config of ['status', 'kind']) expect((await by(config)).from).toBe('config.targets[1]');
    expect((await by('not-502')).status).toBe(502);
    const before = running.first.seen.length;
    expect((await by('retry')).status).toBe(502);
    expect(running.first.seen.length - before).toBe(2);
    const lines = running.gateway.logs.filter(({ error_code }) => error_code === 'upstream_credentials_refused');
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect(line).toMatchObject({ status: 502, error_type: 'auth' });
  });

  it('is no failed request where another target of the pool has another key', async () => {
    const strategy = { mode: 'loadbalance' };
    const targets = [
      { provider: '@openai', override_params: { model: 'gpt-4o' } },
      { provider: '@second', override_params: { model: 'n' } },
    ];
    const running = await start({
      entries,
      first: refusing,
      gateway: {
        pool: { strategy, targets },
        stop: { strategy: { ...strategy, stop_on_errors: ['auth'] }, targets },
        stops: { strategy: { ...strategy, stop_on_errors: ['credentials'] }, targets },
      },
    });
    const statuses = async (config: string): Promise<ReadonlySet<number>> => {
      const answers: number[] = [];
      for (let round = 0; round < 20; round += 1)
        answers.push((await chat(running, {}, { 'x-gateway-config': config })).status);
      return new Set(answers);
    };
    expect(await statuses('pool')).toEqual(new Set([200]));
    for (const config of ['stop', 'stops']) expect(await statuses(config)).toEqual(new Set([200, 502]));
  });

  it.each([
    ['a key it does not know', {}, { 'x-gateway-api-key': 'unknown-key-0123456789' }, 401],
    ['a catalog entry the key may not use', { model: '@second/m' }, {}, 403],
    ['a missing token of the caller', { model: '@open/gemini-2.5-flash' }, {}, 401],
  ])('has its own refusals beside it, which ask SDKs not to try again: %s', async (_, body, headers, status) => {
    const running = await start({
      first: refusing,
      entries: (url) => [
        {
          slug: 'open',
          provider: 'vertex-ai',
          project_id: 'my-project',
          region: 'us-central1',
          base_url: url,
          allow_insecure: true,
        },
      ],
      keys: { keys: [{ id: 'test', key: `\${env:NONE:-${KEY}}`, providers: ['@first', '@open'] }] },
    });
    const answer = await chat(running, body, headers);
    expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([status, 'false']);
  });
});

describe('the gateway’s own full pool', () => {
  const ONE_TARGET_AND_ANOTHER = {
    strategy: { mode: 'fallback' },
    circuit_breaker: BREAKER,
    targets: [
      { provider: '@first', override_params: { model: 'm' }, timeouts: { connect: '150ms' } },
      { provider: '@second', override_params: { model: 'n' } },
    ],
  };
  /** A stream that does not end before its client leaves. */
  const streaming: Script = (_, res) => sse(res, [openaiChunk({ role: 'assistant', content: 'hi' })], false);

  it('never counts against a healthy upstream: 40 streams over 5 connections go on to the next target', async () => {
    const running = await start({
      first: streaming,
      connections: 5,
      gateway: { it: ONE_TARGET_AND_ANOTHER },
    });
    const controller = new AbortController();
    const froms = await Promise.all(
      Array.from({ length: 40 }, async () => {
        const response = await fetch(`${running.gateway.url}/v1/chat/completions`, {
          method: 'POST',
          signal: controller.signal,
          headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY, 'x-gateway-config': 'it' },
          body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }], stream: true }),
        });
        return response.headers.get('x-gateway-last-used-option-index');
      }),
    );
    expect(froms.filter((from) => from === 'config.targets[0]')).toHaveLength(5);
    expect(froms.filter((from) => from === 'config.targets[1]')).toHaveLength(35);
    expect(await wellInMetrics(running)).toEqual(['config.targets[0] 1', 'config.targets[1] 1']);
    expect(await seriesOf(running, 'upstream_pool_wait_seconds_count')).toEqual([
      'gatehouse_upstream_pool_wait_seconds_count{provider="first"} 35',
    ]);
    expect(await seriesOf(running, 'upstream_pool_waiting ')).toEqual(['gatehouse_upstream_pool_waiting 0']);
    controller.abort();
  });

  it('is a 503 with its own code and `retry-after` where no other target is there', async () => {
    const running = await start({
      first: streaming,
      server: { limits: { connections: 1 }, timeouts: { connect: '100ms' } },
    });
    const held = new AbortController();
    const holding = fetch(`${running.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      signal: held.signal,
      headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY },
      body: JSON.stringify({ model: '@first/m', messages: [{ role: 'user', content: 'hi' }], stream: true }),
    });
    await holding;
    const answer = await chat(running, { model: '@first/m' });
    expect([answer.status, answer.code, answer.headers.get('retry-after')]).toEqual([503, 'pool_exhausted', '1']);
    expect(answer.text).toContain('`connections`');
    held.abort();
  });

  it('lets a second key have its turn, however many requests the first one has in the line', async () => {
    const order: string[] = [];
    const gate = Promise.withResolvers<void>();
    const running = await start({
      first: async (request, res) => {
        const who = String(request.json['user']);
        if (who === 'holder') await gate.promise;
        else order.push(who);
        json(res, openaiReply('hi'));
      },
      server: { limits: { connections: 1 } },
    });
    const send = (user: string, key: string) =>
      chat(running, { model: '@first/m', user }, { 'x-gateway-api-key': key });
    const holder = send('holder', KEY);
    await until(() => running.first.seen.length === 1, 'the connection is in use');
    const waiting = async (count: number) =>
      expect
        .poll(() => seriesOf(running, 'upstream_pool_waiting '))
        .toEqual([`gatehouse_upstream_pool_waiting ${count}`]);
    const greedy = Array.from({ length: 20 }, () => send('greedy', KEY));
    await waiting(20);
    const modest = send('modest', OTHER_KEY);
    await waiting(21);
    gate.resolve();
    expect(new Set((await Promise.all([holder, modest, ...greedy])).map(({ status }) => status))).toEqual(
      new Set([200]),
    );
    expect(order.slice(0, 2)).toContain('modest');
  });

  it('is left at once by a client that leaves', async () => {
    const running = await start({ first: streaming, connections: 1 });
    const clients = Array.from({ length: 6 }, () => new AbortController());
    const sent = clients.map(({ signal }) => open(running, signal));
    const waiting = (count: number) =>
      expect
        .poll(() => seriesOf(running, 'upstream_pool_waiting '))
        .toEqual([`gatehouse_upstream_pool_waiting ${count}`]);
    await sent[0];
    await waiting(5);
    for (const client of clients.slice(1)) client.abort();
    await Promise.allSettled(sent);
    await waiting(0);
    expect(running.first.seen.length).toBe(1);
    clients[0]!.abort();
  });

  it('has by default as many connections as requests may be under way', async () => {
    const running = await start({ first: streaming, server: { limits: { in_flight: 300, in_flight_per_key: 300 } } });
    const clients = Array.from({ length: 280 }, () => new AbortController());
    await Promise.all(clients.map(({ signal }) => open(running, signal)));
    expect(running.first.seen.length).toBe(280);
    expect(await seriesOf(running, 'upstream_pool_wait_seconds_count')).toEqual([]);
    for (const client of clients) client.abort();
  });
});

/** A stream from the first upstream, until the client leaves. */
const open = ({ gateway }: Running, signal: AbortSignal): Promise<Response> =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    signal,
    headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY },
    body: JSON.stringify({ model: '@first/m', messages: [{ role: 'user', content: 'hi' }], stream: true }),
  });

describe('the web page of a vendor’s front end', () => {
  const PAGE =
    '<!DOCTYPE html>\n<html><head><title>503 Service Unavailable</title></head><body><h1>Try again</h1><p>ray 7f3a</p></body></html>';
  const CHAT = { messages: [{ role: 'user', content: 'hi' }] };
  const doors: readonly (readonly [string, string, object])[] = [
    ['chat', '/v1/chat/completions', CHAT],
    ['Messages', '/v1/messages', { ...CHAT, max_tokens: 9 }],
    ['Responses', '/v1/responses', { input: 'hi' }],
    ['Gemini', '/v1beta/models/MODEL:generateContent', { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }],
    ['embeddings', '/v1/embeddings', { input: 'hi' }],
  ];
  const entries = (url: string): readonly object[] => [
    { slug: 'openai', provider: 'openai', base_url: `${url}/v1`, api_key: 'k'.repeat(20), allow_insecure: true },
    { slug: 'claude', provider: 'anthropic', base_url: url, api_key: 'k'.repeat(20), allow_insecure: true },
    { slug: 'gemini', provider: 'google-ai-studio', base_url: url, api_key: 'k'.repeat(20), allow_insecure: true },
  ];
  const models = { openai: 'gpt-4o', claude: 'claude-sonnet-4-5', gemini: 'gemini-2.5-flash' };
  const rows = doors.flatMap(([door, path, body]) =>
    Object.entries(models)
      .filter(([slug]) => door !== 'embeddings' || slug === 'openai')
      .flatMap(([slug, model]) =>
        (door === 'embeddings' ? [false] : [false, true]).map(
          (stream) => [door, `@${slug}/${model}`, stream, path, body] as const,
        ),
      ),
  );

  it.each(rows)('is no message of a client: %s, %s, stream %s', async (_door, model, stream, path, body) => {
    const { gateway } = await start({
      first: (_request, res) => void res.writeHead(503, { 'content-type': 'text/html' }).end(PAGE),
      entries,
    });
    const at = path
      .replace('MODEL', model)
      .replace('generateContent', stream ? 'streamGenerateContent' : 'generateContent');
    const response = await fetch(gateway.url + at, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY },
      body: JSON.stringify({ ...body, ...(!path.includes('MODEL') && { model, stream }) }),
    });
    const text = await response.text();
    expect([response.status, text]).toEqual([
      expect.toBeOneOf([503, 529]),
      expect.stringContaining('503 Service Unavailable'),
    ]);
    expect(text).not.toMatch(/<html|<title|DOCTYPE|ray 7f3a/i);
    expect(gateway.logText()).toContain('ray 7f3a');
  });
});
