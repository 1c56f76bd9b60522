import { describe, expect, it, vi } from 'vitest';
import { TurnReply } from './turn-reply.ts';

/** Two of them fill a slice. */
const event = (at: number): string => `data: {"type":"response.x","at":${at},"x":"${'x'.repeat(40_000)}"}\n\n`;
const HEAD = { status: 200, headers: new Map([['content-type', 'text/event-stream']]) };
const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

function start() {
  const sent: string[] = [];
  const waiting: (() => void)[] = [];
  const senders = {
    send: (texts: readonly string[], left: () => void) => void (sent.push(...texts), waiting.push(left)),
    say() {},
  };
  const names = { streamId: undefined, previous: undefined, unknownPrevious: false };
  const reply = new TurnReply(senders, names, () => {});
  reply.head(HEAD);
  return { reply, sent, left: () => waiting.shift()?.() };
}

describe('a reply of many events in one piece', () => {
  const piece = Buffer.from(Array.from({ length: 8 }, (_, at) => event(at)).join(''));

  it('leaves in slices: each when the one before has left and the event loop has run', async () => {
    const { reply, sent, left } = start();
    const taken = vi.fn<() => void>();
    reply.body(piece, taken);
    expect(sent).toHaveLength(2);
    await nextTurn();
    expect(sent).toHaveLength(2);
    left();
    expect(sent).toHaveLength(2);
    await nextTurn();
    expect(sent).toHaveLength(4);
    for (let slice = 0; slice < 3; slice += 1) {
      expect(taken).not.toHaveBeenCalled();
      left();
      await nextTurn();
    }
    expect(taken).toHaveBeenCalledOnce();
    expect(sent.map((text) => (JSON.parse(text) as { at: number }).at)).toEqual(
      Array.from({ length: 8 }).keys().toArray(),
    );
  });

  it('sends no further slice when it is given up', async () => {
    const { reply, sent, left } = start();
    reply.body(piece, () => {});
    reply.closed(false);
    left();
    await nextTurn();
    expect(sent).toHaveLength(2);
  });
});
