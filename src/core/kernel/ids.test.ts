import fc from 'fast-check';
import { expect, it } from 'vitest';
import { callId, traceId, uuidv7, withoutDashes } from './ids.ts';

it('makes UUIDs of version 7 that sort by time (RFC 9562, section 5.7)', () => {
  const ids = [1, 2, 1_795_132_800_000, 1_795_132_800_001].map(uuidv7);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(ids.toSorted()).toEqual(ids);
  expect(Number.parseInt(ids[2]!.replaceAll('-', '').slice(0, 12), 16)).toBe(1_795_132_800_000);
});

it('writes the time of each UUID, whichever came before', () => {
  const at = fc.oneof(fc.nat(3), fc.double({ min: 0, max: 2 ** 48 - 1, noNaN: true }));
  fc.assert(
    fc.property(fc.array(at), (times) => {
      for (const time of times)
        expect(uuidv7(time).replaceAll('-', '').slice(0, 12)).toBe(Math.floor(time).toString(16).padStart(12, '0'));
    }),
  );
});

it('makes every random digit of a UUID and of a trace id as often as any other', () => {
  const ids = Array.from({ length: 4000 }, () => uuidv7(0) + traceId());
  expect(new Set(ids).size).toBe(ids.length);
  const random = [...Array(68).keys()].filter((place) => ids.some((id) => id[place] !== ids[0]![place]));
  expect(random).toHaveLength(19 + 32);
  for (const place of random) {
    const counts = Map.groupBy(ids, (id) => id[place]!);
    const kinds = place === 19 ? 4 : 16;
    expect(counts.size).toBe(kinds);
    for (const { length } of counts.values()) expect(Math.abs(length - 4000 / kinds)).toBeLessThan(200);
  }
});

it('makes call ids of the one shape, and never the same twice', () => {
  const ids = Array.from({ length: 5000 }, callId);
  for (const id of ids) expect(id).toMatch(/^call_[a-z0-9]{24}$/);
  expect(new Set(ids).size).toBe(ids.length);
  // Every letter comes up about as often: 120,000 letters over 36 make 3,333 each.
  const counts = Map.groupBy(ids.join('').replaceAll('call_', ''), (letter) => letter);
  expect(counts.size).toBe(36);
  for (const { length } of counts.values()) expect(Math.abs(length - 3333)).toBeLessThan(400);
});

it('makes trace ids as W3C Trace Context wants them', () => {
  expect(traceId()).toMatch(/^[0-9a-f]{32}$/);
  expect(traceId()).not.toBe(traceId());
});

it('takes the dashes out of an id', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[\w-]{1,200}$/), (id) => {
      expect(withoutDashes(id)).toBe(id.replaceAll('-', ''));
    }),
  );
});
