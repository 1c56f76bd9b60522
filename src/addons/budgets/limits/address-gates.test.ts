import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../plugin/testing/index.ts';
import { parseRate } from '../../../core/tenants/amounts.ts';
import { networkOf } from '../../../core/kernel/network-of.ts';
import { AddressGates } from './gates.ts';

describe('requests without a valid key', () => {
  it('are counted by address, each on its own', async () => {
    const clock = createFakeClock();
    const gates = new AddressGates(clock);
    gates.apply(parseRate('6/min'));
    expect(['192.0.2.1', '192.0.2.1', '192.0.2.2'].map((address) => gates.count(address))).toEqual([0, 10_000, 0]);
    await clock.advance(10_000);
    expect(gates.count('192.0.2.1')).toBe(0);
  });

  it('are not counted without a rate', () => {
    const gates = new AddressGates(createFakeClock());
    expect([gates.count('192.0.2.1'), gates.size]).toEqual([0, 0]);
  });

  it('are counted for so many addresses, of which the least recently used is forgotten', () => {
    const gates = new AddressGates(createFakeClock(), 2);
    gates.apply(parseRate('6/min'));
    const waits = ['a', 'b', 'a', 'c', 'a', 'b'].map((address) => gates.count(address));
    expect([waits, gates.size]).toEqual([[0, 0, 10_000, 0, 10_000, 0], 2]);
  });
});

it.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:0DB8:0001:0002::9', '2001:db8:1:2'],
  ['2001:db8::9', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['', ''],
])('the network of %s is %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});
