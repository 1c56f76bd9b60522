import { afterEach, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, until, type TestGateway, type TestSettings } from '../support/gateway.ts';
import {
  anthropicEvents,
  anthropicReply,
  entriesFor,
  json,
  openaiChunk,
  openaiReply,
  sse,
  startUpstream,
  type Script,
  type ScriptedUpstream,
} from '../support/upstream.ts';

/** Retry, fallback and timeouts together: the remaining time of a request, the next target, and the client's error. */
let upstream: ScriptedUpstream;
let gateway: TestGateway;
afterEach(async () => {
  await gateway.close();
  await upstream.close();
});

async function start(script: Script, one: object, settings: TestSettings = {}): Promise<void> {
  upstream = await startUpstream(script);
  const catalog = { providers: entriesFor(upstream.url) };
  gateway = await startTestGateway({ catalog, gateway: { it: one }, ...settings });
}

const HAIKU = 'claude-3-5-haiku-20241022';
const messages = [{ role: 'user', content: 'hi' }];
const openai = (model: string, more: object = {}) => ({ provider: '@openai', override_params: { model }, ...more });
const fallback = (...targets: readonly object[]) => ({ strategy: { mode: 'fallback' }, targets });
/** Which models the upstream was asked for, in order. */
const asked = (): unknown[] => upstream.seen.map(({ json: body }) => body['model']);

/** By the model that is asked for. */
const by =
  (scripts: Readonly<Record<string, Script>>): Script =>
  (request, res, index) =>
    scripts[String(request.json['model'])]!(request, res, index);
const says =
  (content: string, model: string): Script =>
  (request, res) =>
    request.json['stream'] === true
      ? sse(res, [
          { ...openaiChunk({ role: 'assistant', content }), model },
          { ...openaiChunk({}, 'stop'), model },
          'data: [DONE]\n\n',
        ])
      : json(res, openaiReply(content, { model }));
const fails =
  (status: number, error: object = {}, headers: Record<string, string> = {}): Script =>
  (_, res) =>
    json(res, { error: { message: `no ${status}`, ...error } }, status, headers);
const silent: Script = () => {};

async function post(path: string, body: object, headers: Record<string, string> = {}) {
  const response = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY, 'x-gateway-config': 'it', ...headers },
    body: JSON.stringify({ model: 'asked', max_tokens: 5, messages, ...body }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text };
}
const chat = (body: object = {}, headers: Record<string, string> = {}) => post('/v1/chat/completions', body, headers);

/** Samples of one metric: the text of its labels, and its value. */
async function samples(name: string): Promise<[string, number][]> {
  const text = await (await fetch(`${gateway.statusUrl}/metrics`)).text();
  return [...text.matchAll(new RegExp(`^${name}\\{(.*)\\} (\\S+)$`, 'gm'))].map(([, labels, value]) => [
    labels!,
    Number(value),
  ]);
}

