import { describe, expect, it } from 'vitest';
import { KEY, until } from '../support/gateway.ts';
import { json, openaiChunk, openaiReply, sse, type Script } from '../support/upstream.ts';
import { metricsOf, startOutsideGateway, type OutsideGateway, type OutsidePlugin } from './outside-gateway.ts';

type Level = 'entry' | 'request' | 'attempt';
const LEVELS: readonly Level[] = ['entry', 'request', 'attempt'];

const ok: Script = (_, res) => json(res, openaiReply('hello'));
const stream: Script = (_, res) =>
  sse(res, [
    openaiChunk({ role: 'assistant', content: 'hel' }),
    openaiChunk({ content: 'lo' }),
    openaiChunk({}, 'stop'),
    'data: [DONE]\n\n',
  ]);
const endless: Script = (_, res) => {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  const timer = setInterval(() => res.write(`data: ${JSON.stringify(openaiChunk({ content: 'more ' }))}\n\n`), 2);
  res.on('close', () => clearInterval(timer));
};

const CHAINS = {
  entry: { entry: ['telemetry', 'errors', 'faulty', 'auth', 'body', 'config'] },
  request: { request: ['faulty', 'metadata', 'route'] },
  attempt: { attempt: ['faulty', 'override', 'transform', 'retry', 'send'] },
};

const withPlugin = (
  level: Level,
  plugin: Omit<OutsidePlugin, 'name' | 'level'>,
  upstream = ok,
): Promise<OutsideGateway> =>
  startOutsideGateway({ upstream, plugins: [{ name: 'faulty', level, ...plugin }], chains: CHAINS[level] });

const linesOf = ({ gateway }: OutsideGateway, msg: string) => gateway.logs.filter((line) => line['msg'] === msg);

/** The reply on its way out is the plugin's: \`faults\` is the body of one of its methods. */
const wrapper = (faults: Readonly<Record<string, string>>): string => `
const broken = (message) => { throw new Error(message); };
class Wrapper {
  constructor(inner) { this.inner = inner; }
  open(sink) {
    this.sink = sink;
    ${faults['open'] ?? ''}
    this.inner.open({
      push: (bytes) => { ${faults['push'] ?? ''}; sink.push(bytes); },
      end: () => { ${faults['end'] ?? ''}; sink.end(); },
      fail: (error) => { ${faults['fail'] ?? ''}; sink.fail(error); },
    });
  }
  pause() { ${faults['pause'] ?? ''}; this.inner.pause(); }
  resume() { ${faults['resume'] ?? ''}; this.inner.resume(); }
  cancel(reason) { ${faults['cancel'] ?? ''}; this.inner.cancel(reason); }
}`;
const wrap = (level: Level): string =>
  `await next(); const { reply } = ctx.${level === 'attempt' ? 'attempt' : 'exchange'}; reply.body = new Wrapper(reply.body);`;

