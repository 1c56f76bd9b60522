import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { Cancellation, GatewayError } from '../../src/plugin/index.ts';
import { systemClock } from '../../src/core/kernel/system-clock.ts';
import type { Upstream } from '../../src/core/upstream/index.ts';
import { answer, chunk, lastChunk, openStream, startUpstream, type Script } from './scripted-upstream.ts';
import { createLocalUpstream, DONE, event, eventually, outbound } from './try-kit.ts';

/** What an upstream may do with a request; its body names one. */
const DEEDS: Record<string, Script> = {
  whole({ socket }) {
    openStream(socket);
    chunk(socket, event({ start: true }));
    for (let n = 0; n < 20; n += 1) chunk(socket, event({ text: `${n}` }));
    chunk(socket, DONE);
    lastChunk(socket);
  },
  slow({ socket }) {
    openStream(socket);
    let left = 6;
    const timer = setInterval(() => {
      left -= 1;
      chunk(socket, left > 0 ? event({ text: 'x' }) : DONE);
      if (left > 0 && !socket.destroyed) return;
      clearInterval(timer);
      lastChunk(socket);
    }, 3);
  },
  refuse: ({ socket }) => answer(socket, 429, '{"error":"slow"}'),
  silent: () => {},
  reset: ({ socket }) => void socket.resetAndDestroy(),
  close: ({ socket }) => void socket.end(),
  cut({ socket }) {
    openStream(socket);
    chunk(socket, event({ text: 'x' }));
    setTimeout(() => socket.resetAndDestroy(), 3);
  },
  fail({ socket }) {
    openStream(socket);
    chunk(socket, event({ error: 529 }));
    lastChunk(socket);
  },
  nonsense: ({ socket }) => void socket.write('what?\r\n\r\n'),
  hangUpAfter({ socket }) {
    answer(socket, 200, event({ text: 'x' }) + DONE, 'content-type: text/event-stream\r\n');
    // At once when the reply has left: a moment later the next request could be running on this connection.
    socket.destroySoon();
  },
};

interface Visit {
  readonly deed: string;
  /** Milliseconds after which the client leaves; past 20 it stays. */
  readonly leaveAfter: number;
  readonly pauses: boolean;
}

const visits = fc.array(
  fc.record({ deed: fc.constantFrom(...Object.keys(DEEDS)), leaveAfter: fc.nat(60), pauses: fc.boolean() }),
  { minLength: 5, maxLength: 40 },
);

/** How it went: every visit must come to exactly one of these. */
async function visit(upstream: Upstream, url: string, { deed, leaveAfter, pauses }: Visit): Promise<string> {
  const cancellation = new Cancellation();
  if (leaveAfter < 20) setTimeout(() => cancellation.cancel(new GatewayError('client_closed', 'left')), leaveAfter);
  try {
    const reply = await upstream.send(
      outbound(url, { body: deed, connections: 3, cancellation, timeouts: { firstByte: 300, idle: 300 } }),
    );
    if (!reply.ok) return `refused ${reply.status}`;
    const { body } = reply;
    if (Buffer.isBuffer(body)) return 'whole';
    const endings: string[] = [];
    await new Promise<void>((resolve) => {
      cancellation.onCancel(() => {
        // Leaving after the end changes nothing.
        if (endings.length === 0) endings.push('left');
        resolve();
      });
      const ending = (how: string) => {
        endings.push(how);
        resolve();
      };
      body.open({
        push() {
          expect(endings).toEqual([]);
          if (!pauses) return;
          body.pause();
          setTimeout(() => body.resume(), 1);
        },
        end: () => ending('whole'),
        fail: (error) => ending(error.code),
      });
    });
    await systemClock.sleep(2);
    expect(endings).toHaveLength(1);
    return endings[0]!;
  } catch (error) {
    if (error instanceof GatewayError) return error.code;
    throw error;
  }
}

it('whatever upstreams and clients do, every request ends once and the pool is left clean', async () => {
  const server = await startUpstream((request) => DEEDS[request.body]!(request));
  const upstream = createLocalUpstream();
  const expected: Record<string, RegExp> = {
    whole: /^(whole)$/,
    slow: /^(whole)$/,
    refuse: /^refused 429$/,
    // In the line behind others it may be the line's limit, but never anything else.
    silent: /^timeout_first_byte$/,
    reset: /^connection_failed$/,
    close: /^connection_failed$/,
    cut: /^stream_interrupted$/,
    fail: /^overloaded$/,
    nonsense: /^upstream_error$/,
    hangUpAfter: /^whole$/,
  };
  await fc.assert(
    fc.asyncProperty(visits, async (plan) => {
      const outcomes = await Promise.all(plan.map((one) => visit(upstream, server.url, one)));
      for (const [index, outcome] of outcomes.entries()) {
        if (outcome === 'left' || outcome === 'client_closed') continue;
        // The total of firstByte counts from the request's start, so a full pool may let any request run into it.
        if (outcome === 'timeout_first_byte') continue;
        expect(outcome).toMatch(expected[plan[index]!.deed]!);
      }
      expect(upstream.stats()).toMatchObject([{ running: 0, queued: 0 }]);
      await eventually(() => server.open.size <= 3);
    }),
    { numRuns: 25, endOnFailure: true },
  );
  // The pool still works.
  expect(await visit(upstream, server.url, { deed: 'whole', leaveAfter: 60, pauses: true })).toBe('whole');
  await upstream.close();
  await eventually(() => server.open.size === 0);
  await server.close();
});
