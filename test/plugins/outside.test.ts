import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { until } from '../support/gateway.ts';
import { json, openaiChunk, openaiReply, sse, type Script } from '../support/upstream.ts';
import { startOutsideGateway, type OutsidePlugin } from './outside-gateway.ts';

const ok: Script = (_, res) => json(res, openaiReply('hello'));
const stream: Script = (_, res) =>
  sse(res, [
    openaiChunk({ role: 'assistant', content: 'hel' }),
    openaiChunk({ content: 'lo' }),
    openaiChunk({}, 'stop'),
    'data: [DONE]\n\n',
  ]);
/** Content at once, then more until the connection closes. */
const endless: Script = (_, res) => {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  const timer = setInterval(() => res.write(`data: ${JSON.stringify(openaiChunk({ content: 'more ' }))}\n\n`), 2);
  res.on('close', () => clearInterval(timer));
};
const request = (...names: string[]) => ({ request: [...names, 'metadata', 'route'] });
const attempt = (...names: string[]) => ({ attempt: [...names, 'override', 'transform', 'retry', 'send'] });

/** A source that shouts: bytes pass through, so do pause, resume and cancel. */
const SHOUT = `
class Shout {
  constructor(inner) { this.inner = inner; }
  open(sink) {
    this.inner.open({
      push: (bytes) => sink.push(Buffer.from(bytes.toString().replaceAll(/"content":"([^"]*)"/g, (_, text) => '"content":"' + text.toUpperCase() + '"'))),
      end: () => sink.end(),
      fail: (error) => sink.fail(error),
    });
  }
  pause() { this.inner.pause(); }
  resume() { this.inner.resume(); }
  cancel(reason) { this.inner.cancel(reason); }
}`;

describe('an external plugin', () => {
  it('is used in the chain of server.yaml, with its options', async () => {
    const plugin: OutsidePlugin = {
      name: 'tenant-header',
      more: `options: { type: 'object', additionalProperties: false, required: ['header'], properties: { header: { type: 'string', description: 'Name.' } } }`,
      body: `await next(); ctx.exchange.reply.headers[options.header] = ctx.exchange.caller.keyId;`,
    };
    await using started = await startOutsideGateway({
      plugins: [plugin],
      upstream: ok,
      chains: { request: [{ plugin: 'tenant-header', options: { header: 'x-tenant' } }, 'metadata', 'route'] },
    });
    const response = await started.chat();
    expect([response.status, response.headers.get('x-tenant')]).toEqual([200, 'test']);
  });

  it('is used by the `plugins` of one gateway config, and by no other', async () => {
    const plugin: OutsidePlugin = { name: 'mark', body: `ctx.set('x-mark', 'yes'); await next();` };
    await using started = await startOutsideGateway({
      plugins: [plugin],
      upstream: ok,
      gateway: { marked: { plugins: ['mark', 'route'], provider: '@openai' }, plain: { provider: '@openai' } },
    });
    const markOf = async (config: string) =>
      (await started.chat({ model: 'm' }, { 'x-gateway-config': config })).headers.get('x-mark');
    expect([await markOf('marked'), await markOf('plain')]).toEqual(['yes', null]);
  });

  it('may ask for what an earlier chain provides', async () => {
    const plugins: OutsidePlugin[] = [
      {
        name: 'in-request',
        more: `requires: ['caller', 'body']`,
        body: `ctx.set('x-in-request', ctx.exchange.caller.keyId); await next();`,
      },
      {
        name: 'in-attempt',
        level: 'attempt',
        more: `requires: ['caller', 'metadata']`,
        body: `ctx.set('x-in-attempt', String(ctx.attempt.number)); await next();`,
      },
    ];
    await using started = await startOutsideGateway({
      plugins,
      upstream: ok,
      chains: { ...request('in-request'), ...attempt('in-attempt') },
    });
    const response = await started.chat();
    expect([response.headers.get('x-in-request'), response.headers.get('x-in-attempt')]).toEqual(['test', '0']);
  });

  it('refuses a request with an error of the gateway’s own, in the client’s format', async () => {
    const plugin: OutsidePlugin = {
      name: 'no-tools',
      body: `throw new api.GatewayError('unsupported_parameter', 'No tools here.', { param: 'tools' });`,
    };
    await using started = await startOutsideGateway({ plugins: [plugin], upstream: ok, chains: request('no-tools') });
    const response = await started.chat();
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { code: 'unsupported_parameter', param: 'tools', message: 'No tools here.' },
    });
    expect(started.upstream.seen).toEqual([]);
  });
});

