import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ShardedChanges, ShardedMap } from './sharded-map.ts';

it('answers as a map does, and earlier versions stay as they were', () => {
  const key = fc.oneof(fc.constantFrom('', 'a', 'keys/1', 'keys/2'), fc.string({ maxLength: 8 }));
  const write = fc.tuple(key, fc.option(fc.integer(), { nil: undefined }));
  fc.assert(
    fc.property(fc.array(fc.array(write, { maxLength: 30 }), { maxLength: 6 }), (versions) => {
      let map = new ShardedMap<number>();
      const plain = new Map<string, number>();
      const seen: [ShardedMap<number>, string][] = [];
      for (const writes of versions) {
        const changes = new ShardedChanges(map);
        for (const [name, value] of writes) {
          if (value === undefined) changes.delete(name);
          else changes.set(name, value);
          if (value === undefined) plain.delete(name);
          else plain.set(name, value);
          expect(changes.get(name)).toBe(plain.get(name));
        }
        map = changes.done();
        expect([map.size, sorted(map)]).toEqual([plain.size, sorted(plain)]);
        for (const name of plain.keys()) expect([map.has(name), map.get(name)]).toEqual([true, plain.get(name)]);
        seen.push([map, sorted(map)]);
      }
      for (const [version, text] of seen) expect(sorted(version)).toBe(text);
    }),
  );
});

const sorted = (map: Iterable<readonly [string, number]>): string =>
  JSON.stringify([...map].sort(([one], [other]) => (one < other ? -1 : 1)));
