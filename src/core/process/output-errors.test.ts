import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { boundWaiting } from './output-errors.ts';

/** The bytes that arrived, and a reader that takes one chunk at a time. */
function open() {
  const taken: string[] = [];
  const waiting: (() => void)[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _, done) {
      taken.push(chunk.toString());
      waiting.push(done);
    },
  });
  boundWaiting(stream);
  return { stream, taken, read: () => waiting.shift()?.() };
}

const CHUNK = 'x'.repeat(1024);

describe('an output that nothing reads', () => {
  it('buffers 1 MiB, drops later writes, and still calls their callbacks', async () => {
    const { stream } = open();
    let dropped = 0;
    for (let count = 0; count < 3000; count += 1) stream.write(CHUNK);
    expect(stream.writableLength).toBe(1024 * 1024);
    expect(stream.write(CHUNK, () => (dropped += 1))).toBe(false);
    stream.write(CHUNK, 'utf8', () => (dropped += 1));
    await new Promise((resolve) => setImmediate(resolve));
    expect(dropped).toBe(2);
    expect(stream.writableLength).toBe(1024 * 1024);
  });

  it('accepts writes once it is read again', () => {
    const { stream, taken, read } = open();
    for (let count = 0; count < 3000; count += 1) stream.write(CHUNK);
    read();
    read();
    const before = stream.writableLength;
    stream.write('next');
    expect(stream.writableLength).toBe(before + 4);
    expect(taken.length).toBeGreaterThan(1);
  });
});
