import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import OpenAI from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/kernel/system-clock.ts';
import { startGateway } from '../../src/core/process/gateway.ts';
import { KEY, until, writeSettings, type TestGateway, type TestSettings } from '../support/gateway.ts';
import { startPair } from '../support/pair.ts';
import {
  anthropicEvents,
  anthropicReply,
  entriesFor,
  json,
  openaiChunk,
  openaiReply,
  sse,
  type Script,
  type ScriptedUpstream,
} from '../support/upstream.ts';

const KEYS = { a: 'key-a-0123456789', b: 'key-b-0123456789', limited: 'key-limited-0123456789' };
const CLAUDE = '@claude/claude-3-5-haiku-20241022';
const messages = [{ role: 'user' as const, content: 'hi' }];
const CACHED = { cache: { mode: 'exact', max_age: 60 } };

let upstream: ScriptedUpstream;
let gateway: TestGateway;
/** Milliseconds that the gateway's clock is ahead of the system's. */
let ahead = 0;
afterEach(() => {
  ahead = 0;
});

async function start(script: Script, gatewayConfigs: TestSettings['gateway'] = {}, server: object = {}): Promise<void> {
  ({ upstream, gateway } = await startPair(script, {
    server: { default_config: 'cached', ...server },
    keys: {
      keys: [
        { id: 'a', key: `\${env:NONE:-${KEYS.a}}` },
        { id: 'b', key: `\${env:NONE:-${KEYS.b}}` },
        { id: 'limited', key: `\${env:NONE:-${KEYS.limited}}`, models: ['other-model'] },
      ],
    },
    gateway: { cached: CACHED, ...gatewayConfigs },
    options: {
      clock: {
        ...systemClock,
        now: () => systemClock.now() + ahead,
        wall: () => systemClock.wall() + ahead,
      },
    },
  }));
}

/** Answers with the number of the call, in the format and the form that was asked for. */
const counting: Script = (request, res, index) => {
  const text = `answer ${index + 1}`;
  const stream = request.json['stream'] === true;
  if (request.url.includes('/messages'))
    return stream ? sse(res, anthropicEvents(text)) : json(res, anthropicReply(text));
  return stream
    ? sse(res, [openaiChunk({ role: 'assistant', content: text }), openaiChunk({}, 'stop'), 'data: [DONE]\n\n'])
    : json(res, openaiReply(text));
};

type Body = Partial<OpenAI.ChatCompletionCreateParams> & Record<string, unknown>;

const clientOf = (key: keyof typeof KEYS = 'a'): OpenAI =>
  new OpenAI({ apiKey: KEYS[key], baseURL: `${gateway.url}/v1`, maxRetries: 0 });

interface Answer {
  readonly status: string | null;
  readonly text: string;
  readonly headers: Headers;
}

interface AskOptions {
  readonly key?: keyof typeof KEYS;
  readonly headers?: Record<string, string>;
}

/** A plain request through the SDK. */
async function ask(body: Body = {}, { key, headers = {} }: AskOptions = {}): Promise<Answer> {
  const { data, response } = await clientOf(key)
    .chat.completions.create({ model: '@openai/m', messages, ...body, stream: false }, { headers })
    .withResponse();
  return {
    status: response.headers.get('x-gateway-cache-status'),
    text: data.choices[0]?.message.content ?? '',
    headers: response.headers,
  };
}

/** A stream through the SDK, read to its end. */
async function stream(body: Body = {}, { key, headers = {} }: AskOptions = {}) {
  const { data, response } = await clientOf(key)
    .chat.completions.create({ model: '@openai/m', messages, ...body, stream: true }, { headers })
    .withResponse();
  const chunks: OpenAI.ChatCompletionChunk[] = [];
  for await (const chunk of data) chunks.push(chunk);
  return {
    status: response.headers.get('x-gateway-cache-status'),
    text: chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join(''),
    usage: chunks.map(({ usage }) => usage).find((usage) => usage),
    headers: response.headers,
  };
}

const metric = async (line: string): Promise<number> => {
  const text = await (await fetch(`${gateway.statusUrl}/metrics`)).text();
  const found = text.split('\n').find((one) => one.startsWith(`${line} `));
  return found === undefined ? NaN : Number(found.split(' ').at(-1));
};

