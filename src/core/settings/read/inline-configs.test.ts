import { describe, expect, it } from 'vitest';
import type { ServerFile } from '../../../../schemas/types.generated.ts';
import type { GatewayConfig } from '../../kernel/index.ts';
import { describe as describeDiagnostic } from '../source/diagnostic.ts';
import { InlineConfigs } from './inline-configs.ts';

function open(limit = 64 * 1024, server: ServerFile = {}) {
  const warnings: string[] = [];
  const configs = new InlineConfigs({
    limit,
    server,
    secretHeaders: ['x-entrance'],
    onWarnings: (reported) => warnings.push(...reported.map(describeDiagnostic)),
  });
  const get = (json: string): GatewayConfig => configs.get(json, 'x-gateway-config');
  return { get, configs, warnings };
}

const nested = (depth: number): string =>
  depth === 0 ? '{"provider":"@a"}' : `{"strategy":{"mode":"fallback"},"targets":[${nested(depth - 1)}]}`;

describe('a gateway config sent with a request', () => {
  it('compiles to the same as one in a file', () => {
    const { get, warnings } = open();
    const config = get(
      '{"strategy":{"mode":"loadbalance"},"targets":[{"provider":"@a","weight":3},{"provider":"@b"}],"cache":{"mode":"exact"}}',
    );
    expect(config).toMatchObject({ id: 'inline', route: { mode: 'loadbalance', weights: [3, 1] } });
    expect(warnings).toEqual([]);
  });

  it('is compiled once for all requests that send the same text', () => {
    const { get } = open();
    expect(get('{"provider":"@a"}')).toBe(get('{"provider":"@a"}'));
    expect(get('{"provider":"@a"}')).not.toBe(get('{"provider":"@b"}'));
  });

  it.each<[string, string, string]>([
    ['text that is not JSON', '{"provider":', 'x-gateway-config:1:1: not valid JSON'],
    ['YAML that is not JSON', '{provider: "@a"}', 'not valid JSON'],
    ['a misspelt key', '{"stratgey":{"mode":"single"}}', 'unknown key `stratgey`; did you mean "strategy"?'],
    ['a key that appears twice', '{"provider":"@a","provider":"@b"}', 'x-gateway-config:1:18: '],
    ['a value of the wrong type', '{"retry":{"attempts":"3"}}', '`attempts` must be a whole number'],
    ['a strategy without targets', '{"strategy":{"mode":"fallback"}}', '`mode: fallback` needs `targets`'],
    ['weights that are all zero', '{"strategy":{"mode":"loadbalance"},"targets":[{"weight":0}]}', 'all weights are 0'],
    ['a plugin chain of its own', '{"provider":"@a","plugins":["route"]}', 'cannot choose `plugins`'],
    ['hosts of its own choice', '{"provider":"@a","custom_hosts":{"hosts":["*"]}}', 'cannot set `custom_hosts`'],
    ['a credential to forward', '{"provider":"@a","forward_headers":["authorization"]}', 'never forwarded'],
    ['a reference to the environment', '{"name":"${env:HOME}"}', 'references are allowed in files only'],
    [
      'a reference to a file',
      '{"override_params":{"user":"${file:/etc/passwd}"}}',
      'references are allowed in files only',
    ],
    ['targets that nest too deep', nested(6), 'at most 5 are allowed'],
    ['JSON that nests too deep', nested(40), 'nests deeper than 32 levels'],
    [
      'more targets than 20',
      `{"strategy":{"mode":"fallback"},"targets":[${Array.from({ length: 21 }, () => '{"provider":"@a"}').join()}]}`,
      'at most 20',
    ],
  ])('is refused with %s', (_, json, message) => {
    const { get } = open();
    const refusal = { code: 'invalid_config', status: 400, message: expect.stringContaining(message) };
    // Twice: the second error comes from the cache.
    for (const attempt of [1, 2]) {
      expect(() => get(json), `attempt ${attempt}`).toThrow(expect.objectContaining(refusal));
    }
  });

  it('cannot forward the gateway’s own headers, whatever their prefix in server.yaml', () => {
    const { get } = open(undefined, { header_prefixes: ['x-acme-'] });
    expect(() => get('{"provider":"@a","forward_headers":["x-acme-config"]}')).toThrow(
      "is one of the gateway's own headers",
    );
    expect(() => get('{"provider":"@a","forward_headers":["X_Entrance"]}')).toThrow(
      '`X_Entrance` holds a credential of the gateway (secret_headers) and is never forwarded',
    );
    expect(() => get('{"provider":"@a","forward_headers":["x-tenant"]}')).not.toThrow();
  });

  it('is refused where the chains do not include a plugin that it needs', () => {
    const { get } = open(undefined, { chains: { attempt: ['transform', 'send'] } });
    expect(() => get('{"provider":"@a","cache":{"mode":"exact"}}')).toThrow('`cache` needs the plugin "cache"');
  });

  it('is refused for a reference without a value of the environment in the message', () => {
    expect(() => open().get('{"name":"${env:PATH}"}')).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining(process.env['PATH'] ?? '') }),
    );
  });

  it('is refused beyond the limit, in bytes', () => {
    const json = '{"name":"é"}';
    expect(() => open(12).get(json)).toThrow('x-gateway-config exceeds 12 bytes');
    expect(open(13).get(json).name).toBe('é');
  });

  it('is refused with at most five mistakes and the number of further ones', () => {
    const json = JSON.stringify(Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`zzz${index}`, 1])));
    expect(() => open().get(json)).toThrow(/zzz4.*; and 3 more\.$/);
  });

  it('is examined for at most fifty mistakes, and the message says that there are more', () => {
    const json = JSON.stringify(Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`zzz${index}`, 1])));
    expect(() => open().get(json)).toThrow(/zzz4.*; and more than 45 more\.$/);
  });

  it('is refused under the header name that the request used', () => {
    const { configs } = open();
    expect(() => configs.get('{"a":1}', 'x-acme-config')).toThrow('x-acme-config:1:2: unknown key `a`');
  });

  it('may use Portkey’s spellings, with a note for the operator', () => {
    const { get, warnings } = open();
    const config = get('{"virtual_key":"a","overrideParams":{"model":"m"}}');
    get('{"virtual_key":"a","overrideParams":{"model":"m"}}');
    expect(config.route).toMatchObject({ provider: '@a', overrideParams: { model: 'm' } });
    expect(warnings).toEqual([
      'x-gateway-config:1:2: warning: `virtual_key` is Portkey\'s spelling: write `provider: "@…"` here',
      "x-gateway-config:1:20: warning: `overrideParams` is Portkey's spelling: write `override_params` here",
    ]);
  });

  it('may escape `${` as in files', () => {
    expect(open().get('{"name":"$${x}"}').name).toBe('${x}');
  });
});
