import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/kernel/system-clock.ts';
import { memoryFiles } from '../../src/core/settings/source/files.ts';
import { loadSettings } from '../../src/core/settings/read/load.ts';
import { headerPaths, type HeaderPath } from './header-paths/paths.ts';
import { everyHeader, mark, marksIn } from './header-paths/sent.ts';

const CATALOG = `providers:
  - { slug: openai, provider: openai, api_key: '\${env:A:-openai-key-0000}' }
  - { slug: claude, provider: anthropic, api_key: '\${env:B:-claude-key-0000}' }
  - { slug: vertex, provider: vertex-ai, region: us-central1, project_id: my-project }
  - { slug: local, provider: openai, base_url: https://llm.example.com/v1, secret_headers: { X-Entrance: '\${env:C:-entrance-word-0}' } }
`;
const KEY = "keys: [{ id: team, key: '${env:K:-gatehouse-test-key-0123456789}' }]\n";

async function pathsOf(files: Readonly<Record<string, string>>): Promise<readonly HeaderPath[]> {
  const all = { 'catalog.yaml': CATALOG, 'keys.yaml': KEY, ...files };
  const named = Object.entries(all).map(([name, text]) => [`configs/${name}`, text]);
  const loaded = await loadSettings('configs', { env: {}, files: memoryFiles(Object.fromEntries(named)) });
  expect(loaded.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  return headerPaths(loaded, systemClock);
}

const line = ({ config = '-', target, header, as, provider }: HeaderPath): string =>
  `${config} ${target}: ${header}${as === header ? '' : ` as ${as}`} → ${provider}`;

const own = ['anthropic-beta', 'x-gateway-anthropic-beta', 'x-gateway-familya-beta'];
const betas = (config: string, target: string, provider: string): string[] =>
  own.map((name) => `${config} ${target}: ${name}${name === own[0] ? '' : ' as anthropic-beta'} → ${provider}`);
const version = (config: string, target: string): string => `${config} ${target}: anthropic-version → @claude`;

describe('which headers can reach which upstream', () => {
  it('is listed for requests without a config: headers of the API, and the caller’s own credential if the entry has none', async () => {
    const paths = await pathsOf({});
    expect(paths.map(line).toSorted()).toEqual(
      [
        ...betas('-', 'config', '@claude'),
        version('-', 'config'),
        ...betas('-', 'config', '@vertex'),
        '- config: authorization → @vertex',
        ...betas('-', 'config', 'vertex-ai'),
        '- config: authorization → vertex-ai',
      ].toSorted(),
    );
  });

  it('is listed for every target', async () => {
    const prod = `forward_headers: [X-Tenant]
targets:
  - { provider: "@openai" }
  - provider: "@claude"
    forward_headers: [x-source]
strategy: { mode: fallback }
`;
    const paths = (await pathsOf({ 'gateway/prod.yaml': prod })).filter(({ config }) => config === 'prod');
    expect(paths.map(line).toSorted()).toEqual(
      [
        'prod config.targets[0]: x-tenant → @openai',
        'prod config.targets[1]: x-source → @claude',
        ...betas('prod', 'config.targets[1]', '@claude'),
        version('prod', 'config.targets[1]'),
      ].toSorted(),
    );
  });

  it('depends on the model, where the target names one', async () => {
    const gateway = (model: string) => ({
      'gateway/a.yaml': `provider: "@vertex"\noverride_params: { model: ${model} }\n`,
    });
    const headers = async (model: string) => {
      const paths = await pathsOf(gateway(model));
      return paths.flatMap(({ config, header }) => (config === 'a' ? [header] : [])).toSorted();
    };
    expect(await headers('gemini-2.5-flash')).toEqual(['authorization']);
    expect(await headers('anthropic.claude-sonnet-4-5')).toEqual([...own, 'authorization'].toSorted());
  });

  it('knows the gateway’s own headers under every prefix', async () => {
    const paths = await pathsOf({ 'server.yaml': 'header_prefixes: [gateway, acme]\n' });
    const names = paths.flatMap(({ provider, header }) => (provider === '@claude' ? [header] : []));
    expect(names).toEqual(expect.arrayContaining(['x-gateway-familya-beta', 'x-acme-familya-beta', 'anthropic-beta']));
  });

  it('lists the hosts that callers may choose', async () => {
    const paths = await pathsOf({
      'gateway/own.yaml': 'custom_hosts: { hosts: ["*.example.com"] }\n',
      'keys.yaml': `keys: [{ id: team, key: '\${env:K:-gatehouse-test-key-0123456789}', custom_hosts: { hosts: [a.example.com] } }]\n`,
    });
    const custom = paths.filter(({ provider }) => provider === 'custom host');
    expect(new Set(custom.map(({ header }) => header))).toEqual(new Set(['authorization']));
    expect(new Set(custom.map(({ config }) => config))).toEqual(new Set([undefined, 'own']));
  });

  it.each(['127.0.0.1:*', '*', '*.example.com:8443'])('finds a host among those that fit %s', async (host) => {
    const paths = await pathsOf({
      'gateway/own.yaml': `custom_hosts: { hosts: ["${host}"], allow_insecure: true }\n`,
    });
    const found = paths.filter(({ provider, config }) => provider === 'custom host' && config === 'own');
    expect(found.map(({ header }) => header)).toEqual(['authorization']);
  });
});

describe('a request with every header', () => {
  it('has whatever is asked for, but what belongs to the connection', () => {
    const headers = everyHeader('x-gateway-');
    expect(marksIn(String(headers['x-anything']))).toEqual(['x-anything']);
    expect(Object.hasOwn(headers, 'cookie')).toBe(true);
    expect(headers.connection).toBeUndefined();
    expect(marksIn(`a, ${mark('b')}${mark('c')} {d}`)).toEqual(['b', 'c']);
  });
});