describe('a wrapper of a reply that throws', () => {
  const THROWS: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ['in open', { open: `broken('broken in open');` }],
    ['in push', { push: `broken('broken in push')` }],
    ['in an async push', { push: `return Promise.reject(new Error('broken in push'))` }],
    ['what is no error', { push: `throw null` }],
    ['text instead of bytes', { push: `sink.push('text'); return` }],
    ['an error of its own into the sink', { push: `sink.fail(new Error('broken in push')); return` }],
    ['in pause', { pause: `broken('broken in pause')`, push: `this.pause()` }],
  ];

  it.each(LEVELS.flatMap((level) => THROWS.map(([how, faults]) => [level, how, faults] as const)))(
    'in the %s chain, %s, is named in log and record; the client gets one error event, the upstream is let go',
    async (level, _, faults) => {
      await using started = await withPlugin(level, { before: wrapper(faults), body: wrap(level) }, endless);
      const response = await started.chat({ stream: true });
      const text = await response.text();
      expect(text.match(/"error"/g)).toHaveLength(1);
      expect(text).toContain('internal_error');
      expect(text).not.toContain('broken');
      await until(() => started.upstream.seen[0]!.aborted, 'the upstream was let go');
      await until(() => linesOf(started, 'request failed').length > 0, 'the request has ended');
      expect(linesOf(started, "a plugin's stream wrapper failed")).toMatchObject([
        { level: 'error', plugin: 'faulty' },
      ]);
      expect(linesOf(started, 'request failed')).toMatchObject([{ plugin: 'faulty', error_code: 'internal_error' }]);
      expect(await metricsOf(started)).toContain('gatehouse_plugin_failures_total{plugin="faulty",kind="stream"} 1');
    },
  );

  it.each([
    ['end', { end: `broken('broken in end')` }],
    ['fail', { fail: `broken('broken in fail')` }],
  ])('in %s is named, and the client gets one error event', async (where, faults) => {
    const cut: Script = (_, res) => sse(res, [openaiChunk({ role: 'assistant', content: 'hel' }), null]);
    await using started = await withPlugin(
      'request',
      { before: wrapper(faults), body: wrap('request') },
      where === 'end' ? stream : cut,
    );
    const text = await (await started.chat({ stream: true })).text();
    expect(text.match(/"error"/g)).toHaveLength(1);
    await until(() => linesOf(started, 'request failed').length > 0, 'the request has ended');
    expect(linesOf(started, "a plugin's stream wrapper failed")).toMatchObject([
      { plugin: 'faulty', err: { message: `broken in ${where}`, stack: expect.stringContaining('faulty.mjs') } },
    ]);
  });

  it('in cancel is named, and the upstream is let go all the same when the client leaves', async () => {
    const faults = { cancel: `broken('broken in cancel')` };
    await using started = await withPlugin('request', { before: wrapper(faults), body: wrap('request') }, endless);
    const response = await started.chat({ stream: true });
    await response.body!.cancel();
    await until(() => started.upstream.seen[0]!.aborted, 'the upstream was let go');
    expect(linesOf(started, "a plugin's stream wrapper failed")).toMatchObject([{ plugin: 'faulty' }]);
  });

  it('is named where the body is a Node stream of its own that breaks off', async () => {
    const body = `ctx.type = 'text/plain'; ctx.body = (await import('node:stream')).Readable.from((async function* () { yield 'a'; await new Promise((resolve) => setTimeout(resolve, 20)); throw new Error('broken off'); })());`;
    await using started = await withPlugin('request', { body });
    await expect(started.chat().then((response) => response.text())).rejects.toThrow();
    await until(() => linesOf(started, 'request failed').length > 0, 'the request has ended');
    expect(linesOf(started, "a plugin's stream wrapper failed")).toMatchObject([
      { plugin: 'faulty', err: { cause: { message: 'broken off' } } },
    ]);
  });
});

