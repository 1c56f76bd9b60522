import { describe, expect, test } from 'vitest';
import type { CatalogFile } from '../../../schemas/types.generated.ts';
import { Secret } from '../../plugin/index.ts';
import type { Caller, Route } from '../kernel/index.ts';
import { createCaller, createConfig, createExchange, createTarget } from '../../plugin/testing/index.ts';
import { noTokenCalls, testSetup } from '../providers/setup.testkit.ts';
import { compileCatalog } from './catalog.ts';
import { createModelDirectory } from './model-directory.ts';
import { ModelLabels } from './model-labels.ts';
import { CatalogResolver } from './target-resolver.ts';

const FILE: CatalogFile = {
  providers: [
    {
      slug: 'v',
      provider: 'vertex-ai',
      region: 'us',
      project_id: 'my-project',
      models: ['gemini-2.5-pro', 'gemini-2.5-*'],
    },
    { slug: 'w', provider: 'vertex-ai', region: 'eu', project_id: 'my-project' },
    { slug: 'claude', provider: 'anthropic', api_key: new Secret('sk-1'), models: ['claude-x', 'no/name', 'claude-x'] },
    { slug: 'o', provider: 'openai', api_key: new Secret('sk-2') },
  ],
};

const target = (provider: string | undefined, model: unknown, byDefault?: unknown): Route =>
  createTarget({
    provider,
    ...(model !== undefined && { overrideParams: { model } }),
    ...(byDefault !== undefined && { defaultParams: { model: byDefault } }),
  });

interface Setup {
  readonly configs?: Readonly<Record<string, Route>>;
  readonly caller?: Partial<Caller>;
  readonly headers?: Record<string, string>;
}

function directoryFor({ configs = {}, caller = {}, headers = {} }: Setup) {
  const { setup } = testSetup(noTokenCalls);
  const catalog = compileCatalog(FILE, setup);
  const resolver = new CatalogResolver(catalog, new ModelLabels());
  const directory = createModelDirectory(
    catalog,
    { ids: Object.keys(configs), get: (id) => (configs[id] ? createConfig({ id, route: configs[id] }) : undefined) },
    resolver,
  );
  const exchange = createExchange({ caller: createCaller(caller), headers });
  return {
    list: () => directory.list(exchange).map(({ id }) => id),
    find: (id: string) => directory.find(exchange, id),
  };
}

describe('the list', () => {
  test('contains the literal names of entries once each, without names that no request could use', () => {
    expect(directoryFor({}).list()).toEqual(['@claude/claude-x', '@v/gemini-2.5-pro']);
  });

  test.each<[string, Route, readonly string[]]>([
    ['a target’s override', target('@w', 'gemini-3'), ['@w/gemini-3']],
    ['a target’s default', target('@w', undefined, 'gemini-3'), ['@w/gemini-3']],
    ['the override instead of the default', target('@w', 'gemini-3', 'gemini-2'), ['@w/gemini-3']],
    ['a name with its own entry', target('@v', '@w/gemini-3'), ['@w/gemini-3']],
    ['a name that a pattern of the entry matches', target('@v', 'gemini-2.5-flash'), ['@v/gemini-2.5-flash']],
    ['a provider with one entry', target('anthropic', 'claude-x'), []],
    ['a provider with several', target('vertex-ai', 'gemini-3'), []],
    ['no provider', target(undefined, 'gemini-3'), []],
    ['a model that the entry does not serve', target('@v', 'gemini-3'), []],
    ['a slug without a model', target('@w', '@w'), []],
    ['a model that is null', target('@w', null), []],
  ])('takes from a config %s', (_, route, more) => {
    const tree: Route = {
      kind: 'group',
      path: 'config',
      mode: 'fallback',
      fallsThrough: { kinds: new Set(), statusCodes: new Set(), stop: new Set() },
      sticky: undefined,
      members: [route],
      weights: [1],
    };
    const ids = ['@claude/claude-x', '@v/gemini-2.5-pro', ...more].toSorted();
    expect(directoryFor({ configs: { a: route } }).list()).toEqual(ids);
    expect(directoryFor({ configs: { a: tree, b: route } }).list()).toEqual(ids);
  });

  test('resolves a provider’s name for a caller with exactly one entry of it', () => {
    const configs = { a: target('vertex-ai', 'gemini-3') };
    expect(directoryFor({ configs, caller: { providers: ['@w'] } }).list()).toEqual(['@w/gemini-3']);
  });

  test('omits models of configs that the key may not use', () => {
    const configs = { a: target('@w', 'gemini-a'), b: target('@w', 'gemini-b') };
    expect(directoryFor({ configs, caller: { configs: ['b'], providers: ['@w'] } }).list()).toEqual(['@w/gemini-b']);
  });

  test.each<[readonly string[], readonly string[]]>([
    [['@w/gemini-3', '@w/gemini-*', 'gemini-bare', '@claude/claude-other'], ['@w/gemini-3']],
    [['claude-*'], ['@claude/claude-x']],
    [[], []],
  ])('of a key with the models %j is %j', (models, ids) => {
    expect(directoryFor({ caller: { models } }).list()).toEqual(ids);
  });

  test('contains only models that `find` finds', () => {
    const configs = { a: target('@w', 'gemini-3') };
    const directory = directoryFor({ configs, caller: { models: ['gemini-*', '@claude/*'] } });
    for (const id of directory.list()) expect(directory.find(id)?.id).toBe(id);
    expect(directory.list()).toHaveLength(3);
  });
});

describe('one model', () => {
  test('is found by every name that the resolver accepts, with its provider', () => {
    expect(directoryFor({}).find('@v/gemini-2.5-new')).toEqual({
      id: '@v/gemini-2.5-new',
      name: 'gemini-2.5-new',
      provider: 'vertex-ai',
      tasks: ['generate', 'count_tokens'],
    });
    expect(directoryFor({ headers: { 'x-gateway-provider': '@w' } }).find('gemini-9')?.id).toBe('@w/gemini-9');
  });

  test.each([
    ['@o/gpt-5.4', ['medium', 'low', 'high', 'none']],
    ['@o/o3-mini', ['medium', 'low', 'high']],
    ['@w/gemini-2.5-pro', ['medium', 'low', 'high']],
    ['@w/gemini-2.5-flash', ['medium', 'low', 'high', 'none']],
    ['@w/gemini-3-flash-preview', ['medium', 'minimal', 'low', 'high']],
    ['@w/gemini-3-pro-preview', ['high', 'low']],
    ['@claude/claude-x', ['high', 'low', 'medium', 'xhigh', 'max']],
    // Its API takes no effort, the table has no such model, and the table says that it does not think.
    ['@o/gpt-5-pro', undefined],
    ['@o/gpt-5.4-own', undefined],
    ['@o/gpt-4o', undefined],
    ['@w/gemini-2.0-flash', undefined],
  ])('%s has the efforts %j', (id, efforts) => {
    expect(directoryFor({}).find(id)?.efforts).toEqual(efforts);
  });

  test.each(['@nobody/x', '@v/gemini-3', '@claude/no/name', 'gemini-9', '@w', '@/x', '', '@w/..'])(
    '%j is not found',
    (id) => {
      expect(directoryFor({}).find(id)).toBeUndefined();
    },
  );

  test('is not reported as missing because of an invalid header', () => {
    const headers = { 'x-gateway-provider': 'vertex-ai', 'x-gateway-vertex-region': 'us' };
    expect(() => directoryFor({ headers }).find('x')).toThrow('requires x-gateway-vertex-project-id');
  });
});
