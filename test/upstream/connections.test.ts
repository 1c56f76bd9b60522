import { readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { Cancellation, GatewayError, type Source } from '../../src/plugin/index.ts';
import { systemClock } from '../../src/core/kernel/system-clock.ts';
import type { TryTimings, Upstream } from '../../src/core/upstream/index.ts';
import {
  answer,
  chunk,
  lastChunk,
  openStream,
  startUpstream,
  type Script,
  type ScriptedUpstream,
} from './scripted-upstream.ts';
import { collect, createLocalUpstream, DONE, event, eventually, outbound, rejection, streamReader } from './try-kit.ts';

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

const left = new GatewayError('client_closed', 'left');
const plain = (changes: Parameters<typeof outbound>[1] = {}) => outbound(server.url, { stream: false, ...changes });

async function openSource(changes: Parameters<typeof outbound>[1] = {}): Promise<Source> {
  const reply = await upstream.send(outbound(server.url, changes));
  if (!reply.ok || Buffer.isBuffer(reply.body)) throw new Error('expected a source');
  return reply.body;
}

/** A whole plain exchange, and the turn of the loop after which undici offers its connection again. */
async function exchangeOnce(): Promise<void> {
  await upstream.send(plain());
  await setImmediate();
}

describe('a kept-alive connection', () => {
  it('is used again', async () => {
    await serve(({ socket }) => answer(socket, 200, '{}'));
    for (let n = 0; n < 3; n += 1) await exchangeOnce();
    expect([server.connections, server.requests.length]).toEqual([1, 3]);
  });

  it.each([
    ['resets', (request) => void request.socket.resetAndDestroy()],
    ['closes', (request) => void request.socket.end()],
  ] satisfies [string, Script][])('that %s before a byte of the reply is replaced once, unseen', async (_, die) => {
    await serve((request) =>
      request.turn > 0 ? die(request) : answer(request.socket, 200, `{"turn":${request.number}}`),
    );
    await exchangeOnce();
    const reply = await upstream.send(plain({ body: '{"second":1}' }));
    expect(reply).toMatchObject({ ok: true, body: Buffer.from('{"turn":2}'), timings: { resent: true } });
    expect(server.connections).toBe(2);
    expect(server.requests.map(({ body }) => body)).toEqual(['{"model":"m"}', '{"second":1}', '{"second":1}']);
  });

  it('is replaced by a new one even where every other one has died too', async () => {
    let restarted = false;
    await serve(({ socket, turn }) => {
      if (restarted && turn > 0) socket.resetAndDestroy();
      else setTimeout(() => answer(socket, 200, '{}'), 20);
    });
    await Promise.all([upstream.send(plain({ connections: 2 })), upstream.send(plain({ connections: 2 }))]);
    await setImmediate();
    expect(server.connections).toBe(2);
    restarted = true;
    const replies = await Promise.all([
      upstream.send(plain({ connections: 2 })),
      upstream.send(plain({ connections: 2 })),
    ]);
    expect(replies.map(({ status, timings }) => [status, timings.resent])).toEqual([
      [200, true],
      [200, true],
    ]);
  });

  it('is not replaced twice', async () => {
    let dying = false;
    await serve(({ socket }) => (dying ? void socket.resetAndDestroy() : answer(socket, 200, '{}')));
    await exchangeOnce();
    dying = true;
    const error = await rejection(upstream.send(plain()));
    expect([error.code, error.status]).toEqual(['connection_failed', 502]);
    expect(server.requests).toHaveLength(3);
    expect(upstream.stats()).toMatchObject([{ running: 0, queued: 0 }]);
  });

  it('that dies after the reply has begun is a failure: the request was taken', async () => {
    await serve(({ socket, turn }) => {
      if (turn === 0) answer(socket, 200, '{}');
      else socket.end('HTTP/1.1 200 OK\r\ncontent-le');
    });
    await exchangeOnce();
    expect((await rejection(upstream.send(plain()))).code).toBe('connection_failed');
    expect(server.requests).toHaveLength(2);
  });
});

it('a new connection that resets is a failure: the request may have been taken', async () => {
  await serve(({ socket }) => socket.resetAndDestroy());
  const error = await rejection(upstream.send(plain()));
  expect(error.code).toBe('connection_failed');
  expect(error.message).toContain(`127.0.0.1:${server.port}`);
  expect(server.requests).toHaveLength(1);
});

it('a closed port is a failed connection', async () => {
  await serve(() => {});
  await server.close();
  const error = await rejection(upstream.send(plain()));
  expect(error.code).toBe('connection_failed');
  expect(error.message).toBe(`No connection to 127.0.0.1:${server.port} (ECONNREFUSED).`);
});

describe('giving up', () => {
  it('frees the connection at once, wherever the reply stands', async () => {
    await serve(({ socket, number }) => {
      if (number % 4 === 0) return;
      openStream(socket);
      if (number % 4 === 1) return;
      chunk(socket, event(number % 4 === 2 ? { start: true } : { text: 'hi' }));
    });
    for (let round = 0; round < 12; round += 1) {
      const cancellation = new Cancellation();
      const outcome = upstream
        .send(outbound(server.url, { connections: 2, cancellation }))
        .catch((error: unknown) => error);
      await eventually(() => server.requests.length === round + 1);
      if (round % 4 === 3) {
        const reply = await outcome;
        expect(reply).toMatchObject({ ok: true });
      }
      cancellation.cancel(left);
      if (round % 4 !== 3) expect(await outcome).toBe(left);
      await eventually(() => server.open.size === 0);
    }
    expect(upstream.stats()).toEqual([{ origin: server.url, running: 0, connected: 0, queued: 0 }]);
  });

  it('of half-read streams does not run a pool of two dry', async () => {
    await serve(({ socket }) => {
      openStream(socket);
      chunk(socket, event({ text: 'hi' }));
    });
    for (let round = 0; round < 20; round += 1) {
      const source = await openSource({ connections: 2 });
      source.open({ push: () => {}, end: () => {}, fail: () => {} });
      source.cancel(left);
    }
    await eventually(() => server.open.size === 0);
    expect(upstream.stats()).toMatchObject([{ running: 0, queued: 0 }]);
  });

  it.each(['cancelled by its owner', 'cancelled with its request'])(
    'a source %s calls no sink any more',
    async (how) => {
      await serve(({ socket }) => {
        openStream(socket);
        chunk(socket, event({ text: 'hi' }));
        const timer = setInterval(() => chunk(socket, event({ text: 'more' })), 5);
        socket.on('close', () => clearInterval(timer));
      });
      const cancellation = new Cancellation();
      const source = await openSource({ cancellation });
      const calls: string[] = [];
      source.open({ push: () => calls.push('push'), end: () => calls.push('end'), fail: () => calls.push('fail') });
      if (how === 'cancelled by its owner') source.cancel(left);
      else cancellation.cancel(left);
      const before = calls.length;
      await eventually(() => server.open.size === 0);
      expect(calls.slice(before)).toEqual([]);
      expect(calls).not.toContain('fail');
    },
  );

  it('in the turn in which its reply becomes ready rejects: nothing would come out of the reply', async () => {
    await serve(({ socket }) => {
      openStream(socket);
      chunk(socket, event({ text: 'hi' }));
    });
    const cancellation = new Cancellation();
    const openReader = () => {
      const reader = streamReader();
      // After the commit, before the requests whose replies are ready go on.
      const push = (bytes: Buffer) => (queueMicrotask(() => cancellation.cancel(left)), reader.push(bytes));
      return { ...reader, push };
    };
    expect(await rejection(upstream.send(outbound(server.url, { cancellation, openReader })))).toBe(left);
    await eventually(() => server.open.size === 0);
  });

  it('in the line for a connection leaves the line', async () => {
    await serve(({ socket }) => openStream(socket));
    const cancellation = new Cancellation();
    const first = new Cancellation();
    const running = rejection(upstream.send(outbound(server.url, { connections: 1, cancellation: first })));
    const waiting = rejection(upstream.send(outbound(server.url, { connections: 1, cancellation })));
    await eventually(() => server.requests.length === 1);
    expect(upstream.stats()).toMatchObject([{ running: 1, queued: 1 }]);
    cancellation.cancel(left);
    expect(await waiting).toBe(left);
    expect(upstream.stats()).toMatchObject([{ running: 1, queued: 0 }]);
    first.cancel(left);
    await running;
  });

  it('hands the connection’s place to the next in line', async () => {
    await serve(({ socket, number }) => (number === 0 ? openStream(socket) : answer(socket, 200, '{}')));
    const first = new Cancellation();
    const running = rejection(upstream.send(outbound(server.url, { connections: 1, cancellation: first })));
    const next = [1, 2, 3].map(() => upstream.send(plain({ connections: 1 })));
    await eventually(() => server.requests.length === 1);
    first.cancel(left);
    await running;
    expect((await Promise.all(next)).map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it('has its turn before a caller with many requests in the line has its second', async () => {
    const first = new Cancellation();
    await serve(({ socket, number }) => (number === 0 ? openStream(socket) : answer(socket, 200, '{}')));
    const running = rejection(upstream.send(outbound(server.url, { connections: 1, cancellation: first })));
    await eventually(() => server.requests.length === 1);
    const order: string[] = [];
    const send = async (caller: string): Promise<void> => {
      await upstream.send(plain({ connections: 1, caller, body: JSON.stringify({ caller }) }));
      order.push(caller);
    };
    const waiting = [...Array.from({ length: 20 }, () => send('greedy')), send('modest'), send('other')];
    expect(upstream.stats()).toMatchObject([{ running: 1, queued: 22 }]);
    first.cancel(left);
    await Promise.all([...waiting, running]);
    expect(order.slice(0, 4)).toEqual(['greedy', 'modest', 'other', 'greedy']);
  });

  it('has the whole of its upstream’s time once it has a connection', async () => {
    const first = new Cancellation();
    await serve(({ socket, number }) => {
      if (number === 0) openStream(socket);
      else setTimeout(() => answer(socket, 200, '{}'), 250);
    });
    const running = rejection(upstream.send(outbound(server.url, { connections: 1, cancellation: first })));
    await eventually(() => server.requests.length === 1);
    const timings: TryTimings = {
      startedAt: 0,
      sentAt: undefined,
      firstByteAt: undefined,
      firstContentAt: undefined,
      endedAt: undefined,
      delivered: false,
      bytesIn: 0,
      resent: false,
    };
    const waiting = upstream.send(plain({ connections: 1, timeouts: { firstByte: 400 } }), timings);
    await new Promise((resolve) => setTimeout(resolve, 250));
    first.cancel(left);
    await running;
    // 250 ms in the line and 250 ms of the upstream: more than timeouts.first_byte together.
    expect((await waiting).status).toBe(200);
    expect(timings.waitedUntil! - timings.startedAt).toBeGreaterThanOrEqual(240);
  });

  it('that its deadline ends says nothing of the upstream', async () => {
    await serve(({ socket }) => openStream(socket));
    const first = new Cancellation();
    const running = rejection(upstream.send(outbound(server.url, { connections: 1, cancellation: first })));
    const deadline = systemClock.now() + 40;
    const [ofTarget, ofRequest] = await Promise.all([
      rejection(upstream.send(plain({ connections: 1, deadline }))),
      rejection(upstream.send(plain({ connections: 1, deadline, deadlineOf: 'request' }))),
    ]);
    expect(ofTarget).toMatchObject({ code: 'pool_exhausted', ofGateway: true });
    expect(ofRequest).toMatchObject({ code: 'timeout_request', name: 'GatewayError' });
    expect(ofRequest.message).toContain('waited for a free connection');
    first.cancel(left);
    await running;
  });

  it('closing fails what runs and what waits, and leaves no socket', async () => {
    await serve(({ socket }) => {
      openStream(socket);
      chunk(socket, event({ text: 'hi' }));
    });
    const source = await openSource({ connections: 1 });
    const flowing = collect(source);
    const waiting = rejection(upstream.send(plain({ connections: 1 })));
    await upstream.close();
    expect((await flowing).error?.code).toBe('shutting_down');
    expect((await waiting).code).toBe('shutting_down');
    expect((await rejection(upstream.send(plain({ connections: 1 })))).code).toBe('shutting_down');
    await eventually(() => server.open.size === 0);
  });
});

describe('backpressure', () => {
  it('reaches the upstream: what it can write while the sink is full is bounded', async () => {
    const piece = event({ text: 'x'.repeat(64 * 1024) });
    const pieces = 1000;
    let written = 0;
    await serve(({ socket }) => {
      openStream(socket);
      const pump = () => {
        while (written < pieces && !socket.destroyed) {
          written += 1;
          if (!chunk(socket, piece)) return;
        }
        if (written === pieces) {
          written += 1;
          chunk(socket, DONE);
          lastChunk(socket);
        }
      };
      socket.on('drain', pump);
      pump();
    });
    const source = await openSource();
    let received = 0;
    let pushes = 0;
    const ended = new Promise<void>((resolve, reject) => {
      source.open({
        push(bytes) {
          received += bytes.length;
          pushes += 1;
          if (pushes === 1) source.pause();
        },
        end: resolve,
        fail: reject,
      });
    });
    await expect.poll(() => written).toBeGreaterThan(10);
    await new Promise((resolve) => setTimeout(resolve, 200));
    const stalledAt = written;
    await new Promise((resolve) => setTimeout(resolve, 200));
    // What fits into the socket buffers of both sides, some MiB, and no more.
    expect(written).toBe(stalledAt);
    expect(written).toBeLessThan(pieces / 2);
    expect(received).toBeLessThan(2 * piece.length);
    source.resume();
    await ended;
    expect(received).toBe(pieces * Buffer.byteLength(piece) + Buffer.byteLength(DONE));
  });

  it('before the source is opened leaves the rest in the upstream', async () => {
    let stalled = false;
    await serve(({ socket }) => {
      openStream(socket);
      for (let n = 0; n < 1000 && !stalled; n += 1) stalled = !chunk(socket, event({ text: 'x'.repeat(64 * 1024) }));
      socket.on('drain', () => {
        stalled = false;
        while (!stalled && !socket.destroyed) stalled = !chunk(socket, event({ text: 'x'.repeat(64 * 1024) }));
      });
    });
    const reply = await upstream.send(outbound(server.url));
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(stalled).toBe(true);
    expect(reply.timings.bytesIn).toBeLessThan(1024 * 1024);
    if (reply.ok && !Buffer.isBuffer(reply.body)) reply.body.cancel(left);
  });

  it('that toggles with every push loses nothing and keeps the order', async () => {
    const texts = Array.from({ length: 500 }, (_, n) => event({ text: `${n} ${'y'.repeat(500)}` }));
    await serve(({ socket }) => {
      openStream(socket);
      for (const text of texts) chunk(socket, text);
      chunk(socket, DONE);
      lastChunk(socket);
    });
    const source = await openSource();
    let text = '';
    await new Promise<void>((resolve, reject) => {
      let open = true;
      source.open({
        push(bytes) {
          expect(open).toBe(true);
          text += bytes.toString();
          open = false;
          source.pause();
          void setImmediate().then(() => {
            open = true;
            source.resume();
          });
        },
        end: resolve,
        fail: reject,
      });
    });
    expect(text).toBe(texts.join('') + DONE);
  });

  it('that ends within the same call does not trip the parser', async () => {
    await serve(({ socket }) => {
      openStream(socket);
      for (let n = 0; n < 50; n += 1) chunk(socket, event({ text: `${n}` }));
      chunk(socket, DONE);
      lastChunk(socket);
    });
    const [a, b] = await Promise.all([openSource(), openSource()]);
    const results = [a, b].map(
      (source, index) =>
        new Promise<number>((resolve, reject) => {
          let bytes = 0;
          source.open({
            push(piece) {
              bytes += piece.length;
              source.pause();
              source.resume();
              // And the other one, from within this one's call.
              [b, a][index]!.resume();
            },
            end: () => resolve(bytes),
            fail: reject,
          });
        }),
    );
    const [first, second] = await Promise.all(results);
    expect(first).toBe(second);
  });
});

describe('TLS', () => {
  const pem = (name: string) => readFileSync(new URL(`model-test.${name}.pem`, import.meta.url), 'utf8');
  const ca = pem('cert');

  async function serveTls(): Promise<{ names: unknown[] }> {
    const names: unknown[] = [];
    server = await startUpstream(
      ({ socket }) => {
        if ('servername' in socket) names.push(socket.servername);
        answer(socket, 200, '{}');
      },
      { cert: ca, key: pem('key'), ALPNProtocols: ['h2', 'http/1.1'] },
    );
    return { names };
  }

  const lookup = async () => ['127.0.0.1'];

  it('is made with the checked address for the name that was asked for, in HTTP/1.1', async () => {
    const { names } = await serveTls();
    upstream = createLocalUpstream({ lookup, ca: [ca] });
    const url = `https://model.test:${server.port}`;
    expect((await upstream.send(outbound(url, { stream: false }))).status).toBe(200);
    await setImmediate();
    expect((await upstream.send(outbound(url, { stream: false }))).status).toBe(200);
    expect(names).toEqual(['model.test', 'model.test']);
    expect(server.connections).toBe(1);
    expect(server.requests[0]?.head).toContain(`host: model.test:${server.port}`);
  });

  it.each([
    ['an unknown authority', 'model.test', undefined, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['another name', 'other.test', [ca], 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ])('refuses a certificate of %s', async (_, name, authorities, reason) => {
    await serveTls();
    upstream = createLocalUpstream({ lookup, ...(authorities && { ca: authorities }) });
    const error = await rejection(upstream.send(outbound(`https://${name}:${server.port}`, { stream: false })));
    expect([error.code, error.status]).toEqual(['tls_failed', 502]);
    expect(error.message).toContain(reason);
    expect(server.requests).toEqual([]);
    await eventually(() => server.open.size === 0);
    expect(upstream.stats()).toMatchObject([{ running: 0 }]);
  });

  it('with a server that speaks none is a failed handshake', async () => {
    server = await startUpstream(() => {});
    // The ClientHello is no HTTP request: answer it by hand.
    upstream = createLocalUpstream({ lookup });
    const failing = rejection(upstream.send(outbound(`https://model.test:${server.port}`, { stream: false })));
    await eventually(() => server.open.size === 1);
    for (const socket of server.open) socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    expect((await failing).code).toBe('tls_failed');
  });
});