describe('a middleware that throws', () => {
  const THROWN: readonly (readonly [string, string, string])[] = [
    ['an error', `new Error('broken')`, 'broken'],
    ['a string', `'broken'`, 'threw "broken"'],
    ['null', `null`, 'threw null'],
    ['undefined', `undefined`, 'threw undefined'],
    ['an object with getters that throw', `{ get message() { throw new Error('hostile'); } }`, 'threw {'],
    [
      'an error whose message throws',
      `Object.defineProperty(new Error('x'), 'message', { get() { throw new Error('hostile'); } })`,
      '',
    ],
    ['a Proxy', `new Proxy({}, { get() { throw 1; }, getPrototypeOf() { throw 1; } })`, 'threw a Proxy'],
    [
      'a revoked Proxy',
      `(() => { const it = Proxy.revocable({}, {}); it.revoke(); return it.proxy; })()`,
      'threw a Proxy',
    ],
    ['an error of 5 MB', `new Error('x'.repeat(5e6))`, 'xxx'],
    ['an error that causes itself', `(() => { const e = new Error('round'); e.cause = e; return e; })()`, 'round'],
  ];

  it.each(LEVELS.flatMap((level) => THROWN.map((one) => [level, ...one] as const)))(
    'in the %s chain, %s, is logged under the name of its plugin, and the client gets a 500',
    async (level, _, thrown, message) => {
      await using started = await withPlugin(level, { body: `throw ${thrown};` });
      const response = await started.chat();
      expect([response.status, await response.json()]).toMatchObject([500, { error: { code: 'internal_error' } }]);
      await until(() => linesOf(started, 'request failed').length > 0, 'the request has ended');
      const reported = linesOf(started, 'a plugin failed');
      expect(reported).toMatchObject([{ level: 'error', plugin: 'faulty', request_id: expect.any(String) }]);
      expect((reported[0]!['err'] as { readonly message?: string }).message ?? '').toContain(message);
      expect(JSON.stringify(reported).length).toBeLessThan(64 * 1024);
      expect(linesOf(started, 'request failed')).toMatchObject([{ plugin: 'faulty' }]);
      expect(linesOf(started, 'request failed inside the gateway')).toEqual([]);
      const id = response.headers.get('x-gateway-request-id')!;
      expect(started.gateway.gateway.record(id)).toMatchObject({ error: { code: 'internal_error', plugin: 'faulty' } });
    },
  );

  it.each(LEVELS)('in the %s chain is named where it throws `undefined` after `next()`', async (level) => {
    await using started = await withPlugin(level, { body: `await next(); throw undefined;` });
    expect((await started.chat()).status).toBe(500);
    expect(linesOf(started, 'a plugin failed')).toMatchObject([{ plugin: 'faulty' }]);
    expect(linesOf(started, 'request failed inside the gateway')).toEqual([]);
  });

  it('is not blamed for an error of a plugin behind it', async () => {
    const plugins: OutsidePlugin[] = [
      { name: 'around', body: `try { await next(); } finally { ctx.get('x'); }` },
      { name: 'faulty', body: `throw new Error('broken');` },
    ];
    await using started = await startOutsideGateway({
      plugins,
      upstream: ok,
      chains: { request: ['around', 'faulty', 'metadata', 'route'] },
    });
    expect((await started.chat()).status).toBe(500);
    expect(linesOf(started, 'a plugin failed')).toMatchObject([{ plugin: 'faulty' }]);
  });
});

