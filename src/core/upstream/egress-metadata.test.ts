import { describe, expect, it } from 'vitest';
import { isLinkLocal, isMetadataServer } from './address.ts';
import { permittedAddresses, type Lookup } from './egress.ts';

const answers =
  (...addresses: string[]): Lookup =>
  async () =>
    addresses;
const NAME = 'metadata.google.internal';
const METADATA = ['169.254.169.254', 'fd20:ce::254'];

describe('the addresses of metadata servers', () => {
  it.each([
    ...METADATA,
    '169.254.170.2',
    '169.254.170.23',
    '100.100.100.200',
    'fd00:ec2::254',
    'FD00:0EC2:0:0:0:0:0:254',
    'fe80::a9fe:a9fe%eth0',
    '::ffff:169.254.169.254',
    '64:ff9b::a9fe:a9fe',
    '2002:a9fe:a9fe::1',
    '64:ff9b:1::a9fe:a9fe',
    '::169.254.169.254',
    'fd00:c1::a9fe:a9fe',
    '168.63.129.16',
    '169.254.0.23',
  ])('are recognized in every form: %s', (address) => expect(isMetadataServer(address)).toBe(true));

  it.each(['127.0.0.1', '169.254.1.1', '10.0.0.1', '8.8.8.8', '::1', 'fd20:ce::255', 'fe80::1', '', 'metadata'])(
    'do not include %s',
    (address) => expect(isMetadataServer(address)).toBe(false),
  );
});

const LINK_LOCAL = [
  '169.254.0.0',
  '169.254.1.1',
  '169.254.255.255',
  'fe80::1',
  'febf::1',
  'fe80::1%eth0',
  '::ffff:169.254.1.1',
  '::ffff:a9fe:101',
  '::169.254.1.1',
  '::ffff:0:169.254.1.1',
  '64:ff9b::169.254.1.1',
  '64:ff9b:1::169.254.1.1',
  '64:ff9b:1:abcd:ef01:2345:169.254.1.1',
  // Prefixes of 48, 56 and 64 bits: RFC 6052, section 2.2.
  '64:ff9b:1:a9fe:1:100::',
  '64:ff9b:1:a9:fe:101::',
  '64:ff9b:1:0:a9:fe01:100:0',
  '2002:a9fe:101::1',
  '2001:db8:1:2:0:5efe:169.254.1.1',
  '2001:db8:1:2:200:5efe:169.254.1.1',
  '2001:0:4136:e378:8000:63bf:5601:fefe',
];

describe('a link-local address', () => {
  it.each(LINK_LOCAL)('is known in every form: %s', (address) => expect(isLinkLocal(address)).toBe(true));

  it.each(['169.253.255.255', '169.255.0.0', 'fec0::1', 'fe7f::1', '127.0.0.1', '::1', '64:ff9b:1::10.0.0.1', '', 'x'])(
    'does not include %s',
    (address) => expect(isLinkLocal(address)).toBe(false),
  );

  it.each(LINK_LOCAL)('is out of reach with allow_insecure too, by itself or by a name: %s', async (address) => {
    for (const host of [address, 'harmless.test']) {
      const refusal = permittedAddresses(host, true, answers(address));
      await expect(refusal).rejects.toMatchObject({ code: 'egress_refused', retryable: false });
    }
  });

  it.each(['0251.0376.0251.0376', '2852039166', '169.254.169.254.', '[::ffff:169.254.1.1]', ''])(
    'is not reached by a resolver’s answer that is not an address: %j',
    async (answer) => {
      const refusal = permittedAddresses('harmless.test', true, answers(answer));
      await expect(refusal).rejects.toMatchObject({ code: 'egress_refused' });
    },
  );

  it('is skipped where a name also resolves to other addresses', async () => {
    expect(await permittedAddresses('local.test', true, answers('fe80::1', '10.0.0.1', '169.254.1.1'))).toEqual([
      '10.0.0.1',
    ]);
  });
});

describe('a metadata server', () => {
  it.each([false, true])('is out of reach for catalog entries, allow_insecure %s', async (allowInsecure) => {
    for (const address of METADATA) {
      for (const host of [address, NAME, 'harmless.test']) {
        const refusal = permittedAddresses(host, allowInsecure, answers(address));
        await expect(refusal).rejects.toMatchObject({ code: 'egress_refused', retryable: false });
      }
    }
  });

  it('is skipped where a name also resolves to other addresses', async () => {
    expect(await permittedAddresses('local.test', true, answers('169.254.169.254', '127.0.0.1'))).toEqual([
      '127.0.0.1',
    ]);
  });

  it('may be called for the gateway’s own token', async () => {
    expect(await permittedAddresses(NAME, true, answers(...METADATA), true)).toEqual(METADATA);
    expect(await permittedAddresses('169.254.169.254', true, answers(), true)).toEqual(['169.254.169.254']);
    // The environment may name any host: an emulator, or a proxy in the same pod.
    expect(await permittedAddresses('localhost', true, answers('127.0.0.1'), true)).toEqual(['127.0.0.1']);
  });

  it('is not reached through a spoofed name', async () => {
    await expect(permittedAddresses(NAME, true, answers('10.6.6.6'), true)).rejects.toMatchObject({
      code: 'egress_refused',
      message: 'metadata.google.internal resolves to an address that is not a metadata server.',
    });
  });
});