describe('an external plugin that chooses targets itself', () => {
  const chooser: OutsidePlugin = {
    name: 'in-order',
    more: `needs: ['attempts', 'health'], provides: ['reply']`,
    before: `const goesOn = (error) => api.failureKinds(error).includes('overloaded');`,
    body: `
      const { exchange } = ctx;
      for (const target of exchange.config.route.members) {
        const health = host.health.of(exchange.config, target);
        if (!health.admits) {
          exchange.skipped.push({ target, reason: 'circuit_open', after: exchange.attempts.length });
          continue;
        }
        const trial = health.begin();
        try {
          await host.attempts.run(ctx, target, { reason: trial.probe ? 'probe' : 'fallback', fallsThrough: goesOn });
          trial.succeeded();
          return await next();
        } catch (error) {
          trial.failed(error);
          if (!goesOn(error)) throw error;
        }
      }`,
  };

  it('has breakers and records that know what it did', async () => {
    await using started = await startOutsideGateway({
      plugins: [chooser],
      upstream: ({ json: { model } }, res) => json(res, openaiReply('hello'), model === 'ill' ? 503 : 200),
      gateway: {
        it: {
          plugins: ['in-order'],
          strategy: { mode: 'fallback' },
          provider: '@openai',
          circuit_breaker: { failures: 1, min_requests: 1 },
          targets: [{ override_params: { model: 'ill' } }, { override_params: { model: 'well' } }],
        },
      },
    });
    const recordOf = async () => {
      const response = await started.chat({ model: 'm' }, { 'x-gateway-config': 'it' });
      expect(response.status).toBe(200);
      await response.text();
      const id = response.headers.get('x-gateway-request-id')!;
      const record = () => started.gateway.gateway.record(id) as { readonly state: string };
      await until(() => record().state === 'complete', 'its reply has left');
      return record();
    };
    const well = { target: 'config.targets[1]', why: 'fallback', outcome: 'success' };
    expect(await recordOf()).toMatchObject({
      attempts: [{ target: 'config.targets[0]', failure: { kinds: ['overloaded'] } }, well],
    });
    expect(await recordOf()).toMatchObject({
      attempts: [well],
      skipped: [{ target: 'config.targets[0]', reason: 'circuit_open', after: 0 }],
    });
  });
});

