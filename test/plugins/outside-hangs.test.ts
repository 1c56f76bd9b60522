import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { KEY, until } from '../support/gateway.ts';
import { json, openaiChunk, openaiReply, sse, type Script } from '../support/upstream.ts';
import {
  metricsOf,
  startOutsideGateway,
  untilStatus,
  type OutsideGateway,
  type OutsidePlugin,
  type Setup,
} from './outside-gateway.ts';

type Level = 'entry' | 'request' | 'attempt';
const LEVELS: readonly Level[] = ['entry', 'request', 'attempt'];

const ok: Script = (_, res) => json(res, openaiReply('hello'));
/** Content at once, then more for as long as the gateway listens. */
const endless: Script = (_, res) => {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  const timer = setInterval(() => res.write(`data: ${JSON.stringify(openaiChunk({ content: 'more ' }))}\n\n`), 2);
  res.on('close', () => clearInterval(timer));
};

const CHAINS = {
  entry: (...names: string[]) => ({ entry: ['telemetry', 'errors', ...names, 'auth', 'body', 'config'] }),
  request: (...names: string[]) => ({ request: [...names, 'metadata', 'route'] }),
  attempt: (...names: string[]) => ({ attempt: [...names, 'override', 'transform', 'retry', 'send'] }),
};

/** Only requests with this header meet the fault, so that others show that the gateway serves on. */
const HANG = { 'x-hang': 'yes' };
const onlyThen = `if (!ctx.get('x-hang')) return next();`;
const never = `await new Promise(() => {});`;

const withPlugin = (level: Level, body: string, setup: Partial<Setup> = {}): Promise<OutsideGateway> =>
  startOutsideGateway({
    upstream: ok,
    ...setup,
    plugins: [{ name: 'stuck', level, body: `${onlyThen} ${body}` }],
    chains: CHAINS[level]('stuck'),
  });

interface ErrorBody {
  readonly error: { readonly code: string; readonly message: string };
}

async function expectGivenUp({ gateway }: OutsideGateway, response: Response): Promise<void> {
  expect(response.status).toBe(504);
  expect(((await response.json()) as ErrorBody).error.code).toBe('timeout_request');
  const id = response.headers.get('x-gateway-request-id')!;
  const record = () => gateway.gateway.record(id) as { readonly state: string };
  await until(() => record().state !== 'running', 'the request has ended');
  expect(record()).toMatchObject({ error: { code: 'timeout_request', plugin: 'stuck' } });
  expect(gateway.logs).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        level: 'error',
        plugin: 'stuck',
        request_id: id,
        msg: expect.stringContaining('given up'),
      }),
      expect.objectContaining({ msg: 'request failed', plugin: 'stuck', error_code: 'timeout_request' }),
    ]),
  );
}