describe('after a fallback the reply names the model that answered', () => {
  const claudeFirst = fallback({ provider: '@claude', override_params: { model: HAIKU } }, openai('gpt-b'));
  const openaiFirst = fallback(openai('gpt-b'), { provider: '@claude', override_params: { model: HAIKU } });
  const toClaude: Script = (request, res, index) => {
    if (!request.url.includes('messages')) return fails(503)(request, res, index);
    return request.json['stream'] === true
      ? sse(res, anthropicEvents('Hel', 'lo'))
      : json(res, anthropicReply('Hello'));
  };
  const toOpenai: Script = (request, res, index) =>
    request.url.includes('messages')
      ? fails(529)(request, res, index)
      : says('Hello', 'gpt-b-2026')(request, res, index);

  it.each([
    ['chat completions', '/v1/chat/completions', openaiFirst, toClaude, 'claude', HAIKU],
    ['chat completions', '/v1/chat/completions', claudeFirst, toOpenai, 'openai', 'gpt-b-2026'],
    ['messages', '/v1/messages', openaiFirst, toClaude, 'claude', HAIKU],
    ['messages', '/v1/messages', claudeFirst, toOpenai, 'openai', 'gpt-b-2026'],
  ])('on %s (%s), plain and in a stream', async (_, path, config, script, provider, model) => {
    await start(script, config);
    for (const stream of [false, true]) {
      const { status, headers, text } = await post(path, { stream });
      expect(status).toBe(200);
      expect([headers.get('x-gateway-provider'), headers.get('x-gateway-last-used-option-index')]).toEqual([
        provider,
        'config.targets[1]',
      ]);
      expect(new Set([...text.matchAll(/"model":"([^"]*)"/g)].map(([, named]) => named))).toEqual(new Set([model]));
    }
  });
});

describe('tokens are those that an upstream has told', () => {
  /** By the model's label. */
  async function tokens(): Promise<Record<string, Record<string, number>>> {
    const found = (await samples('gatehouse_tokens_total')).filter(([, value]) => value > 0);
    const byModel: Record<string, Record<string, number>> = {};
    for (const [labels, value] of found) {
      const [, model] = /request_model="([^"]*)"/.exec(labels)!;
      (byModel[model!] ??= {})[/type="(\w+)"/.exec(labels)![1]!] = value;
    }
    return byModel;
  }

  it('none of tries that were refused, and the winner’s once', async () => {
    const retry = { attempts: 2, min_delay: 1 };
    const last = { provider: '@claude', override_params: { model: HAIKU } };
    await start(
      (request, res, index) =>
        request.url.includes('messages') ? json(res, anthropicReply('ok')) : fails(503)(request, res, index),
      fallback(openai('gpt-a', { retry }), last),
    );
    expect((await chat()).status).toBe(200);
    expect(asked()).toEqual(['gpt-a', 'gpt-a', 'gpt-a', HAIKU]);
    await expect.poll(tokens).toEqual({ [HAIKU]: { input: 3, output: 2 } });
  });

  it('none of an attempt whose stream broke before its content, whatever it had told by then', async () => {
    const cut: Script = (_, res) => sse(res, [...anthropicEvents('x').slice(0, 2), null]);
    await start(
      (request, res, index) => (request.url.includes('messages') ? cut : says('ok', 'gpt-b'))(request, res, index),
      fallback({ provider: '@claude', override_params: { model: HAIKU } }, openai('gpt-b')),
    );
    // The head of Anthropic's stream tells how long the prompt is. The winner tells nothing.
    expect((await chat({ stream: true })).text).toContain('ok');
    await expect
      .poll(async () => (await samples('gatehouse_fallbacks_total')).some(([, value]) => value > 0))
      .toBe(true);
    expect(await tokens()).toEqual({});
  });
});

describe('a silent upstream', () => {
  const timeouts = { first_byte: 60 };
  const retry = { attempts: 3, min_delay: 1 };

  it('is not retried if another target exists', async () => {
    await start(by({ a: silent, b: says('rescued', 'b') }), fallback(openai('a', { timeouts, retry }), openai('b')));
    expect((await chat()).text).toContain('rescued');
    expect(asked()).toEqual(['a', 'b']);
    await until(() => upstream.seen[0]!.aborted, 'the silent one was let go');
  });

  it('is retried if no other target exists', async () => {
    await start((request, res, index) => (index === 0 ? undefined : says('late', 'a')(request, res, index)), {
      ...openai('a'),
      timeouts,
      retry,
    });
    expect((await chat()).text).toContain('late');
    expect(asked()).toEqual(['a', 'a']);
  });

  it('that opens a stream and sends nothing but comments fails over by first_content', async () => {
    const pinging: Script = (_, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      const timer = setInterval(() => res.write(': ping\n\n'), 5);
      res.on('close', () => clearInterval(timer));
    };
    await start(
      by({ a: pinging, b: says('rescued', 'b') }),
      fallback(openai('a', { timeouts: { first_content: 60 }, retry }), openai('b')),
    );
    const { text } = await chat({ stream: true });
    expect(text).toContain('rescued');
    expect(text).not.toContain('ping');
    expect(asked()).toEqual(['a', 'b']);
  });
});