describe('a reply', () => {
  it.each<[string, OutsidePlugin['level'], string]>([
    ['request', 'request', 'const reply = ctx.exchange.reply;'],
    ['attempt', 'attempt', 'const reply = ctx.attempt.reply;'],
  ])('that is a stream can be wrapped in the %s chain', async (_, level, find) => {
    const plugin: OutsidePlugin = {
      name: 'shout',
      level: level!,
      before: SHOUT,
      body: `await next(); ${find} reply.body = new Shout(reply.body);`,
    };
    await using started = await startOutsideGateway({
      plugins: [plugin],
      upstream: stream,
      chains: level === 'request' ? request('shout') : attempt('shout'),
    });
    const text = await (await started.chat({ stream: true })).text();
    expect([...text.matchAll(/"content":"([^"]*)"/g)].map(([, content]) => content).join('')).toBe('HELLO');
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  it('that is wrapped still holds the upstream back for a slow reader, and arrives whole', async () => {
    const chunk = `data: ${JSON.stringify(openaiChunk({ content: 'x'.repeat(64 * 1024) }))}\n\n`;
    let written = 0;
    const upstream: Script = async (_, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      for (let count = 0; count < 600 && !res.destroyed; count += 1) {
        written += chunk.length;
        if (!res.write(chunk)) await once(res, 'drain');
      }
      res.end(`data: ${JSON.stringify(openaiChunk({}, 'stop'))}\n\ndata: [DONE]\n\n`);
    };
    await using started = await startOutsideGateway({
      plugins: [
        {
          name: 'shout',
          before: SHOUT,
          body: `await next(); ctx.exchange.reply.body = new Shout(ctx.exchange.reply.body);`,
        },
      ],
      upstream,
      chains: request('shout'),
    });
    const response = await started.chat({ stream: true });
    let before = -1;
    await until(() => {
      const still = written === before;
      before = written;
      return still && written > 0;
    }, 'the upstream stood still');
    // Sockets on three sides hold a few megabytes; the rest of 39 MB must still be at the upstream.
    expect(written).toBeLessThan(25 * 1024 * 1024);
    const text = await response.text();
    expect(text.length).toBeGreaterThan(600 * 64 * 1024);
    expect(text).toContain('"content":"XXXX');
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  it('that is wrapped lets go of the upstream when the client leaves', async () => {
    await using started = await startOutsideGateway({
      plugins: [
        {
          name: 'shout',
          before: SHOUT,
          body: `await next(); ctx.exchange.reply.body = new Shout(ctx.exchange.reply.body);`,
        },
      ],
      upstream: endless,
      chains: request('shout'),
    });
    const response = await started.chat({ stream: true });
    await response.body!.cancel();
    await until(() => started.upstream.seen[0]!.aborted, 'the upstream was let go');
  });

  it.each([
    [
      'request',
      'assigned',
      `ctx.exchange.reply = { status: 203, headers: { 'content-type': 'text/plain' }, body: Buffer.from('instead'), stream: false };`,
    ],
    [
      'attempt',
      'assigned',
      `ctx.attempt.reply = { status: 203, headers: { 'content-type': 'text/plain' }, body: Buffer.from('instead'), stream: false };`,
    ],
    ['request', 'given the Koa way', `ctx.status = 203; ctx.type = 'text/plain'; ctx.body = 'instead';`],
    ['attempt', 'given the Koa way', `ctx.status = 203; ctx.type = 'text/plain'; ctx.body = 'instead';`],
    [
      'request',
      'changed to a body that is all there',
      `const { reply } = ctx.exchange; reply.status = 203; reply.headers = { 'content-type': 'text/plain' }; reply.body = Buffer.from('instead');`,
    ],
  ] as const)(
    'of the %s chain is replaced by one that is %s, and the upstream is let go',
    async (level, _, replace) => {
      const plugin: OutsidePlugin = { name: 'instead', level, body: `await next(); ${replace}` };
      await using started = await startOutsideGateway({
        plugins: [plugin],
        upstream: endless,
        chains: level === 'request' ? request('instead') : attempt('instead'),
      });
      const response = await started.chat({ stream: true });
      expect([response.status, response.headers.get('content-type')?.split(';')[0], await response.text()]).toEqual([
        203,
        'text/plain',
        'instead',
      ]);
      await until(() => started.upstream.seen[0]!.aborted, 'the upstream was let go');
    },
  );
});

describe('a reply the Koa way', () => {
  it.each<['request' | 'attempt', string, string, number, string, string]>([
    ['request', 'text', `ctx.body = 'pong';`, 200, 'text/plain; charset=utf-8', 'pong'],
    [
      'request',
      'an object',
      `ctx.status = 202; ctx.body = { queued: true };`,
      202,
      'application/json; charset=utf-8',
      '{"queued":true}',
    ],
    ['request', 'bytes', `ctx.type = 'image/png'; ctx.body = Buffer.from('png');`, 200, 'image/png', 'png'],
    [
      'request',
      'a Node stream',
      `ctx.type = 'text/plain'; ctx.body = (await import('node:stream')).Readable.from(['a', 'b', 'c']);`,
      200,
      'text/plain; charset=utf-8',
      'abc',
    ],
    [
      'request',
      'a web stream',
      `ctx.type = 'text/plain'; ctx.body = new Blob(['a', 'b']).stream();`,
      200,
      'text/plain; charset=utf-8',
      'ab',
    ],
    [
      'request',
      'a Blob',
      `ctx.body = new Blob(['blob'], { type: 'text/plain' });`,
      200,
      'text/plain; charset=utf-8',
      'blob',
    ],
    [
      'request',
      'a Response',
      `ctx.body = new Response('fetched', { status: 207, headers: { 'x-from': 'far' } });`,
      207,
      'text/plain;charset=UTF-8',
      'fetched',
    ],
    ['request', 'a status alone', `ctx.status = 403;`, 403, 'text/plain; charset=utf-8', 'Forbidden'],
    ['attempt', 'text', `ctx.body = 'pong';`, 200, 'text/plain; charset=utf-8', 'pong'],
    [
      'attempt',
      'an object',
      `ctx.status = 202; ctx.body = { queued: true };`,
      202,
      'application/json; charset=utf-8',
      '{"queued":true}',
    ],
    [
      'attempt',
      'a Node stream',
      `ctx.type = 'text/plain'; ctx.body = (await import('node:stream')).Readable.from(['a', 'b', 'c']);`,
      200,
      'text/plain; charset=utf-8',
      'abc',
    ],
    ['attempt', 'a status alone', `ctx.status = 403;`, 403, 'text/plain; charset=utf-8', 'Forbidden'],
  ])('in the %s chain may be %s, and asks no upstream', async (level, _, body, status, type, text) => {
    await using started = await startOutsideGateway({
      plugins: [{ name: 'answer', level, body }],
      upstream: ok,
      chains: level === 'request' ? request('answer') : attempt('answer'),
    });
    const response = await started.chat();
    expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
      status,
      type,
      text,
    ]);
    expect(response.headers.get('x-gateway-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(started.upstream.seen).toEqual([]);
  });

  it('may have no content', async () => {
    await using started = await startOutsideGateway({
      plugins: [{ name: 'answer', body: `ctx.status = 204;` }],
      upstream: ok,
      chains: request('answer'),
    });
    const response = await started.chat();
    expect([response.status, await response.text(), response.headers.get('content-type')]).toEqual([204, '', null]);
  });

  it('is in the hands of the plugins around it', async () => {
    const plugins: OutsidePlugin[] = [
      {
        name: 'around',
        body: `await next(); ctx.exchange.reply.headers['x-around'] = String(ctx.exchange.reply.status) + ' ' + ctx.status;`,
      },
      { name: 'answer', body: `ctx.body = 'pong'; ctx.status = 201;` },
    ];
    await using started = await startOutsideGateway({ plugins, upstream: ok, chains: request('around', 'answer') });
    const response = await started.chat();
    expect([response.status, response.headers.get('x-around')]).toEqual([201, '201 201']);
  });

  it('can be wrapped like any other, whatever its length becomes', async () => {
    const plugins: OutsidePlugin[] = [
      {
        name: 'around',
        before: `const twice = (bytes) => ({ open(sink) { sink.push(bytes); sink.push(bytes); sink.end(); }, pause() {}, resume() {}, cancel() {} });`,
        body: `await next(); ctx.exchange.reply.body = twice(ctx.exchange.reply.body);`,
      },
      { name: 'answer', body: `ctx.body = 'pong ';` },
    ];
    await using started = await startOutsideGateway({ plugins, upstream: ok, chains: request('around', 'answer') });
    expect(await (await started.chat()).text()).toBe('pong pong ');
  });

  it('gives way to a reply that comes later, with nothing of it left', async () => {
    const plugin: OutsidePlugin = { name: 'early', body: `ctx.body = 'early'; await next();` };
    await using started = await startOutsideGateway({ plugins: [plugin], upstream: ok, chains: request('early') });
    const response = await started.chat();
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: 'hello' } }] });
  });

  it('says its status and changes it after next(), as Koa does', async () => {
    const plugin: OutsidePlugin = {
      name: 'accepted',
      body: `await next(); ctx.set('x-was', String(ctx.status)); ctx.status = 202;`,
    };
    await using started = await startOutsideGateway({ plugins: [plugin], upstream: ok, chains: request('accepted') });
    const response = await started.chat();
    expect([
      response.status,
      response.headers.get('x-was'),
      ((await response.json()) as { object: string }).object,
    ]).toEqual([202, '200', 'chat.completion']);
  });

  it.each(['request', 'attempt'] as const)(
    'of the %s chain whose stream breaks off is cut, not passed for whole',
    async (level) => {
      const body = `ctx.type = 'text/plain'; ctx.body = (await import('node:stream')).Readable.from((async function* () { yield 'a'; await new Promise((resolve) => setTimeout(resolve, 20)); throw new Error('broken'); })());`;
      await using started = await startOutsideGateway({
        plugins: [{ name: 'answer', level, body }],
        upstream: ok,
        chains: level === 'request' ? request('answer') : attempt('answer'),
      });
      await expect(started.chat().then((response) => response.text())).rejects.toThrow();
      await until(
        () => started.gateway.logs.some((line) => line['msg'] === 'request failed'),
        'the request was logged',
      );
      expect(started.gateway.logs.find((line) => line['msg'] === 'request failed')).toMatchObject({
        level: 'error',
        error_code: 'internal_error',
      });
    },
  );
});

