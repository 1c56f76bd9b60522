import { describe, expect, it } from 'vitest';
import type { HeaderPath } from '../../explanation/header-paths.ts';
import { systemClock } from '../../../../plugin/index.ts';
import { memoryFiles } from '../../../../core/settings/source/files.ts';
import { loadSettings, type LoadResult } from '../../../../core/settings/read/load.ts';
import { headerPaths } from './paths.ts';
import { EVERY_HEADER, mark, marksIn } from './sent.ts';

const CATALOG = `providers:
  - { slug: openai, provider: openai, api_key: '\${env:A:-openai-key-0000}' }
  - { slug: claude, provider: anthropic, api_key: '\${env:B:-claude-key-0000}' }
  - { slug: vertex, provider: vertex-ai, region: us-central1, project_id: my-project }
  - { slug: local, provider: openai, base_url: https://llm.example.com/v1, secret_headers: { X-Entrance: '\${env:C:-entrance-word-0}' } }
`;
const KEY = "keys: [{ id: team, key: '${env:K:-gatehouse-test-key-0123456789}' }]\n";

async function load(files: Readonly<Record<string, string>>): Promise<LoadResult> {
  const all = { 'catalog.yaml': CATALOG, 'keys.yaml': KEY, ...files };
  const named = Object.entries(all).map(([name, text]) => [`configs/${name}`, text]);
  return loadSettings('configs', { env: {}, files: memoryFiles(Object.fromEntries(named)) });
}