describe('a kept reply', () => {
  it('answers the same request again, with its age, until it is too old', async () => {
    await start(counting);
    const first = await ask();
    expect([first.status, first.headers.get('age')]).toEqual(['MISS', null]);
    ahead = 59_000;
    const second = await ask();
    expect([second.status, second.text]).toEqual(['HIT', 'answer 1']);
    expect(Number(second.headers.get('age'))).toBeGreaterThanOrEqual(59);
    expect(second.headers.get('x-gateway-provider')).toBe('openai');
    expect(second.headers.get('x-gateway-retry-attempt-count')).toBe('0');
    expect(second.headers.get('x-gateway-request-id')).not.toBe(first.headers.get('x-gateway-request-id'));
    ahead = 61_000;
    expect(await ask()).toMatchObject({ status: 'MISS', text: 'answer 2' });
    expect(upstream.seen).toHaveLength(2);
  });

  it('is one entry for requests whose top-level keys stand in another order', async () => {
    await start(counting);
    const post = (body: string) =>
      fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${KEYS.a}` },
        body,
      });
    const one = await post(`{"model":"@openai/m","messages":${JSON.stringify(messages)}}`);
    const other = await post(`{ "messages": ${JSON.stringify(messages)},"model":"@openai/m" }`);
    expect(other.headers.get('x-gateway-cache-status')).toBe('HIT');
    expect(await other.text()).toBe(await one.text());
  });

  it('is in metrics and the access line, and is no use of an upstream', async () => {
    await start(counting);
    await ask();
    await ask();
    await until(() => gateway.logs.filter(({ cache }) => cache !== undefined).length === 2, 'both lines are written');
    expect(gateway.logs.flatMap(({ cache, tokens }) => (cache ? [[cache, tokens !== undefined]] : []))).toEqual([
      ['miss', true],
      ['hit', false],
    ]);
    const model = 'provider="openai",request_model="__other__",operation="chat"';
    expect(await metric('gatehouse_cache_requests_total{mode="exact",result="hit"}')).toBe(1);
    expect(await metric(`gatehouse_upstream_attempts_total{${model},outcome="success",error_type="",key_id="a"}`)).toBe(
      1,
    );
    expect(await metric(`gatehouse_tokens_total{${model},type="input",key_id="a"}`)).toBe(3);
    expect(await metric('gatehouse_cache_entries')).toBe(1);
    expect(await metric('gatehouse_cache_size_bytes')).toBeGreaterThan(100);
  });

  it('is replaced by a forced refresh', async () => {
    await start(counting);
    await ask();
    const headers = { 'x-gateway-cache-force-refresh': 'true' };
    expect(await ask({}, { headers })).toMatchObject({ status: 'REFRESH', text: 'answer 2' });
    expect(await ask()).toMatchObject({ status: 'HIT', text: 'answer 2' });
  });

  it('is not for another namespace', async () => {
    await start(counting);
    await ask();
    const headers = { 'x-gateway-cache-namespace': 'team-1' };
    expect(await ask({}, { headers })).toMatchObject({ status: 'MISS', text: 'answer 2' });
    expect(await ask({}, { headers })).toMatchObject({ status: 'HIT', text: 'answer 2' });
    await expect(ask({}, { headers: { 'x-gateway-cache-namespace': 'team 1' } })).rejects.toMatchObject({
      status: 400,
      code: 'invalid_header',
    });
  });

  it.each<[string, Body, AskOptions]>([
    ['another tenant', {}, { key: 'b' }],
    ['another model', { model: '@openai/n' }, {}],
    ['another catalog entry', { model: CLAUDE, max_tokens: 5 }, {}],
    ['the other compliance flag', {}, { headers: { 'x-gateway-strict-open-ai-compliance': 'false' } }],
    ['the strict-params flag', {}, { headers: { 'x-gateway-strict-params': 'true' } }],
    ['another parameter', { seed: 1 }, {}],
    ['a number that only a double takes for the same', { seed: 9_007_199_254_740_992 }, {}],
  ])('is never for %s', async (_, body, options) => {
    await start(counting);
    await ask({ max_tokens: 5 });
    expect(await ask(body, options)).toMatchObject({ status: 'MISS', text: 'answer 2' });
    expect(await ask(body, options)).toMatchObject({ status: 'HIT', text: 'answer 2' });
  });

  it('is for all keys of a config that says so', async () => {
    await start(counting, { open: { cache: { mode: 'exact', scope: 'config' } } });
    const headers = { 'x-gateway-config': 'open' };
    await ask({}, { headers });
    expect(await ask({}, { key: 'b', headers })).toMatchObject({ status: 'HIT', text: 'answer 1' });
    // Who may share may not therefore use what it may not use.
    await expect(ask({}, { key: 'limited', headers })).rejects.toMatchObject({
      status: 403,
      code: 'model_not_allowed',
    });
  });

  it('is another one after an override has changed, or a forwarded header', async () => {
    await start(counting, {
      warm: { ...CACHED, override_params: { temperature: 1 } },
      cold: { ...CACHED, override_params: { temperature: 0 } },
      tenants: { ...CACHED, forward_headers: ['x-tenant'] },
    });
    const by = (config: string, more: Record<string, string> = {}) =>
      ask({}, { headers: { 'x-gateway-config': config, ...more } });
    await by('warm');
    expect((await by('cold')).status).toBe('MISS');
    expect((await by('warm')).status).toBe('HIT');
    expect((await by('tenants', { 'x-tenant': 'one' })).status).toBe('MISS');
    expect((await by('tenants', { 'x-tenant': 'two' })).status).toBe('MISS');
    expect((await by('tenants', { 'x-tenant': 'one' })).status).toBe('HIT');
  });

  it('tells again what its target could not express', async () => {
    await start(counting);
    const body = { model: CLAUDE, max_tokens: 5, seed: 7 };
    const lost = (await ask(body)).headers.get('x-gateway-dropped-params');
    expect(lost).toBe('seed');
    const hit = await ask(body);
    expect([hit.status, hit.headers.get('x-gateway-dropped-params')]).toEqual(['HIT', lost]);
  });

  it('is not asked for where the config has no cache', async () => {
    await start(counting, { plain: {} });
    const headers = { 'x-gateway-config': 'plain' };
    await ask({}, { headers });
    expect(await ask({}, { headers })).toMatchObject({ status: null, text: 'answer 2' });
  });
});

describe('a reload of the settings', () => {
  it('leaves the kept replies where they are, unless it changes the memory for them', async () => {
    await start(counting);
    const dir = writeSettings({ catalog: { providers: entriesFor(upstream.url) }, gateway: { it: CACHED } });
    const other = await startGateway({ configs: dir, env: {}, logTo: { write: () => {} } });
    const status = async (): Promise<string | null> => {
      const response = await fetch(`${other.data.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY, 'x-gateway-config': 'it' },
        body: JSON.stringify({ model: '@openai/m', messages }),
      });
      await response.text();
      return response.headers.get('x-gateway-cache-status');
    };
    const reload = async (file: string, text: object): Promise<void> => {
      writeFileSync(join(dir, file), JSON.stringify(text));
      await other.reload();
    };
    try {
      expect([await status(), await status()]).toEqual(['MISS', 'HIT']);
      await reload('gateway/it.yaml', { ...CACHED, name: 'the same cache' });
      expect(await status()).toBe('HIT');
      const listen = { host: '127.0.0.1', port: 0 };
      await reload('server.yaml', { listen, status: listen, admin: { port: 0 }, cache: { max_bytes: '1MiB' } });
      expect([await status(), await status()]).toEqual(['MISS', 'HIT']);
    } finally {
      await other.close();
      rmSync(dir, { recursive: true, force: true });
    }
  });
});