describe('an attempt that is lost', () => {
  const rescue: Script = (seen, res) =>
    seen.json['model'] === 'a' ? json(res, { error: { message: 'busy' } }, 503) : json(res, openaiReply('rescued'));
  const two = {
    it: {
      strategy: { mode: 'fallback' },
      targets: ['a', 'b'].map((model) => ({ provider: '@openai', override_params: { model } })),
    },
  };

  it('takes the headers it set with it, and the winner’s are kept', async () => {
    const plugin: OutsidePlugin = {
      name: 'mark',
      level: 'attempt',
      body: `ctx.set('x-attempt', String(ctx.attempt.number)); ctx.set('x-number-' + ctx.attempt.number, 'yes'); ctx.append('x-list', 'a'); ctx.append('x-list', 'b'); await next();`,
    };
    await using started = await startOutsideGateway({
      plugins: [plugin],
      upstream: rescue,
      chains: attempt('mark'),
      gateway: two,
    });
    const { status, headers } = await started.chat({ model: 'm' }, { 'x-gateway-config': 'it' });
    expect([
      status,
      headers.get('x-attempt'),
      headers.get('x-number-0'),
      headers.get('x-number-1'),
      headers.get('x-list'),
    ]).toEqual([200, '1', null, 'yes', 'a, b']);
  });

  it('takes its status and body with it', async () => {
    const plugin: OutsidePlugin = {
      name: 'teapot',
      level: 'attempt',
      body: `if (ctx.attempt.number > 0) return next();
ctx.status = 418; ctx.body = 'short and stout';
throw new api.UpstreamError('overloaded', 'no', { status: 503 });`,
    };
    await using started = await startOutsideGateway({
      plugins: [plugin],
      upstream: rescue,
      chains: attempt('teapot'),
      gateway: two,
    });
    const response = await started.chat({ model: 'm' }, { 'x-gateway-config': 'it' });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: 'rescued' } }] });
  });
});