async function pathsOf(files: Readonly<Record<string, string>>) {
  const loaded = await load(files);
  expect(loaded.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  return (await headerPaths({ loaded, clock: systemClock }))!;
}

const line = ({ config = '-', target, header, as, provider, why }: HeaderPath): string =>
  `${config} ${target}: ${header}${as === header ? '' : ` as ${as}`} → ${provider} (${why})`;

const own = ['anthropic-beta', 'x-gateway-anthropic-beta', 'x-gateway-familya-beta'];
const betas = (config: string, target: string, provider: string): string[] =>
  own.map(
    (name) => `${config} ${target}: ${name}${name === own[0] ? '' : ' as anthropic-beta'} → ${provider} (spoken)`,
  );
const version = (config: string, target: string): string => `${config} ${target}: anthropic-version → @claude (spoken)`;

describe('which headers can reach which upstream', () => {
  it('is listed for requests without a config: headers of the API, and the caller’s own credential if the entry has none', async () => {
    const { paths } = await pathsOf({});
    expect(paths.map(line).toSorted()).toEqual(
      [
        ...betas('-', 'config', '@claude'),
        version('-', 'config'),
        ...betas('-', 'config', '@vertex'),
        '- config: authorization → @vertex (credential)',
        ...betas('-', 'config', 'vertex-ai'),
        '- config: authorization → vertex-ai (credential)',
      ].toSorted(),
    );
    expect(paths.find(({ provider, why }) => provider === '@vertex' && why === 'credential')?.source).toEqual({
      kind: 'settings',
      at: { file: 'configs/catalog.yaml', line: 4, column: 5 },
      setting: 'providers.2',
    });
  });

  it('is listed for every target, with the line that forwards a header', async () => {
    const prod = `forward_headers: [X-Tenant]
targets:
  - { provider: "@openai" }
  - provider: "@claude"
    forward_headers: [x-source]
strategy: { mode: fallback }
`;
    const paths = (await pathsOf({ 'gateway/prod.yaml': prod })).paths.filter(({ config }) => config === 'prod');
    expect(paths.map(line).toSorted()).toEqual(
      [
        'prod config.targets[0]: x-tenant → @openai (forwarded)',
        'prod config.targets[1]: x-source → @claude (forwarded)',
        ...betas('prod', 'config.targets[1]', '@claude'),
        version('prod', 'config.targets[1]'),
      ].toSorted(),
    );
    const places = paths.flatMap(({ why, source }) => (why === 'forwarded' ? [source] : []));
    expect(places).toEqual([
      {
        kind: 'settings',
        at: { file: 'configs/gateway/prod.yaml', line: 1, column: 19 },
        setting: 'forward_headers.0',
      },
      {
        kind: 'settings',
        at: { file: 'configs/gateway/prod.yaml', line: 5, column: 23 },
        setting: 'targets.1.forward_headers.0',
      },
    ]);
  });

  it('depends on the model, where the target names one', async () => {
    const gateway = (model: string) => ({
      'gateway/a.yaml': `provider: "@vertex"\noverride_params: { model: ${model} }\n`,
    });
    const headers = async (model: string) => {
      const { paths } = await pathsOf(gateway(model));
      return paths.flatMap(({ config, header }) => (config === 'a' ? [header] : [])).toSorted();
    };
    expect(await headers('gemini-2.5-flash')).toEqual(['authorization']);
    expect(await headers('anthropic.claude-sonnet-4-5')).toEqual([...own, 'authorization'].toSorted());
  });

  it('knows the gateway’s own headers under every prefix', async () => {
    const { paths } = await pathsOf({ 'server.yaml': 'header_prefixes: [gateway, acme]\n' });
    const names = paths.flatMap(({ provider, header }) => (provider === '@claude' ? [header] : []));
    expect(names).toEqual(expect.arrayContaining(['x-gateway-familya-beta', 'x-acme-familya-beta', 'anthropic-beta']));
  });

  it('lists the hosts that callers may choose, with the line that permits them', async () => {
    const { paths } = await pathsOf({
      'gateway/own.yaml': 'custom_hosts: { hosts: ["*.example.com"] }\n',
      'keys.yaml': `keys: [{ id: team, key: '\${env:K:-gatehouse-test-key-0123456789}', custom_hosts: { hosts: [a.example.com] } }]\n`,
    });
    const custom = paths.filter(({ provider }) => provider === 'custom host');
    expect(new Set(custom.map(({ header }) => header))).toEqual(new Set(['authorization']));
    expect(custom.map(({ config, source }) => [config, source.kind === 'settings' && source.at.file])).toEqual(
      expect.arrayContaining([
        [undefined, 'configs/keys.yaml'],
        ['own', 'configs/gateway/own.yaml'],
      ]),
    );
  });

  it.each(['127.0.0.1:*', '*', '*.example.com:8443'])('finds a host among those that fit %s', async (host) => {
    const { paths } = await pathsOf({
      'gateway/own.yaml': `custom_hosts: { hosts: ["${host}"], allow_insecure: true }\n`,
    });
    const found = paths.filter(({ provider, config }) => provider === 'custom host' && config === 'own');
    expect(found.map(({ header }) => header)).toEqual(['authorization']);
  });

  it('says what never travels, and why', async () => {
    const { never } = await pathsOf({ 'server.yaml': 'header_prefixes: [acme]\n' });
    expect(never).toEqual(
      expect.arrayContaining([
        { header: 'x-acme-api-key', why: 'may hold a credential' },
        { header: 'cookie', why: 'may hold a credential' },
        { header: 'x-entrance', why: 'holds a credential of @local (secret_headers)' },
        { header: 'host', why: 'belongs to the connection or is written by the gateway' },
      ]),
    );
  });

  it('says that callers with configs of their own choose for themselves', async () => {
    const keys = "keys: [{ id: team, key: '${env:K:-gatehouse-test-key-0123456789}', inline_configs: true }]\n";
    expect((await pathsOf({ 'keys.yaml': keys })).notes).toEqual([
      expect.stringContaining('The key `team` may send a config'),
    ]);
    expect((await pathsOf({})).notes).toEqual([]);
  });

  it('holds no secret of the settings', async () => {
    const files = { 'gateway/a.yaml': 'provider: "@local"\nforward_headers: [x-tenant]\n' };
    expect(JSON.stringify(await pathsOf(files))).not.toMatch(/-key-0|entrance-word/);
  });
});

describe('a request with every header', () => {
  it('has whatever is asked for, but what belongs to the connection', () => {
    expect(marksIn(String(EVERY_HEADER['x-anything']))).toEqual(['x-anything']);
    expect(Object.hasOwn(EVERY_HEADER, 'cookie')).toBe(true);
    expect(EVERY_HEADER.connection).toBeUndefined();
    expect(marksIn(`a, ${mark('b')}${mark('c')} {d}`)).toEqual(['b', 'c']);
  });
});
