import { describe, expect, it } from 'vitest';
import { Arrivals, type ArrivingUpload } from './arrivals.ts';

const stored = (sizes: Record<string, number>) => Object.entries(sizes).map(([id, bytes]) => ({ id, bytes }));

const enter = (arrivals: Arrivals, id: string, sizes: Record<string, number> = {}): ArrivingUpload => {
  const arrival = arrivals.enter('a', id)!;
  arrival.count(stored(sizes));
  return arrival;
};

describe('the uploads of an owner under way', () => {
  it('count each other as their bytes arrive, and no file twice', () => {
    const arrivals = new Arrivals();
    const one = enter(arrivals, 'one', { file: 100, one: 10 });
    one.bytes = 10;
    const two = enter(arrivals, 'two', { file: 100, one: 10 });
    expect([one.others, two.others]).toEqual([100, 110]);
    one.bytes = 25;
    expect(two.others).toBe(125);
    // It stays, between two requests or as a file.
    one.kept = 20;
    one.end();
    one.end();
    expect(two.others).toBe(120);
    const again = enter(arrivals, 'one', { file: 100, one: 20 });
    again.bytes = 30;
    expect(two.others).toBe(130);
    again.kept = 0;
    again.end();
    expect(two.others).toBe(100);
    // The last piece of a file that is complete, sent again.
    const repeated = arrivals.enter('a', 'file')!;
    expect(two.others).toBe(100);
    repeated.end();
    expect(two.others).toBe(100);
    arrivals.removed('a', 'file');
    expect(two.others).toBe(0);
  });

  it('see what ends while the store is read', () => {
    const arrivals = new Arrivals();
    const one = enter(arrivals, 'one');
    one.bytes = 50;
    const two = arrivals.enter('a', 'two')!;
    // This listing is older.
    const listing = stored({ one: 5 });
    one.kept = 50;
    one.end();
    two.count(listing);
    expect(two.others).toBe(50);
  });

  it('are one request at a time for each file, and nothing remains of them', () => {
    const arrivals = new Arrivals();
    const one = enter(arrivals, 'one');
    expect(arrivals.enter('a', 'one')).toBeUndefined();
    const other = arrivals.enter('b', 'one')!;
    expect(other.others).toBe(0);
    one.end();
    other.end();
    expect(enter(arrivals, 'one').others).toBe(0);
  });
});
