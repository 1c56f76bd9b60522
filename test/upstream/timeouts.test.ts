import { afterEach, describe, expect, it } from 'vitest';
import { GatewayError, type Source } from '../../src/plugin/index.ts';
import { systemClock } from '../../src/core/kernel/system-clock.ts';
import type { CommittedReply, OutboundRequest, Upstream } from '../../src/core/upstream/index.ts';
import {
  answer,
  chunk,
  lastChunk,
  openStream,
  startUpstream,
  type Script,
  type ScriptedUpstream,
} from './scripted-upstream.ts';
import { collect, createLocalUpstream, DONE, event, outbound, rejection } from './try-kit.ts';

let server: ScriptedUpstream;
let upstream: Upstream;

async function serve(script: Script): Promise<void> {
  server = await startUpstream(script);
  upstream = createLocalUpstream();
}

afterEach(async () => {
  await upstream.close();
  await server.close();
});

/** Each limit is set alone, so that no other can pass in its place. */
async function sourceOf(request: OutboundRequest): Promise<{ reply: CommittedReply; source: Source }> {
  const reply = await upstream.send(request);
  if (!reply.ok || Buffer.isBuffer(reply.body)) throw new Error('expected a source');
  return { reply, source: reply.body };
}

/** A stream that goes on with `events`, one each `ms`. */
function drip(ms: number, ...events: string[]): Script {
  return ({ socket }) => {
    openStream(socket);
    const timer = setInterval(() => {
      const next = events.shift();
      if (next === undefined || socket.destroyed) clearInterval(timer);
      else if (next === '') lastChunk(socket);
      else chunk(socket, next);
    }, ms);
  };
}

const pings = (count: number): string[] => Array.from({ length: count }, () => event({ ping: true }));

describe('before the commit gate', () => {
  it('first_byte ends a silent upstream, names itself and its length, and closes the connection', async () => {
    await serve(() => {});
    const error = await rejection(upstream.send(outbound(server.url, { timeouts: { firstByte: 40 } })));
    expect([error.code, error.status]).toEqual(['timeout_first_byte', 504]);
    expect(error.message).toBe(`No answer from 127.0.0.1:${server.port} within 40 ms (timeouts.first_byte).`);
    await expect.poll(() => server.open.size).toBe(0);
  });

  it('first_content is not put off by pings or by a start without content', async () => {
    await serve(drip(10, event({ start: true }), ...pings(100)));
    const error = await rejection(upstream.send(outbound(server.url, { timeouts: { firstContent: 80 } })));
    expect([error.code, error.status]).toEqual(['timeout_first_content', 504]);
    expect(error.message).toContain('80 ms (timeouts.first_content)');
    await expect.poll(() => server.open.size).toBe(0);
  });

  it('first_content is put off by the pings of an upstream that has begun an item, but not by its silence', async () => {
    await serve(drip(10, event({ begin: true }), ...pings(300), event({ text: 'hi' }), DONE, ''));
    const request = outbound(server.url, { timeouts: { firstContent: 2000 } });
    expect(await collect((await sourceOf(request)).source)).toMatchObject({ ended: true });
    await server.close();
    await serve(drip(10, event({ begin: true }), ...pings(3)));
    const error = await rejection(upstream.send(outbound(server.url, { timeouts: { firstContent: 100 } })));
    expect(error.code).toBe('timeout_first_content');
  });

  it('idle ends a plain reply that stalls, and not one that only takes its time', async () => {
    await serve(({ socket, number }) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n');
      let left = number === 0 ? 10 : 4;
      const timer = setInterval(() => {
        socket.write('x');
        left -= 1;
        if (left === 0) clearInterval(timer);
      }, 25);
    });
    const request = { stream: false, timeouts: { idle: 150 } };
    await expect(upstream.send(outbound(server.url, request))).resolves.toMatchObject({ ok: true });
    const error = await rejection(upstream.send(outbound(server.url, request)));
    expect(error.code).toBe('timeout_idle');
  });

  it('total ends whatever goes on', async () => {
    await serve(drip(10, event({ start: true }), ...pings(100)));
    const error = await rejection(upstream.send(outbound(server.url, { timeouts: { total: 60 } })));
    expect([error.code, error.retryable]).toEqual(['timeout_total', false]);
    expect(error.message).toContain('60 ms (timeouts.total)');
  });

  it('connect bounds the wait for a free connection, which is the gateway’s own failure', async () => {
    await serve(({ socket }) => openStream(socket));
    const held = upstream.send(outbound(server.url, { connections: 1 })).catch(() => {});
    const error = await rejection(upstream.send(outbound(server.url, { connections: 1, timeouts: { connect: 40 } })));
    expect(error).toMatchObject({ code: 'pool_exhausted', status: 503, retryAfterMs: 1000, ofGateway: true });
    expect(error.message).toContain('No free connection to');
    expect(error.message).toContain('40 ms (timeouts.connect)');
    // The one that gave up has left the line.
    expect(upstream.stats()).toEqual([{ origin: server.url, running: 1, connected: 1, queued: 0 }]);
    await upstream.close();
    await held;
  });

  it('connect ends a connection that does not come to stand, and the next request begins a new one', async () => {
    await serve(({ socket }) => answer(socket, 200, '{}'));
    let asked = 0;
    const stalled = createLocalUpstream({
      lookup: () => {
        asked += 1;
        return asked === 1 ? new Promise(() => {}) : Promise.resolve(['127.0.0.1']);
      },
    });
    const url = `http://model.test:${server.port}`;
    const error = await rejection(
      stalled.send(outbound(url, { stream: false, connections: 1, timeouts: { connect: 40 } })),
    );
    expect(error.code).toBe('timeout_connect');
    expect(error.message).toBe(`No connection to model.test:${server.port} within 40 ms (timeouts.connect).`);
    expect((await stalled.send(outbound(url, { stream: false, connections: 1 }))).status).toBe(200);
    await stalled.close();
  });

  it('connect covers the TLS handshake', async () => {
    // A server that accepts and says nothing.
    await serve(() => {});
    const request = outbound(server.url.replace('http:', 'https:'), { timeouts: { connect: 60 } });
    expect((await rejection(upstream.send(request))).code).toBe('timeout_connect');
    await expect.poll(() => server.open.size).toBe(0);
  });
});