describe('a plugin that breaks the rules', () => {
  it.each<['request' | 'attempt' | 'entry', string]>([
    ['request', 'answers'],
    ['request', 'fails'],
    ['attempt', 'answers'],
    ['attempt', 'fails'],
    ['entry', 'answers'],
    ['entry', 'fails'],
  ])(
    'in the %s chain and forgets to await next() gives a 500, its name in the log, and a gateway that lives on, when the upstream %s',
    async (level, how) => {
      const hasty: OutsidePlugin = { name: 'hasty', level, body: `next();` };
      const slow: Script = async (_, res) => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        if (how === 'answers') return stream(_, res, 0);
        json(res, { error: { message: 'busy' } }, 503);
      };
      const chains = {
        request: request('hasty'),
        attempt: attempt('hasty'),
        entry: { entry: ['telemetry', 'errors', 'hasty', 'auth', 'body', 'config'] },
      };
      const unhandled: unknown[] = [];
      const note = (error: unknown) => void unhandled.push(error);
      process.on('unhandledRejection', note);
      await using started = await startOutsideGateway({ plugins: [hasty], upstream: slow, chains: chains[level] });
      const response = await started.chat({ stream: true });
      expect(response.status).toBe(500);
      expect(await response.json()).toMatchObject({ error: { code: 'internal_error' } });
      expect(started.gateway.logText()).toContain('plugin \\"hasty\\" did not await next()');
      await until(
        () => started.upstream.seen.every(({ aborted }) => aborted) || how === 'fails',
        'the upstream was let go',
      );
      await until(
        () => started.gateway.gateway.upstream.stats().every(({ running, queued }) => running + queued === 0),
        'nothing ran any more',
      );
      await new Promise((resolve) => setTimeout(resolve, 40));
      process.off('unhandledRejection', note);
      expect(unhandled).toEqual([]);
    },
  );

  it.each(['request', 'attempt', 'entry'] as const)(
    'in the %s chain and throws after next() gives a clean error, and the upstream is let go',
    async (level) => {
      const late: OutsidePlugin = { name: 'late', level, body: `await next(); throw new Error('too late: hunter2');` };
      const chains = {
        request: request('late'),
        attempt: attempt('late'),
        entry: { entry: ['telemetry', 'errors', 'auth', 'late', 'body', 'config'] },
      };
      await using started = await startOutsideGateway({ plugins: [late], upstream: endless, chains: chains[level] });
      const response = await started.chat({ stream: true });
      expect([response.status, response.headers.get('content-type')]).toEqual([500, 'application/json']);
      const text = await response.text();
      expect(JSON.parse(text)).toMatchObject({ error: { code: 'internal_error', type: 'server_error' } });
      expect(text).not.toContain('hunter2');
      expect(started.gateway.logText()).toContain('too late');
      await until(() => started.upstream.seen[0]!.aborted, 'the upstream was let go');
    },
  );

  it('and throws outside the `errors` plugin still gives a clean error, and the upstream is let go', async () => {
    const late: OutsidePlugin = { name: 'late', level: 'entry', body: `await next(); throw new Error('too late');` };
    await using started = await startOutsideGateway({
      plugins: [late],
      upstream: endless,
      chains: { entry: ['late', 'telemetry', 'errors', 'auth', 'body', 'config'] },
    });
    const response = await started.chat({ stream: true });
    expect(response.status).toBe(500);
    expect(await response.json()).toMatchObject({ error: { code: 'internal_error' } });
    await until(() => started.upstream.seen[0]!.aborted, 'the upstream was let go');
  });
});

