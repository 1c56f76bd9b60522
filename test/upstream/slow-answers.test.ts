import { Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/kernel/system-clock.ts';
import type { Clock } from '../../src/plugin/index.ts';
import type { RefusedReply, Upstream } from '../../src/core/upstream/index.ts';
import { startUpstream, type Script, type ScriptedUpstream } from './scripted-upstream.ts';
import { createLocalUpstream, eventually, outbound, rejection } from './try-kit.ts';

let server: ScriptedUpstream;
let upstream: Upstream;

/** Ten times as fast as the system's, so that seconds of the gateway are tenths of one here. */
const hasty: Clock = {
  ...systemClock,
  now: () => systemClock.now() * 10,
  after: (ms, task) => systemClock.after(ms / 10, task),
};

async function serve(script: Script): Promise<void> {
  server = await startUpstream(script);
  upstream = createLocalUpstream({ clock: hasty });
}

afterEach(async () => {
  await upstream.close();
  await server.close();
});

/** Writes a piece now and then until the connection is closed. */
function dribble(socket: Socket, head: string, piece: string): void {
  socket.write(head);
  const timer = setInterval(() => {
    if (socket.destroyed) clearInterval(timer);
    else socket.write(piece);
  }, 20);
}

/** Limits that no test meets unless it sets them: an hour. */
const HOUR = 3_600_000;
const request = (timeouts: Partial<ReturnType<typeof outbound>['timeouts']> = {}, stream = false) => ({
  ...outbound(server.url, {
    stream,
    timeouts: { connect: HOUR, firstByte: HOUR, firstContent: HOUR, idle: HOUR, total: HOUR, ...timeouts },
  }),
  deadline: hasty.now() + (timeouts.total ?? HOUR),
});

describe('an error reply', () => {
  it.each([false, true])(
    'that dribbles is settled three seconds after its headers, with what is there (stream: %s)',
    async (stream) => {
      await serve(({ socket }) =>
        dribble(socket, 'HTTP/1.1 500 Oops\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n', '{'),
      );
      const reply = (await upstream.send(request({}, stream))) as RefusedReply;
      expect([reply.ok, reply.status]).toEqual([false, 500]);
      expect(reply.text).toMatch(/^\{+ \[the body was cut off\]$/);
      expect(reply.timings.endedAt! - reply.timings.firstByteAt!).toBeGreaterThanOrEqual(3000);
      // Nothing of it is waited for.
      await eventually(() => server.open.size === 0);
    },
  );

  it('keeps its status where its body never begins', async () => {
    await serve(({ socket }) => socket.write('HTTP/1.1 429 Slow\r\nretry-after: 7\r\ncontent-length: 10\r\n\r\n'));
    expect(await upstream.send(request())).toMatchObject({
      ok: false,
      status: 429,
      headers: { 'retry-after': '7' },
      text: ' [the body was cut off]',
    });
  });
});

describe('a redirect', () => {
  it('fails with its headers: its body is not waited for', async () => {
    await serve(({ socket }) =>
      dribble(socket, 'HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 5000\r\n\r\n', 'x'),
    );
    const error = await rejection(upstream.send(request()));
    expect([error.code, error.message]).toEqual(['upstream_error', expect.stringContaining('302')]);
    await eventually(() => server.open.size === 0);
  });
});

describe('an answer that arrives slowly', () => {
  it.each<[string, string, string]>([
    ['whose headers dribble', 'HTTP/1.1 200 OK\r\nx-', 'a'],
    ['that says only that it goes on (1xx)', '', 'HTTP/1.1 102 Processing\r\n\r\n'],
    ['with early hints without end', '', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'],
  ])('ends with timeouts.first_byte: one %s', async (_, head, piece) => {
    await serve(({ socket }) => dribble(socket, head, piece));
    const error = await rejection(upstream.send(request({ firstByte: 1500 })));
    expect(error).toMatchObject({ code: 'timeout_first_byte', ofGateway: false });
    await eventually(() => server.open.size === 0);
  });

  it('may take its time where it is a plain reply that goes on: some servers send spaces to keep it alive', async () => {
    await serve(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 22\r\n\r\n');
      let sent = 0;
      const timer = setInterval(() => {
        socket.write(sent < 20 ? ' ' : '{}');
        sent += 1;
        if (sent > 20) clearInterval(timer);
      }, 10);
    });
    expect(await upstream.send(request({ idle: 1500 }))).toMatchObject({ ok: true, status: 200 });
  });

  it('ends with timeouts.total where a plain reply dribbles for ever', async () => {
    await serve(({ socket }) =>
      dribble(socket, 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 50000\r\n\r\n', ' '),
    );
    expect((await rejection(upstream.send(request({ total: 2500 })))).code).toBe('timeout_total');
  });

  it('of a token endpoint ends with the time that it has in all', async () => {
    await serve(({ socket }) => dribble(socket, 'HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n', '{'));
    const small = {
      url: `${server.url}/token`,
      method: 'POST',
      headers: {},
      allowInsecure: true,
      timeoutMs: 1500,
    } as const;
    expect((await rejection(upstream.exchange(small))).code).toBe('timeout_total');
  });
});

describe('a host that has no socket left', () => {
  it.each(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL'])(
    'fails with an error of its own, not the upstream’s: %s',
    async (code) => {
      await serve(() => {});
      const wire = {
        connect() {
          const socket = new Socket();
          setImmediate(() => socket.destroy(Object.assign(new Error('no'), { code })));
          return socket;
        },
        secure: () => {},
      };
      const starved = createLocalUpstream({ clock: hasty, wire });
      expect(await rejection(starved.send(request()))).toMatchObject({
        name: 'UpstreamError',
        code: 'sockets_exhausted',
        status: 503,
        retryAfterMs: 1000,
        ofGateway: true,
      });
      await starved.close();
    },
  );
});

describe('a request whose time is over before it is sent', () => {
  it('is not sent, and says nothing of its upstream', async () => {
    await serve(() => {});
    const late = { ...request(), deadline: hasty.now() };
    const [ofTarget, ofRequest] = await Promise.all([
      rejection(upstream.send(late)),
      rejection(upstream.send({ ...late, deadlineOf: 'request' })),
    ]);
    expect(ofTarget).toMatchObject({ name: 'UpstreamError', code: 'timeout_total', ofGateway: true });
    expect(ofRequest).toMatchObject({ name: 'GatewayError', code: 'timeout_request' });
    expect(server.connections).toBe(0);
  });
});
