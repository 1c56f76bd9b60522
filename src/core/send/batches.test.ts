import { describe, expect, it } from 'vitest';
import { ByteBudget } from '../upstream/bounded-body.ts';
import { CountingReader } from './batches.ts';

describe('replies that are read in parallel', () => {
  it('share one budget, which held replies reduce', () => {
    const count = new ByteBudget(10, 3);
    const [first, second] = [new CountingReader(count), new CountingReader(count)];
    first.push(Buffer.from('abcd'));
    second.push(Buffer.from('efg'));
    expect([first.end().toString(), second.end().toString()]).toEqual(['abcd', 'efg']);
    expect([first.signals.failure, second.signals.failure]).toEqual([undefined, undefined]);
    const third = new CountingReader(count);
    third.push(Buffer.from('h'));
    expect(third.signals.failure).toMatchObject({ status: 502, kind: 'reply_too_large' });
    expect(third.signals.failure?.message).toContain('10 bytes (limits.reply)');
  });
});