describe('exchange.onEnd', () => {
  const listener: OutsidePlugin = {
    name: 'listen',
    body: `ctx.exchange.onEnd((end) => host.log.info({ end: { ...end, error: end.error?.code } }, 'ended')); await next();`,
  };
  const ends = (logs: readonly Record<string, unknown>[]) =>
    logs.filter((line) => line['msg'] === 'ended').map((line) => line['end']);

  it.each<[string, Script, object, object]>([
    ['a plain reply that has left', ok, {}, { state: 'complete', status: 200 }],
    ['a stream that has left', stream, { stream: true }, { state: 'complete', status: 200 }],
    [
      'an error in a reply’s place',
      (_, res) => json(res, { error: { message: 'no' } }, 503),
      {},
      { state: 'failed', status: 503, error: 'overloaded' },
    ],
    [
      'a stream that broke after its start',
      (_, res) => sse(res, [openaiChunk({ role: 'assistant', content: 'hel' }), null]),
      { stream: true },
      { state: 'failed', status: 200, error: 'stream_interrupted' },
    ],
  ])('tells once of %s', async (_, upstream, body, expected) => {
    await using started = await startOutsideGateway({ plugins: [listener], upstream, chains: request('listen') });
    const text = await (await started.chat(body)).text();
    await until(() => ends(started.gateway.logs).length > 0, 'onEnd was called');
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(ends(started.gateway.logs)).toMatchObject([expected]);
    expect(ends(started.gateway.logs)).toMatchObject([
      { bytes: expected.hasOwnProperty('error') && 'stream' in body ? expect.any(Number) : text.length },
    ]);
  });

  it('tells once of a client that left', async () => {
    await using started = await startOutsideGateway({
      plugins: [listener],
      upstream: endless,
      chains: request('listen'),
    });
    await (await started.chat({ stream: true })).body!.cancel();
    await until(() => ends(started.gateway.logs).length > 0, 'onEnd was called');
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(ends(started.gateway.logs)).toMatchObject([{ state: 'aborted', error: 'client_closed' }]);
  });

  it('keeps telling the others when a listener throws', async () => {
    const broken: OutsidePlugin = {
      name: 'broken',
      body: `ctx.exchange.onEnd(() => { throw new Error('in a listener'); }); await next();`,
    };
    await using started = await startOutsideGateway({
      plugins: [broken, listener],
      upstream: ok,
      chains: request('broken', 'listen'),
    });
    await (await started.chat()).text();
    await until(() => ends(started.gateway.logs).length > 0, 'onEnd was called');
    expect(ends(started.gateway.logs)).toMatchObject([{ state: 'complete' }]);
    expect(started.gateway.logText()).toContain('in a listener');
  });
});
