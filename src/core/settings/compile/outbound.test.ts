import { describe, expect, test } from 'vitest';
import { Secret } from '../../../plugin/index.ts';
import type { Problem } from '../../kernel/report.ts';
import { compileOutbound } from './outbound.ts';

function compile(egress: Parameters<typeof compileOutbound>[0], env: Record<string, string> = {}) {
  const problems: Problem[] = [];
  const outbound = compileOutbound(egress, env, (problem) => problems.push(problem));
  const shown = (proxy: { url: string; credentials: Secret | undefined } | undefined) =>
    proxy && [proxy.url, proxy.credentials?.reveal()];
  return {
    https: shown(outbound.proxies.https),
    http: shown(outbound.proxies.http),
    noProxy: outbound.noProxy,
    problems: problems.map(({ path, message }) => `${path.join('.')}: ${message}`),
  };
}

const ENV = {
  HTTPS_PROXY: 'http://u:p%40ss@proxy.example:3128/',
  http_proxy: 'plain.example:80',
  NO_PROXY: 'a.example, .b\tc',
};
const NONE = { https: undefined, http: undefined, noProxy: [], problems: [] };

describe('the way to upstreams', () => {
  test('is direct without `proxy`, whatever variables are set', () => {
    expect(compile(undefined, ENV)).toEqual(NONE);
    expect(compile({ proxy: 'none' }, ENV)).toEqual(NONE);
  });

  test('is that of the variables for `env`, with their credentials', () => {
    expect(compile({ proxy: 'env' }, ENV)).toEqual({
      https: ['http://proxy.example:3128', 'u:p@ss'],
      http: ['http://plain.example', undefined],
      noProxy: ['a.example', '.b', 'c'],
      problems: [],
    });
  });

  test('is that of the settings for a URL, and the variables do not count', () => {
    const egress = {
      proxy: 'http://own.example:8080/',
      proxy_credentials: new Secret('u:p'),
      no_proxy: ['10.0.0.0/8'],
    };
    const own = ['http://own.example:8080', 'u:p'];
    expect(compile(egress, ENV)).toEqual({ https: own, http: own, noProxy: ['10.0.0.0/8'], problems: [] });
  });

  test('is reported where it cannot be meant so, without a word of the variables', () => {
    expect(compile({ proxy: 'env' }).problems).toEqual([expect.stringMatching(/^proxy: neither HTTPS_PROXY/)]);
    const socks = compile({ proxy: 'env' }, { HTTPS_PROXY: 'socks5://u:canary@a:1' });
    expect(socks.problems[0]).toMatch(/^proxy: the variable HTTPS_PROXY is not the URL/);
    expect(socks.problems.join()).not.toContain('canary');
    const alone = compile({ proxy_credentials: new Secret('u:p'), no_proxy: ['a'] });
    expect(alone.problems).toEqual([
      'proxy_credentials: `proxy_credentials` has no effect without `proxy`: name the proxy, or remove this',
      'no_proxy: `no_proxy` has no effect without `proxy`: name the proxy, or remove this',
    ]);
    expect(
      compile({ proxy: 'http://a:1', no_proxy: ['a b', '10.0.0.0/99', '*', 'a.example:80', '::1'] }).problems,
    ).toEqual([
      'no_proxy.0: "a b" is no host name, address or network in CIDR notation, such as ".internal.example.com" or "10.0.0.0/8"',
      'no_proxy.1: "10.0.0.0/99" is no host name, address or network in CIDR notation, such as ".internal.example.com" or "10.0.0.0/8"',
    ]);
  });
});
