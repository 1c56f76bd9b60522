import { createServer, type AddressInfo } from 'node:net';
import * as fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { Cancellation, failureKinds, GatewayError, UpstreamError } from '../../src/plugin/index.ts';
import { systemClock } from '../../src/core/kernel/system-clock.ts';
import type { CommittedReply, RefusedReply, Upstream } from '../../src/core/upstream/index.ts';
import {
  answer,
  chunk,
  lastChunk,
  openStream,
  startUpstream,
  type Script,
  type ScriptedUpstream,
} from './scripted-upstream.ts';
import { collect, createLocalUpstream, DONE, event, outbound, rejection, translatingReader } from './try-kit.ts';

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

function committed(reply: CommittedReply | RefusedReply): CommittedReply {
  if (!reply.ok) throw new Error(`refused with ${reply.status}: ${reply.text}`);
  return reply;
}

function refused(reply: CommittedReply | RefusedReply): RefusedReply {
  if (reply.ok) throw new Error(`committed with ${reply.status}`);
  return reply;
}

describe('a request on the wire', () => {
  it('has the path, the given headers and the length of its body, and nothing that was not given', async () => {
    await serve(({ socket }) => answer(socket, 200, '{}'));
    await upstream.send(
      outbound(server.url, {
        stream: false,
        body: '{"é":1}',
        headers: { 'content-type': 'application/json', 'x-a': 'b' },
      }),
    );
    const [request] = server.requests;
    const [line, ...headers] = request!.head.split('\r\n');
    expect(line).toBe('POST /v1/x?alt=sse HTTP/1.1');
    expect(headers.sort()).toEqual(
      [
        `host: 127.0.0.1:${server.port}`,
        'connection: keep-alive',
        'content-type: application/json',
        'x-a: b',
        'content-length: 8',
        'accept-encoding: identity',
      ].sort(),
    );
    expect(Buffer.from(request!.body, 'latin1').toString()).toBe('{"é":1}');
  });

  it('never goes out in absolute form, which would name another host', async () => {
    await serve(() => {});
    const error = await rejection(upstream.send(outbound(server.url, { path: 'http://elsewhere.test/' })));
    expect(error).toBeInstanceOf(GatewayError);
    expect(error.code).toBe('internal_error');
    expect(server.connections).toBe(0);
  });

  it('with a header that cannot be written fails as a fault of the gateway, not of the upstream', async () => {
    await serve(() => {});
    const error = await rejection(upstream.send(outbound(server.url, { headers: { 'x-a': 'b\r\nx-evil: 1' } })));
    expect(error.code).toBe('internal_error');
    expect(server.requests).toEqual([]);
  });
});

