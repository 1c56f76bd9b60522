import fc from 'fast-check';
import { expect, it } from 'vitest';
import { PriceList, PricesInForce } from './price-list.ts';

it('A request pays the prices with which it began, whatever replaces them while it runs', () => {
  const changes = fc.array(fc.nat(1000), { maxLength: 8 }).map((times) => times.toSorted((one, other) => one - other));
  fc.assert(
    fc.property(changes, fc.nat(1000), (times, startedAt) => {
      const lists = [-Infinity, ...times].map((from) => ({ from, list: new PriceList() }));
      const prices = new PricesInForce(lists[0]!.list);
      for (const { from, list } of lists.slice(1)) prices.replace(list, from);
      expect(prices.at(startedAt)).toBe(lists.findLast(({ from }) => from <= startedAt)!.list);
      expect(prices.current).toBe(lists.at(-1)!.list);
    }),
  );
});

it('A request that began before the last eight changes pays the oldest prices that are kept', () => {
  const lists = Array.from({ length: 20 }, () => new PriceList());
  const prices = new PricesInForce(lists[0]!);
  for (const [index, list] of lists.entries()) if (index > 0) prices.replace(list, index);
  expect(prices.at(0)).toBe(lists[11]);
});