describe('an external plugin that never calls next()', () => {
  it.each(LEVELS)(
    'in the %s chain ends its request with 504 after `limits.plugin_time`, and frees its place',
    async (level) => {
      await using started = await withPlugin(level, never, {
        server: { limits: { plugin_time: '200ms', in_flight: 1 } },
      });
      await expectGivenUp(started, await started.chat({}, HANG));
      expect(started.upstream.seen).toEqual([]);
      expect((await started.chat()).status).toBe(200);
      expect(await metricsOf(started)).toContain('gatehouse_plugin_failures_total{plugin="stuck",kind="timeout"} 1');
    },
  );

  it.each(LEVELS)('in the %s chain ends its request with 504 at the deadline', async (level) => {
    await using started = await withPlugin(level, never, { server: { deadline: '300ms', limits: { in_flight: 1 } } });
    await expectGivenUp(started, await started.chat({}, HANG));
    expect((await started.chat()).status).toBe(200);
  });

  it('ends at the deadline that its caller asked for', async () => {
    await using started = await withPlugin('request', never);
    await expectGivenUp(started, await started.chat({}, { ...HANG, 'x-gateway-request-timeout': '300' }));
  });

  it.each(LEVELS)('in the %s chain ends when its client leaves', async (level) => {
    await using started = await withPlugin(level, never, { server: { limits: { in_flight: 1 } } });
    const leaving = new AbortController();
    const asked = fetch(`${started.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY, ...HANG },
      body: JSON.stringify({ model: '@openai/m', messages: [{ role: 'user', content: 'hi' }] }),
      signal: leaving.signal,
    }).catch(() => undefined);
    await untilStatus(started, 503);
    leaving.abort();
    await asked;
    await untilStatus(started, 200);
  });

  it('is not given up while it waits for the attempts it runs', async () => {
    const chooser: OutsidePlugin = {
      name: 'chooser',
      more: `needs: ['attempts'], provides: ['reply']`,
      body: `const [target] = ctx.exchange.config.route.members ?? [ctx.exchange.config.route];
        await host.attempts.run(ctx, target, { reason: 'only', fallsThrough: () => false });
        await next();`,
    };
    const slow: Script = async (seen, res) => {
      await new Promise((resolve) => setTimeout(resolve, 400));
      return ok(seen, res, 0);
    };
    await using started = await startOutsideGateway({
      plugins: [chooser],
      upstream: slow,
      chains: { request: ['chooser'] },
      server: { limits: { plugin_time: '150ms' } },
    });
    expect((await started.chat()).status).toBe(200);
  });
});

describe('an external plugin that hangs after next()', () => {
  it.each(LEVELS)(
    'in the %s chain ends its request with 504 at the deadline, and lets go of the upstream',
    async (level) => {
      await using started = await withPlugin(level, `await next(); ${never}`, {
        upstream: endless,
        server: { deadline: '500ms' },
      });
      await expectGivenUp(started, await started.chat({ stream: true }, HANG));
      await until(() => started.upstream.seen[0]!.aborted, 'the upstream was let go');
    },
  );
});

describe('an external plugin whose body does not end', () => {
  /** Passes everything on but the end. */
  const WRAPPER = `
    class Holding {
      constructor(inner) { this.inner = inner; }
      open(sink) { this.inner.open({ push: (bytes) => sink.push(bytes), end() {}, fail(error) { sink.fail(error); } }); }
      pause() { this.inner.pause(); }
      resume() { this.inner.resume(); }
      cancel(reason) { this.inner.cancel(reason); }
    }`;
  const stream: Script = (_, res) => sse(res, [openaiChunk({ content: 'hi' }, 'stop'), 'data: [DONE]\n\n']);

  it.each(
    LEVELS.flatMap((level) => [
      [level, 'of its own', `ctx.body = new (await import('node:stream')).PassThrough();`] as const,
      [
        level,
        'around another one',
        `await next(); const { reply } = ctx.${level === 'attempt' ? 'attempt' : 'exchange'}; reply.body = new Holding(reply.body);`,
      ] as const,
    ]),
  )('is named when the deadline cuts its reply: %s chain, a body %s', async (level, _, body) => {
    await using started = await startOutsideGateway({
      upstream: stream,
      plugins: [{ name: 'stuck', level, before: WRAPPER, body }],
      chains: CHAINS[level]('stuck'),
      server: { deadline: '400ms' },
    });
    await (await started.chat({ stream: true })).text().catch(() => undefined);
    const lines = (msg: string) => started.gateway.logs.filter((line) => line['msg'] === msg);
    await until(() => lines('request failed').length > 0, 'the request has ended');
    expect(lines('request failed')).toMatchObject([{ error_code: 'timeout_request', plugin: 'stuck' }]);
    expect(await metricsOf(started)).toContain('gatehouse_plugin_failures_total{plugin="stuck",kind="timeout"} 1');
  });

  it('is not named for the body of an upstream that does not end', async () => {
    await using started = await startOutsideGateway({
      upstream: endless,
      plugins: [
        {
          name: 'stuck',
          before: WRAPPER,
          body: `await next(); const { reply } = ctx.exchange; reply.body = new Holding(reply.body);`,
        },
      ],
      chains: CHAINS.request('stuck'),
      server: { deadline: '400ms' },
    });
    await (await started.chat({ stream: true })).text().catch(() => undefined);
    const failed = () => started.gateway.logs.find(({ msg }) => msg === 'request failed');
    await until(() => failed() !== undefined, 'the request has ended');
    expect(failed()).not.toHaveProperty('plugin');
  });
});

describe('a plugin that was given up', () => {
  const LATE: readonly (readonly [string, string])[] = [
    ['calls next()', `await next();`],
    ['calls next() and awaits nothing', `next(); next();`],
    ['sets a reply', `ctx.exchange.reply = { status: 200, headers: {}, body: Buffer.from('late'), stream: false };`],
    ['sets a body the Koa way', `ctx.status = 200; ctx.set('x-late', 'yes'); ctx.body = 'late';`],
    ['changes the reply', `ctx.exchange.reply.status = 200; ctx.exchange.reply.headers['x-late'] = 'yes';`],
    ['edits the body', `ctx.exchange.request.body = undefined;`],
    ['throws', `throw new Error('late');`],
    ['throws what is no error', `throw null;`],
  ];

  it.each(LATE)('and then %s changes nothing', async (_, late) => {
    const body = `await new Promise((resolve) => setTimeout(resolve, 200)); globalThis.lateCame = true; ${late}`;
    const around: OutsidePlugin = {
      name: 'around',
      level: 'entry',
      body: `await next(); if (ctx.get('x-hang')) await new Promise((resolve) => setTimeout(resolve, 250));`,
    };
    const unhandled: unknown[] = [];
    const note = (error: unknown) => void unhandled.push(error);
    process.on('unhandledRejection', note);
    Reflect.set(globalThis, 'lateCame', false);
    await using started = await startOutsideGateway({
      upstream: ok,
      plugins: [around, { name: 'stuck', body: `${onlyThen} ${body}` }],
      chains: {
        entry: ['around', 'telemetry', 'errors', 'auth', 'body', 'config'],
        ...CHAINS.request('stuck'),
      },
      server: { limits: { plugin_time: '100ms' } },
    });
    const response = await started.chat({}, HANG);
    expect(response.headers.get('x-late')).toBeNull();
    await expectGivenUp(started, response);
    expect(Reflect.get(globalThis, 'lateCame')).toBe(true);
    expect(started.upstream.seen).toEqual([]);
    await new Promise((resolve) => setTimeout(resolve, 20));
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
    expect(started.gateway.logs.filter(({ msg }) => msg === 'request failed')).toHaveLength(1);
    expect(await metricsOf(started)).toContain('gatehouse_requests_in_flight{route="/v1/chat/completions"} 0');
  });

  it('starts no attempt any more', async () => {
    const chooser: OutsidePlugin = {
      name: 'stuck',
      more: `needs: ['attempts'], provides: ['reply']`,
      body: `await new Promise((resolve) => setTimeout(resolve, 200));
        await host.attempts.run(ctx, ctx.exchange.config.route.members?.[0] ?? ctx.exchange.config.route, { reason: 'only', fallsThrough: () => false }).catch((error) => host.log.info({ error: String(error) }, 'refused'));`,
    };
    await using started = await startOutsideGateway({
      plugins: [chooser],
      upstream: ok,
      chains: { request: ['stuck'] },
      server: { limits: { plugin_time: '100ms' } },
    });
    await expectGivenUp(started, await started.chat());
    await until(() => started.gateway.logs.some(({ msg }) => msg === 'refused'), 'the late attempt was refused');
    expect(started.upstream.seen).toEqual([]);
  });
});

describe('the deadline', () => {
  it('ends a request whose body is still arriving with 504', async () => {
    await using started = await withPlugin('request', never, { server: { deadline: '300ms' } });
    const { hostname, port } = new URL(started.gateway.url);
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.on('data', (piece) => (text += piece.toString()));
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nx-gateway-api-key: ${KEY}\r\ncontent-length: 100\r\n\r\n{`,
    );
    await until(() => text.includes('timeout_request'), 'the request was answered');
    expect(text).toMatch(/^HTTP\/1\.1 504 /);
    socket.destroy();
  });
});