describe('a plain reply', () => {
  it('is a Buffer once it is whole', async () => {
    await serve(({ socket }) => answer(socket, 200, '{"a":1}', 'x-request-id: r1\r\nx-many: 1\r\nx-many: 2\r\n'));
    const reply = committed(await upstream.send(outbound(server.url, { stream: false })));
    expect(reply.body).toEqual(Buffer.from('{"a":1}'));
    expect(reply.headers).toMatchObject({ 'x-request-id': 'r1', 'x-many': '1, 2' });
    expect(reply.timings.bytesIn).toBe(7);
    expect(reply.timings.resent).toBe(false);
    expect(reply.timings.endedAt).toBeGreaterThanOrEqual(reply.timings.firstByteAt!);
  });

  it('says whether the connection has written the whole request', async () => {
    await serve(({ socket }) => answer(socket, 200, '{"a":1}'));
    const whole = await upstream.send(outbound(server.url, { stream: false }));
    expect(whole.timings.delivered).toBe(true);

    // Replies to the head and reads nothing more: most of the body waits in this process.
    const early = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => answer(socket.pause(), 200, '{"a":1}'));
    });
    await new Promise<void>((resolve) => early.listen(0, '127.0.0.1', resolve));
    const { port } = early.address() as AddressInfo;
    const body = Buffer.alloc(64 * 1024 * 1024, ' ');
    const reply = await upstream.send(outbound(`http://127.0.0.1:${port}`, { stream: false, body }));
    expect(reply.status).toBe(200);
    expect(reply.timings.delivered).toBe(false);
    await upstream.close();
    early.close();
  });

  it('that breaks off half-way still allows another attempt', async () => {
    await serve(({ socket }) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"a":'));
    const error = await rejection(upstream.send(outbound(server.url, { stream: false })));
    expect(error).toBeInstanceOf(UpstreamError);
    expect([error.code, error.status]).toEqual(['stream_interrupted', 502]);
  });

  it('larger than the hold goes out while it still arrives', async () => {
    const big = JSON.stringify({ a: 'x'.repeat(300_000) });
    await serve(({ socket }) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${big.length}\r\n\r\n${big.slice(0, 200_000)}`);
      setTimeout(() => socket.write(big.slice(200_000)), 50);
    });
    const reply = committed(
      await upstream.send(outbound(server.url, { stream: false, hold: { bytes: 1000, ms: 20_000 } })),
    );
    expect(Buffer.isBuffer(reply.body)).toBe(false);
    expect(await collect(reply.body)).toMatchObject({ text: big, ended: true });
  });

  it('that is translated comes out translated', async () => {
    await serve(({ socket }) => answer(socket, 200, '{"a":1}'));
    const reply = committed(
      await upstream.send(outbound(server.url, { stream: false, openReader: translatingReader })),
    );
    expect(String(reply.body)).toBe('{"translated":{"a":1}}');
  });

  it('that must be read whole is refused past the bound, and its connection closed', async () => {
    await serve(({ socket }) => answer(socket, 200, 'x'.repeat(5000)));
    const error = await rejection(
      upstream.send(outbound(server.url, { stream: false, openReader: translatingReader, maxReplyBytes: 2000 })),
    );
    expect(error.code).toBe('reply_too_large');
    await expect.poll(() => server.open.size).toBe(0);
  });

  it('that its reader cannot make sense of is the upstream’s error, with the reason', async () => {
    await serve(({ socket }) => answer(socket, 200, '<html>'));
    const error = await rejection(
      upstream.send(outbound(server.url, { stream: false, openReader: translatingReader })),
    );
    expect([error.code, error.status]).toEqual(['upstream_error', 502]);
    expect(error.message).toMatch(/cannot be read: .*JSON/);
  });

  it('ended only by the close of its connection is whole', async () => {
    await serve(({ socket }) => socket.end('HTTP/1.1 200 OK\r\n\r\n{"a":1}'));
    const reply = committed(await upstream.send(outbound(server.url, { stream: false })));
    expect(String(reply.body)).toBe('{"a":1}');
  });

  it('after an informational one is the one that counts', async () => {
    await serve(({ socket }) => {
      socket.write('HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n');
      answer(socket, 200, '{}');
    });
    expect((await upstream.send(outbound(server.url, { stream: false }))).status).toBe(200);
  });
});

describe('the commit gate', () => {
  it('holds what comes before the first content and gives it first', async () => {
    await serve(({ socket }) => {
      openStream(socket);
      chunk(socket, event({ start: true }));
      setTimeout(() => chunk(socket, event({ ping: true })), 20);
      setTimeout(() => chunk(socket, event({ text: 'hi' })), 40);
      setTimeout(() => {
        chunk(socket, DONE);
        lastChunk(socket);
      }, 60);
    });
    const reply = committed(await upstream.send(outbound(server.url)));
    expect(reply.timings.firstContentAt).toBeGreaterThan(reply.timings.firstByteAt!);
    expect(await collect(reply.body)).toMatchObject({
      text: event({ start: true }) + event({ ping: true }) + event({ text: 'hi' }) + DONE,
      ended: true,
    });
    expect(reply.signals.ended).toBe(true);
  });

  it('gives the same bytes however they were split on the way', async () => {
    const whole = event({ start: true }) + event({ text: 'é' }) + event({ text: '🙂 two' }) + DONE;
    const bytes = Buffer.from(whole);
    let cuts: number[] = [];
    await serve(({ socket }) => {
      openStream(socket);
      let from = 0;
      for (const to of [...cuts, bytes.length]) {
        if (to > from) chunk(socket, bytes.subarray(from, to));
        from = to;
      }
      lastChunk(socket);
    });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 40 }), async (positions) => {
        cuts = positions.sort((a, b) => a - b);
        const reply = committed(await upstream.send(outbound(server.url)));
        expect(await collect(reply.body)).toMatchObject({ text: whole, ended: true });
      }),
      { numRuns: 30 },
    );
  });

  it.each([
    ['the provider’s error event', [event({ start: true }), event({ error: 529 })], 'overloaded', 529],
    ['an end without content or a proper close', [event({ start: true })], 'stream_interrupted', 502],
    ['garbage', ['data: {nonsense\n\n'], 'upstream_error', 502],
  ])('turns %s before content into a failed try', async (_, events, code, status) => {
    await serve(({ socket }) => {
      openStream(socket);
      for (const bytes of events) chunk(socket, bytes);
      lastChunk(socket);
    });
    const error = await rejection(upstream.send(outbound(server.url)));
    expect(error).toBeInstanceOf(UpstreamError);
    expect([error.code, error.status]).toEqual([code, status]);
    expect(failureKinds(error), 'a stream that broke, whatever its kind').toContain('stream_error');
  });

  it.each([true, false])('turns a web page into a failed try at once, before its end (stream: %s)', async (stream) => {
    await serve(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n');
      chunk(socket, '<!doctype html>');
    });
    const error = await rejection(upstream.send(outbound(server.url, { stream })));
    expect([error.code, error.message]).toEqual([
      'upstream_error',
      expect.stringContaining('answered with a web page (text/html)'),
    ]);
    expect(failureKinds(error)).toEqual(['server_error']);
  });

  it('turns a connection cut before content into a failed try', async () => {
    await serve(({ socket }) => {
      openStream(socket);
      chunk(socket, event({ start: true }));
      setTimeout(() => socket.resetAndDestroy(), 20);
    });
    expect((await rejection(upstream.send(outbound(server.url)))).code).toBe('stream_interrupted');
  });

  it.each([
    ['an error event', 'overloaded', ({ socket }) => void chunk(socket, event({ error: 529 }))],
    ['a reset', 'stream_interrupted', ({ socket }) => void socket.resetAndDestroy()],
    ['a close', 'stream_interrupted', ({ socket }) => void socket.end()],
    ['an end without the last event', 'stream_interrupted', ({ socket }) => lastChunk(socket)],
  ] satisfies [string, string, Script][])('tells the sink once of %s after content', async (_, code, fault) => {
    await serve((request) => {
      openStream(request.socket);
      chunk(request.socket, event({ text: 'hi' }));
      setTimeout(() => fault(request), 30);
    });
    const reply = committed(await upstream.send(outbound(server.url)));
    const collected = await collect(reply.body);
    expect(collected.text.startsWith(event({ text: 'hi' }))).toBe(true);
    expect(collected.ended).toBe(false);
    expect(collected.error?.code).toBe(code);
    expect(upstream.stats()[0]?.running).toBe(0);
  });

  it('keeps a failure for a source that is opened late', async () => {
    await serve(({ socket }) => {
      openStream(socket);
      chunk(socket, event({ text: 'hi' }));
      setTimeout(() => socket.resetAndDestroy(), 10);
    });
    const reply = committed(await upstream.send(outbound(server.url)));
    await expect.poll(() => upstream.stats()[0]?.running).toBe(0);
    expect(await collect(reply.body)).toMatchObject({
      text: event({ text: 'hi' }),
      error: { code: 'stream_interrupted' },
    });
  });

  it('counts a reply as complete when its connection dies after the last event', async () => {
    await serve(({ socket }) => {
      openStream(socket);
      chunk(socket, event({ text: 'hi' }) + DONE);
      setTimeout(() => socket.resetAndDestroy(), 30);
    });
    const reply = committed(await upstream.send(outbound(server.url)));
    expect(await collect(reply.body)).toMatchObject({ ended: true, error: undefined });
  });

  it('opens for a stream that ends properly without content', async () => {
    await serve(({ socket }) => {
      openStream(socket);
      chunk(socket, event({ start: true }) + DONE);
      lastChunk(socket);
    });
    const reply = committed(await upstream.send(outbound(server.url)));
    expect(await collect(reply.body)).toMatchObject({ text: event({ start: true }) + DONE, ended: true });
  });

  it('opens when the hold is outgrown', async () => {
    await serve(({ socket }) => {
      openStream(socket);
      chunk(socket, event({ start: true, padding: 'x'.repeat(2000) }));
      setTimeout(() => {
        chunk(socket, event({ text: 'late' }) + DONE);
        lastChunk(socket);
      }, 60);
    });
    const reply = committed(await upstream.send(outbound(server.url, { hold: { bytes: 1000, ms: 20_000 } })));
    expect(reply.timings.firstContentAt).toBeUndefined();
    expect(await collect(reply.body)).toMatchObject({ ended: true });
    expect(reply.timings.firstContentAt).toBeDefined();
  });

  it('opens when a reader swallows more than the hold', async () => {
    await serve(({ socket }) => {
      openStream(socket);
      chunk(socket, `data: ${'x'.repeat(5000)}`);
    });
    const reply = committed(await upstream.send(outbound(server.url, { hold: { bytes: 1000, ms: 20_000 } })));
    expect(reply.signals.content).toBe(false);
    if (!Buffer.isBuffer(reply.body)) reply.body.cancel(new GatewayError('client_closed', 'left'));
  });

  it('opens when the hold’s time is over, from the headers on', async () => {
    await serve(({ socket }) => {
      openStream(socket);
      setTimeout(() => {
        chunk(socket, event({ text: 'late' }) + DONE);
        lastChunk(socket);
      }, 150);
    });
    const reply = committed(await upstream.send(outbound(server.url, { hold: { bytes: 1000, ms: 30 } })));
    expect(reply.timings.bytesIn).toBe(0);
    expect(await collect(reply.body)).toMatchObject({ text: event({ text: 'late' }) + DONE, ended: true });
  });
});

describe('a reply that is not 2xx', () => {
  it('is handed over with its status, headers and text', async () => {
    await serve(({ socket }) => answer(socket, 429, '{"error":"slow"}', 'retry-after: 7\r\n'));
    const reply = refused(await upstream.send(outbound(server.url)));
    expect([reply.status, reply.headers['retry-after'], reply.text]).toEqual([429, '7', '{"error":"slow"}']);
  });

  it('is read up to a bound, and its connection closed', async () => {
    await serve(({ socket }) => {
      socket.write('HTTP/1.1 500 No\r\ntransfer-encoding: chunked\r\n\r\n');
      const pump = () => {
        while (!socket.destroyed && chunk(socket, 'x'.repeat(65_536)));
      };
      socket.on('drain', pump);
      pump();
    });
    const reply = refused(await upstream.send(outbound(server.url)));
    expect(reply.status).toBe(500);
    expect(reply.text).toMatch(/^x{1048576} \[cut at 1048576 bytes\]$/);
    await expect.poll(() => server.open.size).toBe(0);
  });

  it('keeps its status when its body breaks off', async () => {
    await serve(({ socket }) => socket.end('HTTP/1.1 429 No\r\ncontent-length: 100\r\n\r\n{"err'));
    expect(refused(await upstream.send(outbound(server.url)))).toMatchObject({
      status: 429,
      text: '{"err [the body was cut off]',
    });
  });

  it('keeps its status when its body never comes', async () => {
    await serve(({ socket }) => socket.write('HTTP/1.1 503 No\r\ncontent-length: 100\r\n\r\n'));
    const reply = refused(await upstream.send(outbound(server.url, { timeouts: { idle: 40 } })));
    expect(reply.status).toBe(503);
    await expect.poll(() => server.open.size).toBe(0);
  });

  it.each([301, 302, 303, 307, 308])('is not followed when it is a redirect (%i)', async (status) => {
    await serve(({ socket }) => answer(socket, status, '', 'location: http://169.254.169.254/\r\n'));
    const error = await rejection(upstream.send(outbound(server.url)));
    expect(error.code).toBe('upstream_error');
    expect(error.message).toContain(`HTTP ${status}`);
    expect(server.requests).toHaveLength(1);
  });
});

it('names what is not HTTP', async () => {
  await serve(({ socket }) => socket.end('SSH-2.0-OpenSSH_9\r\n'));
  const error = await rejection(upstream.send(outbound(server.url)));
  expect(error.code).toBe('upstream_error');
  expect(error.message).toContain('not readable HTTP');
});

it('keeps the fields of two concurrent requests on one pool apart', async () => {
  await serve(({ socket, body }) => {
    const { id } = JSON.parse(body) as { id: number };
    openStream(socket, `x-id: ${id}\r\n`);
    chunk(socket, event({ text: `first ${id}` }));
    setTimeout(() => {
      chunk(socket, event({ text: `second ${id}` }) + DONE);
      lastChunk(socket);
    }, 30);
  });
  // Two connections serve twelve requests, so that sockets opened by one are used by others.
  const ids = Array.from({ length: 12 }, (_, id) => id);
  const texts = await Promise.all(
    ids.map(async (id) => {
      const reply = committed(
        await upstream.send(outbound(server.url, { connections: 2, body: JSON.stringify({ id }) })),
      );
      return { header: reply.headers['x-id'], text: (await collect(reply.body)).text };
    }),
  );
  expect(texts).toEqual(
    ids.map((id) => ({
      header: String(id),
      text: event({ text: `first ${id}` }) + event({ text: `second ${id}` }) + DONE,
    })),
  );
  expect(server.connections).toBe(2);
});

it('does not send what was cancelled before, and says why', async () => {
  await serve(() => {});
  const cancellation = new Cancellation();
  const reason = new GatewayError('client_closed', 'left');
  cancellation.cancel(reason);
  expect(await rejection(upstream.send(outbound(server.url, { cancellation })))).toBe(reason);
  expect(server.connections).toBe(0);
});

it('does not send what has no time left', async () => {
  await serve(() => {});
  const error = await rejection(upstream.send(outbound(server.url, { deadline: systemClock.now() - 1 })));
  expect(error.code).toBe('timeout_total');
  expect(server.connections).toBe(0);
});

describe('held bytes are counted', () => {
  /** Counts as the gateway does, with room for so much. */
  const counter = (room = Infinity) => {
    const count = { held: 0, most: 0, asked: 0 };
    const onHold = (bytes: number): boolean => {
      count.asked += 1;
      count.held += bytes;
      count.most = Math.max(count.most, count.held);
      return count.held <= room;
    };
    return { count, onHold };
  };
  const word = event({ text: 'x'.repeat(1000) });

  it('not for a stream that begins with its content', async () => {
    await serve(({ socket }) => {
      openStream(socket);
      chunk(socket, word);
      chunk(socket, DONE);
      lastChunk(socket);
    });
    const { count, onHold } = counter();
    await collect(committed(await upstream.send(outbound(server.url, { onHold }))).body);
    expect(count.asked).toBe(0);
  });

  it('for a plain reply as it arrives and until it has been sent', async () => {
    await serve(({ socket }) => answer(socket, 200, `{"a":"${'x'.repeat(50_000)}"}`));
    const { count, onHold } = counter(10);
    const changes = { stream: false, onHold, openReader: translatingReader };
    const reply = committed(await upstream.send(outbound(server.url, changes)));
    expect(count).toMatchObject({ held: 50_008, most: 50_008 });
    expect((await collect(reply.body)).ended, 'whole, although there was no room').toBe(true);
  });

  it('for a lost reply only until it is lost', async () => {
    await serve(({ socket }) => {
      openStream(socket);
      chunk(socket, word);
      setTimeout(() => socket.resetAndDestroy(), 20);
    });
    const { count, onHold } = counter();
    await rejection(upstream.send(outbound(server.url, { onHold, commit: 'complete' })));
    expect(count).toMatchObject({ held: 0, most: word.length });
  });

  it('for a stream that waits for its end, which starts to be sent if there is no room', async () => {
    let finish = (): void => {};
    await serve(({ socket }) => {
      openStream(socket);
      chunk(socket, event({ start: true }) + event({ ping: true }).repeat(50));
      setTimeout(() => chunk(socket, word), 20);
      finish = () => {
        chunk(socket, DONE);
        lastChunk(socket);
      };
    });
    const { count, onHold } = counter(500);
    const reply = committed(await upstream.send(outbound(server.url, { onHold, commit: 'complete' })));
    expect(reply.signals.content, 'what has no content yet is held on').toBe(true);
    finish();
    expect(await collect(reply.body)).toMatchObject({ ended: true });
    expect(count.held, 'what has left').toBe(0);
  });
});