describe('after the commit gate', () => {
  it('idle fails a stream that is silent', async () => {
    await serve(drip(10, event({ text: 'hi' }), ...pings(3)));
    const { source } = await sourceOf(outbound(server.url, { timeouts: { idle: 80 } }));
    const { error, text } = await collect(source);
    expect(error?.code).toBe('timeout_idle');
    expect(error?.message).toContain('80 ms (timeouts.idle)');
    expect(text).toContain(event({ text: 'hi' }));
    await expect.poll(() => server.open.size).toBe(0);
  });

  it('idle lets a stream go on that only pings, which ends at total', async () => {
    await serve(drip(10, event({ text: 'hi' }), ...pings(10_000)));
    const { source } = await sourceOf(outbound(server.url, { timeouts: { idle: 2000, total: 4000 } }));
    expect((await collect(source)).error?.code).toBe('timeout_total');
    await expect.poll(() => server.open.size).toBe(0);
  });

  it('idle lets a stream go on that moves, however long it is', async () => {
    const events = [...Array.from({ length: 12 }, (_, n) => event({ text: `${n}` })), DONE];
    let now = 0;
    let goOn = (): void => {};
    await serve(({ socket }) => {
      openStream(socket);
      goOn = () => void (events.length > 0 ? chunk(socket, events.shift()!) : lastChunk(socket));
      goOn();
    });
    await upstream.close();
    // The clock advances only with each event, and timers check it often, so the speed of the machine does not matter.
    const after: typeof systemClock.after = (ms, run) => systemClock.after(Math.min(ms, 2), run);
    upstream = createLocalUpstream({ clock: { ...systemClock, now: () => now, after } });
    const { source } = await sourceOf(outbound(server.url, { timeouts: { idle: 160 } }));
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const push = (): void => {
      now += 100;
      setTimeout(goOn, 10);
    };
    source.open({ push, end: () => resolve(undefined), fail: reject });
    await promise;
    expect(now).toBeGreaterThan(1000);
  });

  it('idle does not count while the sink is full, and counts again when it takes more', async () => {
    await serve(drip(5, event({ text: 'hi' })));
    const { source } = await sourceOf(outbound(server.url, { timeouts: { idle: 60 } }));
    const failures: GatewayError[] = [];
    source.open({ push: () => source.pause(), end: () => {}, fail: (error) => failures.push(error) });
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(failures).toEqual([]);
    source.resume();
    await expect.poll(() => failures.map(({ code }) => code)).toEqual(['timeout_idle']);
  });

  it('idle does not count before the source is opened', async () => {
    await serve(drip(5, event({ text: 'hi' }), DONE, ''));
    const { source } = await sourceOf(outbound(server.url, { timeouts: { idle: 30 } }));
    await new Promise((resolve) => setTimeout(resolve, 120));
    expect(await collect(source)).toMatchObject({ ended: true, text: event({ text: 'hi' }) + DONE });
  });

  it.each(['paused', 'unopened'])('total and the upstream’s death reach a source that is %s', async (state) => {
    let die = (): void => {};
    await serve(({ socket }) => {
      openStream(socket);
      chunk(socket, event({ text: 'hi' }));
      die = () => socket.resetAndDestroy();
    });
    for (const [code, total] of [
      ['timeout_total', 1000],
      ['stream_interrupted', 60_000],
    ] as const) {
      const { source } = await sourceOf(outbound(server.url, { timeouts: { total } }));
      const calls: string[] = [];
      const sink = {
        push: () => source.pause(),
        end: () => calls.push('end'),
        fail: (error: GatewayError) => calls.push(error.code),
      };
      if (state === 'paused') source.open(sink);
      if (code === 'stream_interrupted') die();
      await expect.poll(() => upstream.stats()[0]?.running).toBe(0);
      if (state === 'unopened') source.open(sink);
      expect(calls).toEqual([code]);
    }
  });

  it('first_content still holds for a reply that the hold’s time let out', async () => {
    await serve(drip(10, ...pings(100)));
    const { source } = await sourceOf(
      outbound(server.url, { timeouts: { firstContent: 120 }, hold: { bytes: 1e6, ms: 30 } }),
    );
    expect((await collect(source)).error?.code).toBe('timeout_first_content');
  });

  it('an upstream that has ended its reply but keeps the connection open has delivered it', async () => {
    await serve(drip(10, event({ text: 'hi' }), DONE));
    const { source } = await sourceOf(outbound(server.url, { timeouts: { idle: 500 } }));
    expect(await collect(source)).toMatchObject({ ended: true, error: undefined });
  });
});
