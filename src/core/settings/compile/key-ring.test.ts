import { describe, expect, test } from 'vitest';
import type { GatewayKey } from '../../../../schemas/types.generated.ts';
import { GatewayError, Secret } from '../../../plugin/index.ts';
import { generateKey, digestOf } from './api-keys.ts';
import { createKeyRing } from './key-ring.ts';

const NOW = Date.UTC(2026, 10, 21);
const ringOf = (keys: readonly GatewayKey[], wall = () => NOW) => createKeyRing({ keys: [...keys] }, { wall });

function codeOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof GatewayError) return error.code;
    throw error;
  }
  return 'none';
}

describe('a key ring', () => {
  test('finds a key given as a digest or as a reference, with its permissions', () => {
    const { key, digest } = generateKey();
    const limits = { providers: ['@a'], models: ['m-*'], configs: ['prod'], default_config: 'prod' };
    const ring = ringOf([
      { id: 'stored', digest, ...limits },
      { id: 'given', key: new Secret('from-the-environment', 'env:KEY') },
    ]);
    expect(ring.find(key, '203.0.113.1')).toEqual({
      keyId: 'stored',
      providers: ['@a'],
      models: ['m-*'],
      configs: ['prod'],
      defaultConfig: 'prod',
      inlineConfigs: false,
      inlinePlugins: false,
    });
    expect(ring.find('from-the-environment', '203.0.113.1')).toMatchObject({ keyId: 'given', providers: undefined });
  });

  test('finds nothing for any other text, however similar', () => {
    const { key, digest } = generateKey();
    const ring = ringOf([{ id: 'a', digest }]);
    for (const text of ['', ' ', key.slice(0, -1), `${key} `, key.toUpperCase(), digest, digest.slice(7)]) {
      expect(ring.find(text, '127.0.0.1')).toBeUndefined();
    }
  });

  test('refuses a key from the moment it expires, by the clock of each request', () => {
    let now = NOW;
    const expires = new Date(NOW + 1000).toISOString();
    const ring = ringOf([{ id: 'a', digest: digestOf('some-key-1'), expires_at: expires }], () => now);
    now = NOW + 999;
    expect(ring.find('some-key-1', '127.0.0.1')?.keyId).toBe('a');
    now = NOW + 1000;
    expect(codeOf(() => ring.find('some-key-1', '127.0.0.1'))).toBe('expired_api_key');
  });

  test('accepts the previous key of a rotation until its end, as the same caller, and reports its uses once a minute', () => {
    let now = NOW;
    const uses: unknown[] = [];
    const previous = { digest: digestOf('old-key-1'), expires_at: new Date(NOW + 120_000).toISOString() };
    const keys = [{ id: 'a', digest: digestOf('new-key-1'), previous }];
    const ring = createKeyRing({ keys }, { wall: () => now }, (...use) => uses.push([now - NOW, ...use]));
    const found = ring.find('new-key-1', '127.0.0.1');
    expect(found?.keyId).toBe('a');
    expect(uses).toEqual([]);
    for (const at of [0, 1, 59_999, 60_000, 119_999]) {
      now = NOW + at;
      expect(ring.find('old-key-1', '127.0.0.1')).toBe(found);
    }
    expect(uses).toEqual([0, 60_000].map((at) => [at, 'a', NOW + 120_000]));
    now = NOW + 120_000;
    expect(codeOf(() => ring.find('old-key-1', '127.0.0.1'))).toBe('expired_api_key');
    expect(ring.find('new-key-1', '127.0.0.1')).toBe(found);
  });

  test('ends the previous key with the key itself', () => {
    let now = NOW;
    const at = (ms: number): string => new Date(NOW + ms).toISOString();
    const previous = { digest: digestOf('old-key-1'), expires_at: at(5000) };
    const ring = ringOf([{ id: 'a', digest: digestOf('new-key-1'), expires_at: at(1000), previous }], () => now);
    now = NOW + 1000;
    for (const key of ['old-key-1', 'new-key-1'])
      expect(codeOf(() => ring.find(key, '127.0.0.1'))).toBe('expired_api_key');
  });

  test('cannot be created with an invalid `expires_at`: the key would never expire', () => {
    const key = { id: 'a', digest: digestOf('some-key-1'), expires_at: '2026-12-31T23:59:60Z' };
    expect(() => ringOf([key])).toThrow(RangeError);
  });

  test.each([
    ['127.0.0.1', 'none'],
    ['127.255.0.9', 'none'],
    ['::ffff:127.0.0.1', 'none'],
    ['::FFFF:7f00:1', 'none'],
    ['::1', 'none'],
    ['2001:db8::5', 'none'],
    ['fe80::1%eth0', 'none'],
    ['10.0.0.1', 'network_not_allowed'],
    ['::2', 'network_not_allowed'],
    ['2001:db9::5', 'network_not_allowed'],
    ['::ffff:10.0.0.1', 'network_not_allowed'],
    ['not an address', 'network_not_allowed'],
    ['', 'network_not_allowed'],
  ])('checks the networks of a key: from %j the result is %s', (address, code) => {
    const networks = ['127.0.0.0/8', '::1/128', '2001:db8::/32', 'fe80::/10'];
    const ring = ringOf([{ id: 'a', digest: digestOf('some-key-1'), networks }]);
    expect(codeOf(() => ring.find('some-key-1', address))).toBe(code);
  });

  test('reports a wrong address only to the holder of a key: other callers learn nothing about its limits', () => {
    const ring = ringOf([{ id: 'a', digest: digestOf('some-key-1'), networks: ['10.0.0.0/8'] }]);
    expect(ring.find('another-key', '127.0.0.1')).toBeUndefined();
  });
});