describe('a kept stream and a kept plain reply', () => {
  it.each([['@openai/m'], [CLAUDE]])('stand in for each other, by %s', async (model) => {
    await start(counting);
    const body = { model, max_tokens: 5 };
    const include = { ...body, stream_options: { include_usage: true } };
    expect(await stream(body)).toMatchObject({ status: 'MISS', text: 'answer 1', usage: undefined });
    const again = await stream(body);
    expect(again).toMatchObject({ status: 'HIT', text: 'answer 1', usage: undefined });
    expect(again.headers.get('content-type')).toContain('text/event-stream');
    expect(await ask(body)).toMatchObject({ status: 'HIT', text: 'answer 1' });
    expect((await stream(include)).status).toBe('HIT');

    const other = { ...body, seed: 2, model: '@openai/m' };
    expect(await ask(other)).toMatchObject({ status: 'MISS', text: 'answer 2' });
    expect(await stream(other)).toMatchObject({ status: 'HIT', text: 'answer 2', usage: undefined });
    expect(await stream({ ...other, ...include, ...other })).toMatchObject({
      status: 'HIT',
      text: 'answer 2',
      usage: { prompt_tokens: 3, completion_tokens: 2 },
    });
    expect(upstream.seen).toHaveLength(2);
  });

  it('have a usage chunk only for clients that request one', async () => {
    await start(counting);
    const body = { model: CLAUDE, max_tokens: 5 };
    const include = { ...body, stream_options: { include_usage: true } };
    expect((await stream(body)).usage).toBeUndefined();
    expect(await stream(include)).toMatchObject({ status: 'HIT', usage: { prompt_tokens: 3, completion_tokens: 2 } });
    const refreshed = await stream(include, { headers: { 'x-gateway-cache-force-refresh': 'true' } });
    expect(refreshed).toMatchObject({ status: 'REFRESH', usage: { prompt_tokens: 3 } });
    expect(await stream(body)).toMatchObject({ status: 'HIT', usage: undefined });
  });
});

