import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createNetworkTest } from '../../settings/compile/networks.ts';
import { clientAddress, UNKNOWN } from './client-address.ts';
import { runs } from '../../../../test/support/effort.ts';

const isTrusted = createNetworkTest(['10.0.0.0/24', '2001:db8:1::/64', '127.0.0.0/8', '::1/128']);
const PROXY = '10.0.0.1';
const listed = (text: string, peer = PROXY): string => clientAddress(peer, { 'x-forwarded-for': text }, isTrusted);
const standard = (text: string, peer = PROXY): string => clientAddress(peer, { forwarded: text }, isTrusted);

describe('the client address', () => {
  it.each([
    ['its peer, whatever the header contains', '203.0.113.9', '198.51.100.1', '203.0.113.9'],
    ['the hop that a trusted proxy reports', PROXY, '198.51.100.1', '198.51.100.1'],
    [
      'the hop that a trusted proxy with an IPv4-mapped address reports',
      '::ffff:10.0.0.1',
      '198.51.100.1',
      '198.51.100.1',
    ],
    ['the nearest hop that is not a trusted proxy', PROXY, '6.6.6.6, 198.51.100.1, 10.0.0.2, 10.0.0.3', '198.51.100.1'],
    ['not a hop to the left of it', PROXY, '127.0.0.1, 10.0.0.9, 198.51.100.1', '198.51.100.1'],
    ['not a hop to the left of it, even if it is malformed', PROXY, '"<script>,,,[::, 198.51.100.1', '198.51.100.1'],
    ['the farthest hop if all are trusted', PROXY, '10.0.0.7, 10.0.0.2', '10.0.0.7'],
    ['the proxy if the header is empty', PROXY, ' , ,', PROXY],
    ['an address with a port', PROXY, '198.51.100.1:4711', '198.51.100.1'],
    ['an IPv6 address', PROXY, '2001:db8:9::1', '2001:db8:9::1'],
    ['an IPv6 address in brackets', PROXY, '[2001:DB8:9::1]', '2001:db8:9::1'],
    ['an IPv6 address with a port', PROXY, '[2001:db8:9::1]:443', '2001:db8:9::1'],
    ['an IPv4 address in its IPv6 form', PROXY, '::ffff:198.51.100.1', '198.51.100.1'],
    ['an IPv4 address in its IPv6 form with a port', PROXY, '[::ffff:c633:6401]:1', '198.51.100.1'],
    ['past a trusted proxy of the other family', PROXY, '198.51.100.1, 2001:db8:1::5', '198.51.100.1'],
    ['past empty elements', PROXY, '198.51.100.1,, 10.0.0.2,', '198.51.100.1'],
  ])('is %s', (_, peer, header, address) => expect(listed(header, peer)).toBe(address));

  it.each([
    'unknown',
    '198.51.100.1, garbage',
    '198.51.100.1, unknown, 10.0.0.2',
    '198.51.100.1:99999999',
    '198.51.100.256',
    '010.1.2.3',
    '0x0a000001',
    '1.2.3',
    '[198.51.100.1',
    '2001:db8:9::1]:1',
    '"198.51.100.1"',
    'host.example',
    '198.51.100.1 10.0.0.2',
  ])('is unknown where a trusted proxy says %s', (header) => expect(listed(header)).toBe(UNKNOWN));

  it.each(['127.0.0.1', '127.9.9.9:80', '::1', '[::1]:1', '::ffff:127.0.0.1', '0.0.0.0', '::', '127.0.0.1, 10.0.0.2'])(
    'is never this machine because of the header %s',
    (header) => {
      expect(listed(header)).toBe(UNKNOWN);
      expect(listed(header, '127.0.0.1')).toBe(UNKNOWN);
    },
  );

  it('is the peer if there is no header or no trusted proxy', () => {
    expect(clientAddress(PROXY, {}, isTrusted)).toBe(PROXY);
    expect(clientAddress('', { 'x-forwarded-for': '1.1.1.1' }, isTrusted)).toBe('');
    expect(clientAddress(PROXY, { 'x-forwarded-for': '1.1.1.1' }, createNetworkTest([]))).toBe(PROXY);
  });
});

