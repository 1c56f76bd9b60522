import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { embeddedIpv4, specialPurpose } from './address.ts';

/** The first and last address of every refused block, and its public neighbours. */
const REFUSED: readonly (readonly [string, string, string])[] = [
  ['0.0.0.0', '0.255.255.255', 'this network'],
  ['10.0.0.0', '10.255.255.255', 'private use'],
  ['100.64.0.0', '100.127.255.255', 'shared address space'],
  ['127.0.0.1', '127.255.255.255', 'loopback'],
  ['168.63.129.16', '168.63.129.16', 'Azure'],
  ['169.254.0.0', '169.254.255.255', 'link local'],
  ['169.254.169.254', '169.254.170.2', 'cloud metadata'],
  ['172.16.0.0', '172.31.255.255', 'private use'],
  ['192.0.0.0', '192.0.0.255', 'IETF protocol assignments'],
  ['192.0.2.0', '192.0.2.255', 'documentation'],
  ['192.31.196.0', '192.31.196.255', 'AS112'],
  ['192.52.193.0', '192.52.193.255', 'AMT'],
  ['192.88.99.0', '192.88.99.255', '6to4'],
  ['192.168.0.0', '192.168.255.255', 'private use'],
  ['192.175.48.0', '192.175.48.255', 'AS112'],
  ['198.18.0.0', '198.19.255.255', 'benchmarking'],
  ['198.51.100.0', '198.51.100.255', 'documentation'],
  ['203.0.113.0', '203.0.113.255', 'documentation'],
  ['224.0.0.0', '239.255.255.255', 'multicast'],
  ['240.0.0.0', '255.255.255.255', 'reserved'],
  ['::', '::', 'unspecified'],
  ['::1', '0:0:0:0:0:0:0:1', 'loopback'],
  ['::2', '::7f00:1', 'outside global unicast'],
  ['::127.0.0.1', '::10.0.0.1', 'outside global unicast'],
  ['::ffff:0:127.0.0.1', '::ffff:0:808:808', 'outside global unicast'],
  ['64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff', 'local-use translation'],
  ['100::', '100::ffff:ffff:ffff:ffff', 'discard only'],
  ['100:0:0:1::', '100::1:ffff:ffff:ffff:ffff', 'dummy'],
  ['2001::', '2001:0:ffff:ffff:ffff:ffff:ffff:ffff', 'IETF protocol assignments'],
  ['2001:1::1', '2001:1::3', 'IETF protocol assignments'],
  ['2001:2::', '2001:2:0:ffff:ffff:ffff:ffff:ffff', 'IETF protocol assignments'],
  ['2001:3::', '2001:4:112::', 'IETF protocol assignments'],
  ['2001:10::', '2001:3f:ffff::', 'IETF protocol assignments'],
  ['2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', '2001:30::', 'IETF protocol assignments'],
  ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', 'documentation'],
  ['2620:4f:8000::', '2620:4f:8000:ffff:ffff:ffff:ffff:ffff', 'AS112'],
  ['3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', 'documentation'],
  ['4000::', '5eff::1', 'outside global unicast'],
  ['5f00::', '5f00:ffff::', 'segment routing'],
  ['fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'unique local'],
  ['fe80::', 'febf::1', 'link local'],
  ['fe80::1%eth0', 'fe80::1%1', 'zone'],
  ['fec0::', 'feff::1', 'site local'],
  ['ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'multicast'],
];

const PUBLIC = [
  '1.0.0.0',
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '191.255.255.255',
  '192.0.1.0',
  '192.0.3.0',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2001:200::',
  '2001:4860:4860::8888',
  '2001:db7::',
  '2001:db9::',
  '2606:4700::6810:1',
  '2a00:1450:4001:80e::200a',
  '3ffe::1',
  '2003::1',
];

describe('an address', () => {
  it.each(REFUSED)('from %s to %s is refused: %s', (first, last, reason) => {
    expect(specialPurpose(first)).toContain(reason);
    expect(specialPurpose(last)).toContain(reason);
  });

  it.each(PUBLIC)('%s is public', (address) => expect(specialPurpose(address)).toBeUndefined());

  it.each(['', 'localhost', '1.2.3', '0x7f.1', '2130706433', '[::1]', '1.2.3.4:80'])('%j is not one', (text) =>
    expect(specialPurpose(text)).toBe('not an IP address'),
  );

  it('of another family that carries an IPv4 address is checked by that address', () => {
    const octet = fc.nat(255);
    fc.assert(
      fc.property(fc.tuple(octet, octet, octet, octet), (octets) => {
        const plain = octets.join('.');
        const [a, b, c, d] = octets.map((value) => value.toString(16).padStart(2, '0'));
        const forms = [
          `::ffff:${plain}`,
          `::FFFF:${a}${b}:${c}${d}`,
          `0:0:0:0:0:ffff:${a}${b}:${c}${d}`,
          `64:ff9b::${plain}`,
          `64:ff9b::${a}${b}:${c}${d}`,
          `2002:${a}${b}:${c}${d}::1`,
          `2002:${a}${b}:${c}${d}:1:2:3:4:5`,
        ];
        for (const form of forms) {
          expect(embeddedIpv4(form)).toBe(plain);
          expect(specialPurpose(form) === undefined).toBe(specialPurpose(plain) === undefined);
        }
      }),
    );
    expect(specialPurpose('::ffff:169.254.169.254')).toContain('cloud metadata');
    expect(specialPurpose('64:ff9b::a9fe:a9fe')).toContain('cloud metadata');
    expect(embeddedIpv4('2001:4860:4860::8888')).toBeUndefined();
  });
});
