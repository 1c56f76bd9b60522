import { describe, expect, it } from 'vitest';
import { checkProxiedName, createBypass, createRoutes } from './route.ts';

describe('hosts without a proxy', () => {
  it.each([
    ['example.com', 'example.com', true],
    ['example.com', 'api.example.com', true],
    ['.example.com', 'api.example.com', true],
    ['*.example.com', 'api.example.com', true],
    ['example.com', 'notexample.com', false],
    ['EXAMPLE.com', 'Api.Example.COM', true],
    ['example.com:8443', 'example.com', false],
    ['example.com:443', 'example.com', true],
    ['10.0.0.0/8', '10.200.3.4', true],
    ['10.0.0.0/8', '11.0.0.1', false],
    ['10.0.0.0/8', 'ten.example', false],
    ['192.0.2.7', '192.0.2.7', true],
    ['2001:db8::/32', '2001:db8::5', true],
    ['2001:db8::5', '2001:db8::6', false],
    ['*', 'anything.example', true],
    ['', 'example.com', false],
    ['.', 'example.com', false],
    ['10.0.0.0/99', '10.0.0.1', false],
  ])('%j and %s: %s', (entry, host, expected) => {
    expect(createBypass([entry])(host, 443)).toBe(expected);
  });

  it('are always those of this machine', () => {
    const bypasses = createBypass([]);
    for (const host of ['localhost', 'a.localhost', '127.0.0.1', '127.8.8.8', '::1'])
      expect(bypasses(host, 80)).toBe(true);
    expect(bypasses('example.com', 443)).toBe(false);
  });
});

it('a proxy is chosen by the scheme of the upstream', () => {
  const proxy = (url: string) => ({ url, credentials: undefined });
  const routes = createRoutes({ proxies: { https: proxy('http://a:1') }, noProxy: ['[2001:db8::5]'] });
  expect(routes.proxyFor(new URL('https://x.example'))?.url).toBe('http://a:1');
  expect(routes.proxyFor(new URL('http://x.example'))).toBeUndefined();
});

describe('a name that a proxy resolves', () => {
  const refused = (name: string, allowInsecure: boolean): boolean => {
    try {
      checkProxiedName(name, allowInsecure);
      return false;
    } catch {
      return true;
    }
  };

  it.each([
    'metadata.google.internal',
    'METADATA.google.internal.',
    'metadata.google.internal..',
    'metadata',
    'instance-data.ec2.internal',
  ])('is refused always if it is that of a metadata server: %s', (name) => {
    expect([refused(name, false), refused(name, true)]).toEqual([true, true]);
  });

  it.each(['vault', 'db.internal', 'printer.local', 'nas.home.arpa', 'x.lan', 'x.localhost'])(
    'is refused unless the entry allows inner names: %s',
    (name) => {
      expect([refused(name, false), refused(name, true)]).toEqual([true, false]);
    },
  );

  it.each(['api.openai.com', 'local.example.com', 'internal.example.com'])(
    'is accepted if it is public: %s',
    (name) => {
      expect(refused(name, false)).toBe(false);
    },
  );
});
