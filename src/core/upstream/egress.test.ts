import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../plugin/index.ts';
import { checkOrigin, permittedAddresses, type Lookup } from './egress.ts';

const origin = (url: string, allowInsecure = false) => ({ url, allowInsecure, connections: 1 });
const answers =
  (...addresses: string[]): Lookup =>
  async () =>
    addresses;
const never: Lookup = () => Promise.reject(new Error('looked up'));

function codeOf(task: () => unknown): string | undefined {
  try {
    task();
  } catch (error) {
    return error instanceof GatewayError ? error.code : String(error);
  }
  return undefined;
}

describe('an origin', () => {
  it.each(['https://api.test', 'https://api.test/', 'https://api.test:8443', 'https://[2606:4700::1]'])(
    '%s is accepted',
    (url) => expect(codeOf(() => checkOrigin(origin(url)))).toBeUndefined(),
  );

  it.each([
    'http://api.test',
    'ftp://api.test',
    'file:///etc/passwd',
    'api.test',
    '',
    'https://',
    'https://user@api.test',
    'https://user:pass@api.test',
    'https://api.test/v1',
    'https://api.test?x',
    'https://api.test#x',
    'javascript:alert(1)',
  ])('%j is refused', (url) => expect(codeOf(() => checkOrigin(origin(url)))).toBe('egress_refused'));

  it('may be plain http with allow_insecure, and no other scheme', () => {
    expect(checkOrigin(origin('http://127.0.0.1:11434', true)).host).toBe('127.0.0.1:11434');
    expect(codeOf(() => checkOrigin(origin('ftp://127.0.0.1', true)))).toBe('egress_refused');
  });
});

describe('the addresses of a host', () => {
  it('are the public ones', async () => {
    const lookup = answers('10.0.0.1', '8.8.8.8', '::1', '127.0.0.1', '2606:4700::1');
    expect(await permittedAddresses('api.test', false, lookup)).toEqual(['8.8.8.8', '2606:4700::1']);
  });

  it('alternate their families, beginning with the resolver’s first', async () => {
    expect(
      await permittedAddresses('api.test', false, answers('2606::1', '2606::2', '2606::3', '8.8.8.8', '1.1.1.1')),
    ).toEqual(['2606::1', '8.8.8.8', '2606::2', '1.1.1.1', '2606::3']);
    expect(await permittedAddresses('api.test', false, answers('8.8.8.8', '2606::1', '2606::2'))).toEqual([
      '8.8.8.8',
      '2606::1',
      '2606::2',
    ]);
  });

  it('refuse the connection when none is public, naming the host and the kind but not the address', async () => {
    const refusal = permittedAddresses('metadata.test', false, answers('169.254.169.254', '10.1.2.3'));
    await expect(refusal).rejects.toMatchObject({ code: 'egress_refused', retryable: false });
    await expect(refusal).rejects.toThrow(
      /metadata\.test resolves to a special-purpose address \(link local and cloud metadata/,
    );
    await expect(refusal).rejects.not.toThrow('169.254.169.254');
  });

  it('are all used with allow_insecure', async () => {
    expect(await permittedAddresses('local.test', true, answers('127.0.0.1', '10.0.0.1'))).toEqual([
      '127.0.0.1',
      '10.0.0.1',
    ]);
  });

  // Spellings in a catalog that the URL parser converts to an address.
  it.each([
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0x7f.0.0.1',
    '0177.0.0.1',
    '017700000001',
    '0',
    '１２７.0.0.1',
    '127.0.0.1.',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[0:0:0:0:0:ffff:7f00:0001]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    '[fd00::1]',
  ])('written as %s are refused without a look-up', async (host) => {
    const { hostname } = checkOrigin(origin(new URL(`https://${host}`).origin));
    await expect(permittedAddresses(hostname.replace(/^\[|\]$/g, ''), false, never)).rejects.toMatchObject({
      code: 'egress_refused',
    });
  });

  it('that cannot be resolved are a failed connection, with the resolver’s reason', async () => {
    const failing: Lookup = () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }));
    await expect(permittedAddresses('nowhere.test', false, failing)).rejects.toMatchObject({
      code: 'connection_failed',
      message: 'nowhere.test cannot be resolved (ENOTFOUND).',
    });
    await expect(permittedAddresses('nowhere.test', false, answers())).rejects.toMatchObject({
      code: 'connection_failed',
    });
  });
});