describe('a retry-after', () => {
  const retry = { attempts: 2, min_delay: 1, max_delay: '20s' };

  it('that the request has no time for means failing over at once', async () => {
    await start(by({ a: fails(429, {}, { 'retry-after': '19' }), b: says('ok', 'b') }), {
      ...fallback(openai('a', { retry }), openai('b')),
      deadline: '10s',
    });
    expect((await chat()).text).toContain('ok');
    expect(asked()).toEqual(['a', 'b']);
  });

  it('that the request has no time for reaches the client at once if no other target exists', async () => {
    await start(fails(429, {}, { 'retry-after': '19' }), { ...openai('a'), retry });
    const { status, headers } = await chat({}, { 'x-gateway-request-timeout': '10000' });
    expect([status, headers.get('retry-after'), asked()]).toEqual([429, '19', ['a']]);
  });

  it('longer than `max_delay` means failing over at once', async () => {
    await start(
      by({ a: fails(429, {}, { 'retry-after': '60' }), b: says('ok', 'b') }),
      fallback(openai('a', { retry: { ...retry, max_delay: '10ms' } }), openai('b')),
    );
    expect((await chat()).text).toContain('ok');
    expect(asked()).toEqual(['a', 'b']);
  });

  it('that fits is waited for, also if another target exists', async () => {
    await start(
      (request, res, index) =>
        (index === 0 ? fails(429, {}, { 'retry-after-ms': '30' }) : says('ok', 'a'))(request, res, index),
      fallback(openai('a', { retry }), openai('b')),
    );
    expect((await chat()).text).toContain('ok');
    expect(asked()).toEqual(['a', 'a']);
  });
});