describe('what is never kept', () => {
  it('an error', async () => {
    await start((request, res, index) =>
      index === 0 ? json(res, { error: { message: 'no', type: 'server_error' } }, 500) : counting(request, res, index),
    );
    await expect(ask()).rejects.toMatchObject({ status: 500 });
    expect(await ask()).toMatchObject({ status: 'MISS', text: 'answer 2' });
    expect((await ask()).status).toBe('HIT');
  });

  it('a stream that was cut, or in which the upstream failed', async () => {
    const failed = { type: 'error', error: { type: 'overloaded_error', message: 'busy' } };
    await start((request, res, index) => {
      const events = anthropicEvents('half', ' whole');
      if (index === 0) return sse(res, [...events.slice(0, 3), null]);
      if (index === 1) return sse(res, [...events.slice(0, 4), failed]);
      return counting(request, res, index);
    });
    const body = { model: CLAUDE, max_tokens: 5 };
    for (const _ of [1, 2]) await expect(stream(body)).rejects.toThrow();
    expect(await stream(body)).toMatchObject({ status: 'MISS', text: 'answer 3' });
    expect((await stream(body)).status).toBe('HIT');
  });

  it('a stream whose client left midway', async () => {
    await start(async (request, res, index) => {
      if (index > 0) return counting(request, res, index);
      await sse(res, [openaiChunk({ role: 'assistant', content: 'one' })], false);
      await new Promise((resolve) => res.once('close', resolve));
    });
    const { data } = await clientOf()
      .chat.completions.create({ model: '@openai/m', messages, stream: true })
      .withResponse();
    for await (const _ of data) break;
    await until(() => upstream.seen[0]?.aborted === true, 'the upstream is left too');
    expect(await stream()).toMatchObject({ status: 'MISS', text: 'answer 2' });
  });

  it('a reply that is larger than an entry may be', async () => {
    await start((_, res) => json(res, openaiReply('x'.repeat(2000))), {}, { cache: { max_entry_bytes: '2KiB' } });
    await ask();
    expect((await ask()).status).toBe('MISS');
    expect(await metric('gatehouse_cache_entries')).toBe(0);
  });

  it('a completion that its upstream shall store', async () => {
    await start(counting);
    for (const text of ['answer 1', 'answer 2'])
      expect(await ask({ store: true })).toMatchObject({ status: 'BYPASS', text });
  });

  it('more than there is memory for', async () => {
    await start((_, res) => json(res, openaiReply('x'.repeat(2000))), {}, { cache: { max_bytes: '10KiB' } });
    for (const seed of [1, 2, 3, 4]) await ask({ seed });
    expect((await ask({ seed: 4 })).status).toBe('HIT');
    expect((await ask({ seed: 1 })).status).toBe('MISS');
    expect(await metric('gatehouse_cache_size_bytes')).toBeLessThanOrEqual(10 * 1024);
    expect(await metric('gatehouse_cache_evictions_total')).toBeGreaterThanOrEqual(1);
  });
});

