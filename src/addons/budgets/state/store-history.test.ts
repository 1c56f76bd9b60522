import { describe, expect, it } from 'vitest';
import { StoreHistory } from './store-history.ts';

const first = { id: 'a', at: 1, accepted: true };
const place = (version: number, epoch = first) => ({ version, epoch });

describe('the history of a store that a gateway has seen', () => {
  it.each([
    ['a later version', place(8), false],
    ['the same version', place(7), false],
    ['an earlier version', place(6), true],
    ['a later version of a restored store', place(9, { id: 'b', at: 2, accepted: false }), true],
    ['an earlier version that an operator has accepted', place(3, { id: 'b', at: 2, accepted: true }), false],
    ['an epoch that was accepted before', place(9, { id: 'z', at: 0, accepted: true }), true],
    ['another epoch of the same moment', place(9, { id: 'z', at: 1, accepted: true }), true],
  ])('with %s', (_, found, isBehind) => {
    const history = new StoreHistory(undefined);
    expect(history.isBehind(found)).toBe(!found.epoch.accepted);
    history.saw(place(7));
    expect(history.isBehind(found)).toBe(isBehind);
  });

  it('without epochs, as earlier releases wrote it, goes by versions', () => {
    const history = new StoreHistory({ version: 7 });
    expect([history.isBehind(place(7)), history.isBehind(place(6)), history.isSame(first)]).toEqual([
      false,
      true,
      true,
    ]);
  });
});