describe('the certificates of clients', () => {
  const keys: GatewayKey[] = [
    { id: 'plain', key: new Secret('the-plain-key') },
    { id: 'uri', key: new Secret('the-key-of-uri'), client_certificate: { subject_alt_name: 'spiffe://a/b' } },
    { id: 'dns', key: new Secret('the-key-of-dns'), client_certificate: { subject_alt_name: 'App.example.com' } },
    {
      id: 'both',
      key: new Secret('the-key-of-both'),
      client_certificate: { subject_alt_name: '10.0.0.1', common_name: 'app' },
      networks: ['10.0.0.0/8'],
    },
  ];
  const ring = createKeyRing({ keys, clientCertificates: true }, { wall: () => NOW });
  const { certificates } = ring;
  const withNames = (...names: string[]) => ({ names: new Set(names), problem: undefined });
  const found = (...names: string[]): string | undefined => certificates!.find(withNames(...names), '10.1.2.3')?.keyId;

  test('are none of a ring whose listener asks for none', () => {
    expect(createKeyRing({ keys }, { wall: () => NOW }).certificates).toBeUndefined();
  });

  test('identify the one key whose names they all have, each by its kind', () => {
    expect(found('URI:spiffe://a/b', 'CN:x')).toBe('uri');
    expect(found('DNS:app.example.com')).toBe('dns');
    expect(found('IP Address:10.0.0.1', 'CN:app')).toBe('both');
    for (const names of [[], ['DNS:spiffe://a/b'], ['CN:App.example.com'], ['IP Address:10.0.0.1'], ['CN:app']])
      expect(found(...names)).toBeUndefined();
  });

  test('identify none of several keys', () => {
    expect(codeOf(() => found('URI:spiffe://a/b', 'DNS:app.example.com'))).toBe('invalid_client_certificate');
  });

  test('are held to the expiry and the networks of the key', () => {
    const certificate = withNames('IP Address:10.0.0.1', 'CN:app');
    expect(codeOf(() => certificates!.find(certificate, '203.0.113.1'))).toBe('network_not_allowed');
  });

  test('must be those that the caller’s key demands, if it demands one', () => {
    const allow = (key: string, ...names: string[]): string =>
      codeOf(() => certificates!.allow(ring.find(key, '10.1.2.3')!, withNames(...names)));
    expect(allow('the-plain-key')).toBe('none');
    expect(allow('the-key-of-both', 'IP Address:10.0.0.1', 'CN:app')).toBe('none');
    expect(allow('the-key-of-both', 'IP Address:10.0.0.1')).toBe('invalid_client_certificate');
    expect(allow('the-key-of-uri', 'DNS:app.example.com')).toBe('invalid_client_certificate');
  });

  test('must be there, and signed', () => {
    expect(codeOf(() => certificates!.verify(undefined))).toBe('invalid_client_certificate');
    const unsigned = { names: new Set<string>(), problem: 'SELF_SIGNED_CERT_IN_CHAIN' };
    expect(codeOf(() => certificates!.verify(unsigned))).toBe('invalid_client_certificate');
  });
});
