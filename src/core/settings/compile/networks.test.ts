import { expect, test } from 'vitest';
import { createNetworkTest, normaliseAddress, parseNetwork } from './networks.ts';

test.each([
  ['10.0.0.0/8', { address: '10.0.0.0', prefix: 8, family: 'ipv4' }],
  ['0.0.0.0/0', { address: '0.0.0.0', prefix: 0, family: 'ipv4' }],
  ['2001:DB8::/32', { address: '2001:db8::', prefix: 32, family: 'ipv6' }],
  ['::ffff:10.0.0.0/104', { address: '10.0.0.0', prefix: 8, family: 'ipv4' }],
])('%s is a network', (text, network) => {
  expect(parseNetwork(text)).toEqual(network);
});

test.each([
  '10.0.0.0',
  '10.0.0.0/33',
  '::/129',
  '10.0.0/8',
  '10.0.0.0/',
  '/8',
  'example.com/8',
  '10.0.0.0/8 ',
  '010.0.0.0/8',
  '::ffff:10.0.0.0/8',
])('%j is not a network', (text) => {
  expect(parseNetwork(text)).toBeUndefined();
});

test.each([
  ['1.2.3.4', '1.2.3.4'],
  ['::ffff:1.2.3.4', '1.2.3.4'],
  ['::ffff:102:304', '1.2.3.4'],
  ['FE80::1%eth0', 'fe80::1'],
  ['2001:0db8:0:0::1', '2001:db8::1'],
  ['localhost', undefined],
  ['', undefined],
])('%j is normalised to %j', (address, plain) => {
  expect(normaliseAddress(address)).toBe(plain);
});

test('0.0.0.0/0 covers no IPv6 address, and ::/0 no IPv4 address', () => {
  const [four, six] = [createNetworkTest(['0.0.0.0/0']), createNetworkTest(['::/0'])];
  expect([four('8.8.8.8'), four('::ffff:8.8.8.8'), four('2001:db8::1')]).toEqual([true, true, false]);
  expect([six('8.8.8.8'), six('::ffff:8.8.8.8'), six('2001:db8::1')]).toEqual([false, false, true]);
});

test('createNetworkTest throws for text that is not a network', () => {
  expect(() => createNetworkTest(['10.0.0.0'])).toThrow(RangeError);
});
