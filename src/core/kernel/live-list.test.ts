import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LiveList, type Listed } from './live-list.ts';

class Item implements Listed<Item> {
  list: object | undefined;
  older: Item | undefined;
  newer: Item | undefined;
}

describe('LiveList', () => {
  it('holds the items of a Set, in the same order', () => {
    const items = Array.from({ length: 6 }, () => new Item());
    const steps = fc.array(fc.record({ add: fc.boolean(), at: fc.nat(5) }));
    fc.assert(
      fc.property(steps, (all) => {
        const list = new LiveList<Item>();
        const set = new Set<Item>();
        for (const { add, at } of all) {
          const item = items[at]!;
          if (add) {
            list.add(item);
            set.add(item);
          } else expect(list.delete(item)).toBe(set.delete(item));
          expect([...list]).toEqual([...set]);
          expect([list.size, items.map((one) => one.list === list)]).toEqual([
            set.size,
            items.map((one) => set.has(one)),
          ]);
        }
        for (const item of items) list.delete(item);
      }),
    );
  });

  it('leaves no reference in an item that has left', () => {
    const list = new LiveList<Item>();
    const [one, two, three] = [new Item(), new Item(), new Item()];
    for (const item of [one, two, three]) list.add(item);
    list.delete(two);
    expect(two).toEqual(new Item());
    expect([one.newer, three.older]).toEqual([three, one]);
  });

  it('passes over the current item when the loop deletes it', () => {
    const list = new LiveList<Item>();
    const items = [new Item(), new Item(), new Item()];
    for (const item of items) list.add(item);
    const seen: Item[] = [];
    for (const item of list) {
      seen.push(item);
      list.delete(item);
    }
    expect(seen).toEqual(items);
    expect(list.size).toBe(0);
  });

  it('ignores items of another list', () => {
    const [list, other] = [new LiveList<Item>(), new LiveList<Item>()];
    const item = new Item();
    other.add(item);
    expect(list.delete(item)).toBe(false);
    expect(other.size).toBe(1);
  });
});