describe('a plugin that leaves something unusable behind', () => {
  const JUNK: readonly (readonly [string, string])[] = [
    ['a reply that is text', `ctx.exchange.reply = 'junk';`],
    ['a reply without headers', `ctx.exchange.reply = { status: 200, body: Buffer.from('') };`],
    [
      'a reply whose getters throw',
      `ctx.exchange.reply = { get status() { throw new Error('hostile'); }, headers: {}, body: Buffer.from('') };`,
    ],
    ['a status that is none', `await next(); ctx.exchange.reply.status = 'fine';`],
    ['a body that is an object', `await next(); ctx.exchange.reply.body = { junk: true };`],
    ['a header that cannot be written', `await next(); ctx.exchange.reply.headers['x-a'] = 'a\\nb';`],
    ['a header without a value', `await next(); ctx.exchange.reply.headers['x-a'] = undefined;`],
    ['a deadline that is no number', `ctx.exchange.deadline = NaN;`],
    ['no cancellation', `ctx.exchange.cancellation = null;`],
  ];

  it.each([
    ['a body that is text', `ctx.attempt.reply.body = 'junk';`],
    ['a body whose traps throw', `ctx.attempt.reply.body = new Proxy({}, { get() { throw new Error('trap'); } });`],
    ['a reply whose traps throw', `ctx.attempt.reply = new Proxy({}, { get() { throw new Error('trap'); } });`],
    ['a header that cannot be written, set by Koa', `ctx.set('x-a', 'a\\nb');`],
    ['a header whose name is none, set by Koa', `ctx.set('x a', 'b');`],
    ['framing of its own', `ctx.attempt.reply.headers['Transfer-Encoding'] = 'chunked';`],
    ['a header twice', `ctx.attempt.reply.headers['Content-Type'] = 'text/plain';`],
  ])('is the one plugin that the log names, and its upstream is let go: %s', async (_, junk) => {
    await using started = await withPlugin('attempt', { body: `await next(); ${junk}` }, endless);
    expect((await started.chat({ stream: true })).status).toBe(500);
    await until(() => started.upstream.seen[0]!.aborted, 'the upstream was let go');
    await until(() => linesOf(started, 'request failed').length > 0, 'the request has ended');
    expect(linesOf(started, 'a plugin failed')).toMatchObject([{ plugin: 'faulty' }]);
    expect(linesOf(started, 'request failed')).toMatchObject([{ plugin: 'faulty' }]);
    expect(linesOf(started, 'request failed inside the gateway')).toEqual([]);
  });

  it.each(LEVELS.flatMap((level) => [`ctx.set`, `ctx.res.setHeader`].map((way) => [way, level] as const)))(
    'cannot set framing of its own by %s in the %s chain',
    async (way, level) => {
      const junk = `if (ctx.get('x-junk')) ${way}('Transfer-Encoding', 'gzip, chunked');`;
      await using started = await withPlugin(level, { body: `await next(); ${junk}` });
      const response = await started.chat({}, { 'x-junk': 'yes' });
      expect([response.status, await response.json()]).toMatchObject([500, { error: { code: 'internal_error' } }]);
      expect(response.headers.get('transfer-encoding')).toBeNull();
      expect(linesOf(started, 'a plugin failed')).toMatchObject([{ plugin: 'faulty' }]);
      expect((await started.chat()).status).toBe(200);
    },
  );

  it.each(JUNK)('gives a 500 with its name, and a gateway that lives on: %s', async (_, junk) => {
    await using started = await withPlugin('request', { body: `if (!ctx.get('x-junk')) return next(); ${junk}` });
    const response = await started.chat({}, { 'x-junk': 'yes' });
    expect([response.status, await response.json()]).toMatchObject([500, { error: { code: 'internal_error' } }]);
    expect(linesOf(started, 'a plugin failed')).toMatchObject([{ plugin: 'faulty' }]);
    expect((await started.chat()).status).toBe(200);
  });

  it.each([
    ['no attempts', `await next(); ctx.exchange.attempts = null;`],
    ['a config that is none', `await next(); ctx.exchange.config = 'junk';`],
    ['an error that is none', `await next(); ctx.exchange.error = 'junk';`],
    ['no trace', `await next(); ctx.exchange.trace = undefined;`],
    ['no reply', ``],
  ])('gets an answer out, and a gateway that lives on: %s', async (_, junk) => {
    await using started = await withPlugin('request', { body: `if (!ctx.get('x-junk')) return next(); ${junk}` });
    const response = await started.chat({}, { 'x-junk': 'yes' });
    await response.text();
    expect(response.status).toBeGreaterThanOrEqual(200);
    expect((await started.chat()).status).toBe(200);
    await until(() => started.gateway.gateway.upstream.stats().every(({ running }) => running === 0), 'nothing runs');
    expect(await metricsOf(started)).toContain('gatehouse_requests_in_flight{route="/v1/chat/completions"} 0');
  });

  it('cannot cut a reply that leaves with another one that it sets too late', async () => {
    const body = `setTimeout(() => { ctx.exchange.reply = { status: 500, headers: {}, body: Buffer.from('late'), stream: false }; ctx.body = 'late'; }, 60); await next();`;
    const slow: Script = async (_, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(`data: ${JSON.stringify(openaiChunk({ role: 'assistant', content: 'hel' }))}\n\n`);
      await new Promise((resolve) => setTimeout(resolve, 200));
      res.end(`data: ${JSON.stringify(openaiChunk({}, 'stop'))}\n\ndata: [DONE]\n\n`);
    };
    await using started = await withPlugin('request', { body }, slow);
    const text = await (await started.chat({ stream: true })).text();
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  });
});

