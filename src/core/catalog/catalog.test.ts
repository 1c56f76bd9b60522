import { describe, expect, test } from 'vitest';
import { Secret } from '../../plugin/index.ts';
import { noTokenCalls, testSetup } from '../providers/setup.testkit.ts';
import { compileCatalog } from './catalog.ts';

const anthropic = (slug: string, apiKey = 'sk-1') =>
  ({ slug, provider: 'anthropic', api_key: new Secret(apiKey) }) as const;

describe('compileCatalog', () => {
  test('keeps the order of the entries, by slug and by provider', () => {
    const { setup, problems } = testSetup(noTokenCalls);
    const catalog = compileCatalog(
      {
        providers: [
          anthropic('a'),
          { slug: 'sim', provider: 'openai', base_url: 'https://sim.example/v1' },
          anthropic('b'),
        ],
      },
      setup,
    );
    expect(problems).toEqual([]);
    expect(catalog.entries.map(({ name }) => name)).toEqual(['@a', '@sim', '@b']);
    expect(catalog.bySlug.get('sim')?.provider.provider).toBe('openai');
    expect(catalog.byProvider.get('anthropic')?.map(({ name }) => name)).toEqual(['@a', '@b']);
  });

  test('reads connections, models and timeouts', () => {
    const { setup } = testSetup(noTokenCalls);
    const entry = {
      ...anthropic('a'),
      connections: 7,
      models: ['claude-*'],
      timeouts: { connect: '2s', first_byte: 1500, total: '10m' },
    };
    const [compiled] = compileCatalog({ providers: [entry] }, setup).entries;
    expect(compiled).toMatchObject({ connections: 7, timeouts: { connect: 2_000, firstByte: 1_500, total: 600_000 } });
    expect(Object.keys(compiled?.timeouts ?? {})).toEqual(['connect', 'firstByte', 'total', 'firstByteOfStream']);
    expect(compiled?.models?.matches('claude-x')).toBe(true);
  });

  test('an error about two entries with one slug explains a slug that comes from the provider', () => {
    const { setup, problems } = testSetup(noTokenCalls);
    const openai = { slug: 'openai', provider: 'openai', base_url: 'https://own.example/v1' } as const;
    expect(compileCatalog({ providers: [openai, openai] }, setup).entries.map(({ name }) => name)).toEqual(['@openai']);
    expect(problems).toMatchObject([
      {
        path: ['providers', 1, 'slug'],
        message: 'another entry already has the slug "openai", which an entry without `slug` takes from its provider',
      },
    ]);
  });

  test('reports all problems at once, each at its path', () => {
    const { setup, problems } = testSetup(noTokenCalls);
    const catalog = compileCatalog(
      {
        providers: [
          anthropic('a', 'broken key'),
          { ...anthropic('b'), base_url: 'http://proxy.example' },
          anthropic('a'),
          { slug: 'v', provider: 'vertex-ai', region: 'global', service_account: new Secret('{}') },
          anthropic('c'),
        ],
      },
      setup,
    );
    expect(problems.map(({ path }) => path)).toEqual([
      ['providers', 0, 'api_key'],
      ['providers', 1, 'base_url'],
      ['providers', 2, 'slug'],
      ['providers', 3, 'service_account'],
    ]);
    expect(catalog.entries.map(({ name }) => name)).toEqual(['@c']);
  });
});