describe('the deadline of a request', () => {
  const both = fallback(openai('a'), openai('b'), openai('c'));
  const expected = {
    status: 504,
    text: expect.stringMatching(/"code":"timeout_request"/) as string,
  };

  it.each<[string, object, Record<string, string>, TestSettings, string]>([
    ['a gateway config', { ...both, deadline: 800 }, {}, {}, '800 ms'],
    ['the server', both, {}, { server: { deadline: 800 } }, '800 ms'],
    ['a header of the caller’s', both, { 'x-gateway-request-timeout': '800' }, {}, '800 ms'],
    [
      'the header where the config says more',
      { ...both, deadline: '30s' },
      { 'x-gateway-request-timeout': '800' },
      {},
      '800 ms',
    ],
    [
      'the config where the header says more',
      { ...both, deadline: 800 },
      { 'x-gateway-request-timeout': '30000' },
      {},
      '800 ms',
    ],
  ])('can be set by %s; after it no other target is tried', async (_, config, headers, settings, length) => {
    await start(silent, config, settings);
    const answer = await chat({}, headers);
    expect(answer).toMatchObject(expected);
    expect(answer.text).toContain(`deadline of ${length}`);
    expect(asked()).toEqual(['a']);
    await until(() => upstream.seen[0]!.aborted, 'the upstream was let go');
  });

  it('is what a fallback has left of it, not a time of its own', async () => {
    await start(by({ a: silent, b: silent }), {
      ...fallback(openai('a', { request_timeout: 300 }), openai('b', { request_timeout: '30s' })),
      deadline: 2000,
    });
    expect(await chat()).toMatchObject(expected);
    expect(asked()).toEqual(['a', 'b']);
  });

  it('leaves the nearer total of a target its own name and its fallback', async () => {
    await start(by({ a: silent, b: says('ok', 'b') }), {
      ...fallback(openai('a', { request_timeout: 50 }), openai('b')),
      deadline: '20s',
    });
    expect((await chat()).text).toContain('ok');
  });

  it.each([
    ['/v1/chat/completions', /data: \{"error":\{[^\n]*"timeout_request"/],
    ['/v1/messages', /event: error\ndata: \{"type":"error"[^\n]*deadline/],
  ])('ends a stream that has begun on %s with one error event', async (path, event) => {
    await start((_, res) => sse(res, [openaiChunk({ role: 'assistant', content: 'Hel' })], false), {
      ...openai('a'),
      deadline: 1500,
    });
    const { status, text } = await post(path, { stream: true });
    expect(status).toBe(200);
    expect(text).toContain('Hel');
    expect(text).toMatch(event);
    expect(text.split('\n\n').filter((one) => one.includes('"error"'))).toHaveLength(1);
    expect(text).not.toMatch(/\[DONE\]|message_stop/);
    await until(() => upstream.seen[0]!.aborted, 'the upstream was let go');
  });

  it('is refused where it is no number', async () => {
    await start(silent, both);
    expect(await chat({}, { 'x-gateway-request-timeout': '30s' })).toMatchObject({
      status: 400,
      text: expect.stringContaining('x-gateway-request-timeout must be a whole number of milliseconds') as string,
    });
  });
});

describe('a prompt that a model refuses', () => {
  const tooLong = fails(400, { code: 'context_length_exceeded', type: 'invalid_request_error' });
  const filtered = fails(400, { code: 'content_filter' });

  it('as too long goes to another, larger model, and to none that is no larger', async () => {
    await start(
      by({ small: tooLong, large: says('read it all', 'large') }),
      fallback(
        openai('small', { context_window: 8000, retry: { attempts: 3, min_delay: 1, on_status_codes: [400] } }),
        openai('small'),
        openai('tiny', { context_window: 4000 }),
        openai('large', { context_window: 200_000 }),
      ),
    );
    expect((await chat()).text).toContain('read it all');
    expect(asked()).toEqual(['small', 'large']);
  });

  it('as too long reaches the client if no model is larger', async () => {
    await start(tooLong, fallback(openai('small'), openai('small')));
    expect(await chat()).toMatchObject({
      status: 400,
      text: expect.stringContaining('context_length_exceeded') as string,
    });
    expect(asked()).toEqual(['small']);
  });

  it('for its content reaches the client, and goes to another model only if the config says so', async () => {
    const targets = [openai('a'), openai('a'), openai('b')];
    await start(by({ a: filtered, b: says('fine', 'b') }), fallback(...targets), {
      gateway: {
        it: fallback(...targets),
        on: { strategy: { mode: 'fallback', on_errors: ['default', 'content_filter'] }, targets },
      },
    });
    expect(await chat()).toMatchObject({ status: 400, text: expect.stringContaining('content_filter') as string });
    expect((await chat({}, { 'x-gateway-config': 'on' })).text).toContain('fine');
    expect(asked()).toEqual(['a', 'a', 'b']);
  });

  it.each([false, true])(
    'by filtering its whole answer reaches the client, or goes to another model (stream: %s)',
    async (stream) => {
      const blocked: Script = (_, res) =>
        stream
          ? sse(res, [
              openaiChunk({ role: 'assistant', content: '' }),
              openaiChunk({}, 'content_filter'),
              'data: [DONE]\n\n',
            ])
          : json(
              res,
              openaiReply('', {
                choices: [{ index: 0, message: { role: 'assistant', content: null }, finish_reason: 'content_filter' }],
              }),
            );
      const targets = [openai('a'), openai('a'), openai('b')];
      await start(by({ a: blocked, b: says('fine', 'b') }), fallback(...targets), {
        gateway: {
          it: fallback(...targets),
          on: { strategy: { mode: 'fallback', on_errors: ['default', 'content_filter'] }, targets },
        },
      });
      expect(await chat({ stream })).toMatchObject({
        status: 200,
        text: expect.stringContaining('"content_filter"') as string,
      });
      const other = await chat({ stream }, { 'x-gateway-config': 'on' });
      expect(other.text).toContain('fine');
      expect(other.text).not.toContain('content_filter');
      expect(asked()).toEqual(['a', 'a', 'b']);
    },
  );

  it('that is a fallback’s own matter does not hide that the first was only overloaded', async () => {
    const prefill = fails(400, { message: 'This model does not support assistant message prefill.' });
    await start(by({ a: fails(503, {}, { 'retry-after': '7' }), b: prefill }), fallback(openai('a'), openai('b')));
    const { status, headers, text } = await chat();
    expect([status, headers.get('retry-after'), text.includes('prefill')]).toEqual([503, '7', false]);
    expect(headers.get('x-should-retry')).toBe('false');
    expect(asked()).toEqual(['a', 'b']);
  });
});

describe('a stream that fails before its first content', () => {
  it.each<[string, Script]>([
    [
      'with an error as its first event',
      (_, res) => sse(res, [{ error: { message: 'Overloaded', type: 'overloaded_error' } }]),
    ],
    ['by its end', (_, res) => sse(res, [openaiChunk({ role: 'assistant', content: '' })])],
    ['by a reset', (_, res) => sse(res, [openaiChunk({ role: 'assistant', content: '' }), null])],
    ['as HTML', (_, res) => void res.writeHead(200, { 'content-type': 'text/html' }).end('<html>busy</html>')],
  ])('%s goes to the next target, and nothing of it is seen', async (_, script) => {
    await start(by({ a: script, b: says('rescued', 'b') }), fallback(openai('a'), openai('b')));
    const { status, text } = await chat({ stream: true });
    expect([status, asked()]).toEqual([200, ['a', 'b']]);
    expect(text).toContain('rescued');
    expect(text).not.toMatch(/error|busy|"model":"upstream-model"/);
    expect(text.match(/\[DONE\]/g)).toHaveLength(1);
  });
});

describe('a load balance', () => {
  const three = [openai('a'), openai('b'), openai('c')];
  const ok: Script = (request, res, index) => says('ok', String(request.json['model']))(request, res, index);

  it('goes to another target when one fails before its reply has begun', async () => {
    await start(by({ a: fails(500), b: fails(503), c: says('ok', 'c') }), {
      strategy: { mode: 'loadbalance' },
      targets: three,
    });
    for (let round = 0; round < 8; round += 1)
      expect((await chat()).headers.get('x-gateway-last-used-option-index')).toBe('config.targets[2]');
  });

  it('that is sticky keeps a user at one target, and all users at several, at every gateway alike', async () => {
    const sticky = { strategy: { mode: 'loadbalance', sticky: { hash_fields: ['metadata.user'] } }, targets: three };
    await start(ok, sticky);
    const second = await startTestGateway({
      catalog: { providers: entriesFor(upstream.url) },
      gateway: { it: sticky },
    });
    try {
      const users = Array.from({ length: 12 }, (_, index) => `user-${index}`);
      const used = async (): Promise<unknown[]> => {
        const from = upstream.seen.length;
        for (const user of users) await chat({}, { 'x-gateway-metadata': JSON.stringify({ user }) });
        return asked().slice(from);
      };
      const first = await used();
      expect(await used()).toEqual(first);
      expect(new Set(first).size).toBeGreaterThan(1);
      const own = gateway;
      gateway = second;
      expect(await used()).toEqual(first);
      gateway = own;
    } finally {
      await second.close();
    }
  });

  it('that is sticky moves a user on when its target fails, to the same next one each time', async () => {
    const sticky = {
      strategy: { mode: 'loadbalance', sticky: { hash_fields: ['headers.x-session'] } },
      targets: three,
    };
    const down = new Set<unknown>();
    await start(
      (request, res, index) => (down.has(request.json['model']) ? fails(503) : ok)(request, res, index),
      sticky,
    );
    const headers = { 'x-session': 's-1' };
    await chat({}, headers);
    const [home] = asked();
    down.add(home);
    await chat({}, headers);
    await chat({}, headers);
    const [, , next, , again] = asked();
    expect([next === home, again]).toEqual([false, next]);
  });
});
