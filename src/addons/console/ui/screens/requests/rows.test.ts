import { describe, expect, it } from 'vitest';
import type { ListedRequest } from '../../api/shapes.ts';
import { isIn, matches, MAX_ROWS, Rows, step, valuesOf } from './rows.ts';
import { barsOf, highest } from './bars.ts';

const at = (seconds: number): string => new Date(Date.UTC(2026, 10, 28, 18, 0, 0) + seconds * 1000).toISOString();

function line(id: string, seconds: number, more: Partial<ListedRequest> = {}): ListedRequest {
  return {
    request_id: id,
    time: at(seconds),
    state: 'complete',
    status: 200,
    duration_ms: 5,
    stream: false,
    attempts: 1,
    retries: 0,
    skipped: 0,
    ...more,
  };
}

describe('the rows', () => {
  it('are in the order of their arrival, each once, and a request that ended takes the place of itself', () => {
    const rows = new Rows();
    rows.add([line('b', 2), line('a', 1, { state: 'running' })]);
    expect(rows.add([line('c', 3), line('a', 1, { rescued: true })])).toBe(1);
    expect(rows.all.map(({ request_id }) => request_id)).toEqual(['c', 'b', 'a']);
    expect(rows.all.map(({ rescued }) => rescued === true)).toEqual([false, false, true]);
    rows.add([line('a', 1, { state: 'running' })]);
    expect(rows.all.filter(({ state }) => state === 'running')).toEqual([]);
  });

  it('are at most 10,000, the latest', () => {
    const rows = new Rows();
    rows.add(Array.from({ length: MAX_ROWS + 5 }, (_, index) => line(String(index), index)));
    expect([rows.all.length, rows.all.at(-1)?.request_id]).toEqual([MAX_ROWS, '5']);
  });

  it('give the next row of those shown', () => {
    const shown = [line('c', 3), line('b', 2), line('a', 1)];
    expect([
      step(shown, null, 1),
      step(shown, 'c', 1),
      step(shown, 'a', 1),
      step(shown, 'c', -1),
      step([], null, 1),
    ]).toEqual(['c', 'b', 'a', 'c', undefined]);
  });

  it('count a request that the client left among the failed ones', () =>
    expect(isIn('failed', line('a', 1, { state: 'aborted' }))).toBe(true));

  it('name the values that a filter may have', () =>
    expect(valuesOf([line('a', 1, { key_id: 'k', metadata: { app: 'web' } })])).toEqual({
      key: new Set(['k']),
      status: new Set(['200']),
      'label.app': new Set(['web']),
    }));
});

describe('a line of the stream', () => {
  const one = line('a', 1, {
    key_id: 'k',
    status: 503,
    duration_ms: 900,
    metadata: { app: 'web' },
    error: { code: 'overloaded' },
  });
  it.each([
    'key=k',
    'status=5xx',
    'status=503',
    'min_ms=900',
    'label.app=web',
    'q=OVERLOAD',
    'key=x&key=k',
    'state=complete',
  ])('fits %s', (query) => expect(matches(one, new URLSearchParams(query))).toBe(true));
  it.each(['key=x', 'status=4xx', 'min_ms=901', 'label.app=y', 'q=nothing', 'model=m'])('does not fit %s', (query) =>
    expect(matches(one, new URLSearchParams(query))).toBe(false),
  );
});

describe('the strip', () => {
  it('has every row in a bar of a round length', () => {
    const rows = [line('c', 61), line('b', 60, { state: 'failed' }), line('a', 0)];
    const bars = barsOf(rows);
    expect(bars.length).toBe(62);
    expect(bars.at(-2)).toEqual({ from: Date.parse(at(60)), to: Date.parse(at(61)), good: 0, bad: 1 });
    expect(highest(bars)).toBe(1);
    expect(barsOf([])).toEqual([]);
  });
});
