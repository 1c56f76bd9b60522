import { describe, expect, test } from 'vitest';
import { TurnReply } from '../../src/addons/responses/websockets/turn-reply.ts';
import { growthOf, MOST_GROWTH } from './measure.ts';
import { cutInto, letters } from './replies-build.ts';
import { readsOf, SHAPES } from './replies-run.ts';
import { frame, openSocket, PING, TEXT } from './socket-run.ts';
import { SOCKET_SHAPES } from './socket-shapes.ts';

test.each(SOCKET_SHAPES)(
  'The cost of what a client sends into a WebSocket grows with its bytes for $name',
  { timeout: 120_000 },
  ({ reads }) => {
    const { factor } = growthOf((bytes) => {
      const all = reads(bytes);
      return () => {
        const { wire } = openSocket();
        for (const read of all) wire.emit('data', read);
      };
    });
    expect(factor).toBeLessThan(MOST_GROWTH);
  },
);

test('Pings that come a byte at a time hold nothing, also within a message', () => {
  const { wire, held } = openSocket();
  const send = (bytes: Buffer): void => cutInto(bytes, 1).forEach((byte) => void wire.emit('data', byte));
  const pings = Buffer.concat(Array.from({ length: 10_000 }, () => frame(PING, 'x')));
  send(pings);
  expect(held()).toBe(0);
  wire.emit('data', frame(TEXT, letters(100_000), { fin: false }));
  send(pings);
  // As if the fragment had come in a thousand pieces.
  expect(held()).toBeLessThan(100_000 + 300 * 1024);
  expect(held()).toBeGreaterThan(100_000);
});

describe('A frame that comes a byte at a time', () => {
  /** CPU milliseconds of the longest read, and what became of the frame. */
  function sendOneByOne(bytes: number) {
    const { wire, held, turns } = openSocket();
    const sent = frame(TEXT, letters(bytes));
    let longest = 0;
    for (const byte of sent) {
      const from = process.threadCpuUsage();
      wire.emit('data', Buffer.from([byte]));
      const { user, system } = process.threadCpuUsage(from);
      longest = Math.max(longest, (user + system) / 1000);
    }
    return { longest, wire, held: held(), turns: turns() };
  }

  test('blocks the process with none of its reads', async () => {
    const { longest, wire } = sendOneByOne(262_000);
    expect(longest).toBeLessThan(200);
    // An error of the receiver comes when the stack is empty.
    await new Promise((resolve) => void setImmediate(resolve));
    expect(wire.closedWith).toBe(1008);
  });

  test('is read where it has no more bytes than reads are allowed, and nothing stays held', () => {
    expect(sendOneByOne(16_000)).toMatchObject({ turns: 1, held: 0, wire: { closedWith: undefined } });
  });
});

describe('The cost of a reply that leaves as messages of a WebSocket', () => {
  const senders = {
    send: (_: readonly string[], sent: () => void) => sent(),
    say: (_: string, sent: () => void) => sent(),
  };
  const names = { streamId: 'turn', previous: 'resp_0', unknownPrevious: true };

  test.each(SHAPES['openai-responses'])('grows with its bytes for $name', { timeout: 120_000 }, (shape) => {
    const type = shape.stream ? 'text/event-stream' : 'application/json';
    const { factor } = growthOf((bytes) => {
      const reads = readsOf(shape, bytes);
      return () => {
        const reply = new TurnReply(senders, names, () => {});
        reply.head({ status: 200, headers: new Map([['content-type', type]]) });
        for (const read of reads) reply.body(read, () => {});
        reply.closed(true);
      };
    });
    expect(factor).toBeLessThan(MOST_GROWTH);
  });
});
