import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MemorySocket, Traffic } from './memory-socket.ts';

const ended = (socket: MemorySocket): Promise<void> => new Promise((resolve) => socket.once('end', resolve));

describe('a connection in memory', () => {
  it('delivers all bytes in order, then the end', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 100_000 }), { maxLength: 20 }), async (pieces) => {
        const [near, far] = MemorySocket.pair(new Traffic());
        const got: Buffer[] = [];
        far.on('data', (piece: Buffer) => got.push(piece));
        for (const piece of pieces) near.write(piece);
        near.end();
        await ended(far);
        expect(Buffer.concat(got).equals(Buffer.concat(pieces))).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  it('makes the writer wait for the reader', async () => {
    const [near, far] = MemorySocket.pair(new Traffic());
    const writes = Array.from({ length: 20 }, () => near.write(Buffer.alloc(64 * 1024)));
    expect(writes.at(-1)).toBe(false);
    for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
    expect(far.readableLength).toBeLessThan(300 * 1024);
    const drained = new Promise<void>((resolve) => near.once('drain', resolve));
    far.resume();
    await drained;
  });

  it('ends on both sides when one is destroyed, after earlier bytes', async () => {
    const [near, far] = MemorySocket.pair(new Traffic());
    let text = '';
    far.on('data', (piece: Buffer) => (text += piece.toString()));
    const closed = Promise.all([near, far].map((socket) => new Promise((resolve) => socket.once('close', resolve))));
    near.write('last words', () => near.destroy());
    await closed;
    expect(text).toBe('last words');
  });

  it('reports whether anything is in transit', async () => {
    const traffic = new Traffic();
    const [near, far] = MemorySocket.pair(traffic);
    expect(traffic.still).toBe(true);
    near.write('x');
    expect(traffic.still).toBe(false);
    await new Promise((resolve) => far.once('data', resolve));
    expect(traffic.still).toBe(true);
  });
});