describe('a plugin that returns without a reply and without calling next()', () => {
  const fault = 'plugin "faulty" returned without a reply and without calling next()';

  it.each(LEVELS)('is named in log, metrics and record: %s', async (level) => {
    await using running = await withPlugin(level, { body: 'return;' });
    const answer = await running.chat();
    const { error } = (await answer.json()) as { error: { code: string; message: string } };
    expect([answer.status, error.code, error.message.includes('faulty')]).toEqual([500, 'internal_error', false]);
    expect(linesOf(running, 'a plugin failed')).toEqual([
      expect.objectContaining({ plugin: 'faulty', err: expect.objectContaining({ message: fault }) as object }),
    ]);
    await until(() => linesOf(running, 'request failed').length > 0, 'the request has ended');
    expect(linesOf(running, 'request failed')).toMatchObject([{ plugin: 'faulty' }]);
    expect(await metricsOf(running)).toContain('gatehouse_plugin_failures_total{plugin="faulty",kind="error"} 1');
    const id = answer.headers.get('x-gateway-request-id')!;
    expect(running.gateway.gateway.record(id)).toMatchObject({ error: { code: 'internal_error', plugin: 'faulty' } });
  });

  it('is not blamed where a plugin around it replies', async () => {
    const around = { name: 'around', body: `await next(); ctx.body = { from: 'around' };` };
    await using running = await startOutsideGateway({
      upstream: ok,
      plugins: [around, { name: 'faulty', body: 'return;' }],
      chains: { request: ['around', 'faulty', 'metadata', 'route'] },
    });
    const answer = await running.chat();
    expect([answer.status, await answer.json()]).toEqual([200, { from: 'around' }]);
    expect(linesOf(running, 'a plugin failed')).toEqual([]);
  });
});

describe('an onEnd listener', () => {
  it.each([
    ['throws', `() => { throw new Error('broken'); }`],
    ['rejects', `async () => { throw new Error('broken'); }`],
    ['throws what is no error', `() => { throw null; }`],
    ['hangs', `() => new Promise(() => {})`],
  ])('that %s is named, and keeps neither the request nor other listeners', async (how, listener) => {
    await using started = await withPlugin('request', {
      body: `ctx.exchange.onEnd(${listener}); ctx.exchange.onEnd(() => host.log.info('heard')); await next();`,
    });
    expect((await started.chat()).status).toBe(200);
    await until(() => linesOf(started, 'heard').length === 1, 'the other listener has heard');
    await until(() => linesOf(started, 'a listener of a plugin failed').length === (how === 'hangs' ? 0 : 1), 'told');
    if (how !== 'hangs')
      expect(linesOf(started, 'a listener of a plugin failed')).toMatchObject([{ plugin: 'faulty' }]);
    expect(await metricsOf(started)).toContain('gatehouse_requests_in_flight{route="/v1/chat/completions"} 0');
  });
});

describe('an onCancel listener', () => {
  const hangs: Script = () => {};
  it.each([
    ['throws', 'exchange', `() => { throw new Error('broken'); }`],
    ['rejects', 'exchange', `async () => { throw new Error('broken'); }`],
    ['throws what is no error', 'exchange', `() => { throw null; }`],
    ['throws', 'attempt', `() => { throw new Error('broken'); }`],
  ])('that %s when the client leaves is named (%s), and other listeners hear of it', async (_, of, listener) => {
    const body = `const { cancellation } = ctx.${of}; cancellation.onCancel(${listener}); cancellation.onCancel(() => host.log.info('heard')); await next();`;
    await using started = await withPlugin(of === 'attempt' ? 'attempt' : 'request', { body }, hangs);
    const leaves = new AbortController();
    const url = `${started.gateway.url}/v1/chat/completions`;
    const headers = { 'content-type': 'application/json', 'x-gateway-api-key': KEY };
    const request = JSON.stringify({ model: '@openai/m', messages: [{ role: 'user', content: 'hi' }] });
    const left = fetch(url, { method: 'POST', headers, body: request, signal: leaves.signal }).catch(() => 'left');
    await until(() => started.upstream.seen.length === 1, 'the upstream was asked');
    leaves.abort();
    await left;
    await until(() => linesOf(started, 'a listener of a plugin failed').length === 1, 'the fault was logged');
    expect(linesOf(started, 'a listener of a plugin failed')).toMatchObject([{ plugin: 'faulty' }]);
    expect(linesOf(started, 'heard')).toHaveLength(1);
    await until(() => started.upstream.seen[0]!.aborted, 'the upstream was let go');
  });
});