describe('a fallback', () => {
  it('is kept for the target that answered, and never given for the one that had failed', async () => {
    let broken = true;
    await start(
      (request, res, index) =>
        broken && request.url.includes('chat')
          ? json(res, { error: { message: 'busy' } }, 503)
          : counting(request, res, index),
      {
        pair: {
          ...CACHED,
          strategy: { mode: 'fallback' },
          targets: [
            { provider: '@openai', override_params: { model: 'm' } },
            { provider: '@claude', override_params: { model: 'claude-3-5-haiku-20241022' } },
          ],
        },
      },
    );
    const options = { headers: { 'x-gateway-config': 'pair' } };
    const body = { model: 'any', max_tokens: 5 };
    const first = await ask(body, options);
    expect([first.status, first.text, first.headers.get('x-gateway-provider')]).toEqual(['MISS', 'answer 2', 'claude']);
    // The first target is asked again, and only then is there a kept reply.
    const second = await ask(body, options);
    expect([second.status, second.text, second.headers.get('x-gateway-provider')]).toEqual([
      'HIT',
      'answer 2',
      'claude',
    ]);
    expect(upstream.seen).toHaveLength(3);
    broken = false;
    const third = await ask(body, options);
    expect([third.status, third.text, third.headers.get('x-gateway-provider')]).toEqual(['MISS', 'answer 4', 'openai']);
  });
});

describe('the same plain request from many at once', () => {
  /** An upstream that answers when `release` is called. */
  async function startSlow() {
    let release = (): void => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    await start(async (request, res, index) => {
      await Promise.race([released, new Promise((resolve) => res.once('close', resolve))]);
      if (!res.destroyed) await counting(request, res, index);
    });
    return { release };
  }
  const inFlight = () => metric('gatehouse_requests_in_flight{route="/v1/chat/completions"}');
  const arrived = async (count: number): Promise<void> => {
    while (!((await inFlight()) >= count)) await new Promise((resolve) => setImmediate(resolve));
  };

  it('is one call to the upstream', async () => {
    const { release } = await startSlow();
    const all = Array.from({ length: 50 }, () => ask());
    await arrived(50);
    release();
    const answers = await Promise.all(all);
    expect(upstream.seen).toHaveLength(1);
    expect(new Set(answers.map(({ text }) => text))).toEqual(new Set(['answer 1']));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([
      'MISS',
      ...Array.from({ length: 49 }, () => 'SHARED'),
    ]);
    expect(await metric('gatehouse_cache_requests_total{mode="exact",result="shared"}')).toBe(49);
  });

  it('goes on for the others when the client that came first leaves', async () => {
    const { release } = await startSlow();
    const leaving = new AbortController();
    const first = clientOf().chat.completions.create({ model: '@openai/m', messages }, { signal: leaving.signal });
    first.catch(() => undefined);
    await until(() => upstream.seen.length === 1, 'the first has asked');
    const others = [ask(), ask(), ask()];
    await arrived(4);
    leaving.abort();
    await expect(first).rejects.toThrow();
    await until(() => upstream.seen.length === 2, 'another asks in its place');
    release();
    const answers = await Promise.all(others);
    expect(answers.map(({ text }) => text)).toEqual(['answer 2', 'answer 2', 'answer 2']);
    expect(answers.map(({ status }) => status).toSorted()).toEqual(['MISS', 'SHARED', 'SHARED']);
    expect(upstream.seen).toHaveLength(2);
  });

  it('counts neither a hit nor a miss for a request that is refused before any call', async () => {
    await start(counting);
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEYS.a, 'x-gateway-strict-params': 'true' },
      body: JSON.stringify({ model: CLAUDE, max_tokens: 5, seed: 1, messages }),
    });
    expect([response.status, response.headers.get('x-gateway-cache-status')]).toEqual([400, null]);
    expect(upstream.seen).toEqual([]);
  });
});