describe('the client address from Forwarded', () => {
  it.each([
    ['for=198.51.100.1', '198.51.100.1'],
    ['For="198.51.100.1:4711";proto=https;by=10.0.0.1', '198.51.100.1'],
    ['proto=http;FOR="[2001:db8:9::1]:4711"', '2001:db8:9::1'],
    ['for="[2001:db8:9::1]"', '2001:db8:9::1'],
    ['for="198.51.100.1:_port"', '198.51.100.1'],
    ['for=6.6.6.6, for=198.51.100.1 ; proto=http,for=10.0.0.2', '198.51.100.1'],
    ['for="6.6.6.6, for=7.7.7.7", for=198.51.100.1', '198.51.100.1'],
    ['for="a\\"b", for=198.51.100.1', '198.51.100.1'],
    ['for=_hidden, for=198.51.100.1, for=10.0.0.2', '198.51.100.1'],
    ['for=10.0.0.9', '10.0.0.9'],
    ['', PROXY],
    [', ,', PROXY],
  ])('is read from %j', (header, address) => expect(standard(header)).toBe(address));

  it.each([
    'for=unknown',
    'for=_hidden',
    'for=_SEVKISEK',
    'proto=https',
    'for=198.51.100.1, by=10.0.0.1',
    // An IPv6 address without brackets or quotes is no token (RFC 7239, section 6).
    'for=2001:db8:9::1',
    'for="2001:db8:9::1"',
    'for=1.1.1.1;for=198.51.100.1',
    'for=198.51.100.1 for=2.2.2.2',
    'for = 198.51.100.1',
    'for="198.51.100.1',
    // The proxy's quotes would close a string that the client opened.
    'for=", for="[2001:db8:9::1]"',
    'for=127.0.0.1',
    'for="[::1]"',
    '198.51.100.1',
  ])('is unknown by %j', (header) => expect(standard(header)).toBe(UNKNOWN));

  it('is unknown if X-Forwarded-For has another address: the proxy has written only one of the two', () => {
    const both = (forwarded: string, list: string) =>
      clientAddress(PROXY, { forwarded, 'x-forwarded-for': list }, isTrusted);
    expect(both('for=198.51.100.1', '198.51.100.1')).toBe('198.51.100.1');
    expect(both('for="[::ffff:198.51.100.1]:1"', '6.6.6.6, 198.51.100.1:2')).toBe('198.51.100.1');
    expect(both('for=10.0.0.7', '198.51.100.1')).toBe(UNKNOWN);
    expect(both('for=198.51.100.1', '10.0.0.7')).toBe(UNKNOWN);
    expect(both('nonsense', '198.51.100.1')).toBe(UNKNOWN);
  });
});

const OWN = fc.ipV4().filter((address) => !isTrusted(address) && !address.startsWith('0.'));
const PROXIES = fc.array(fc.constantFrom('10.0.0.2', '10.0.0.3', '[2001:db8:1::7]:80'), { maxLength: 3 });

describe('header content that the client invented', () => {
  it('never changes its address', () => {
    fc.assert(
      fc.property(fc.string(), OWN, PROXIES, (claim, own, proxies) => {
        expect(listed([claim, own, ...proxies].join(', '))).toBe(own);
      }),
    );
  });

  it('makes it at worst unknown in Forwarded, never another address', () => {
    const claims = fc.oneof(fc.string(), fc.stringMatching(/^[for=",; \\[\]:.0-9_a-f]*$/));
    fc.assert(
      fc.property(claims, OWN, fc.boolean(), (claim, own, quoted) => {
        const added = quoted ? `for="[::ffff:${own}]:4711"` : `for=${own};proto=http`;
        expect([own, UNKNOWN]).toContain(standard(`${claim}, ${added}`));
      }),
      { numRuns: runs(2000) },
    );
  });
});
