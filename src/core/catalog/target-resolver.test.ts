import { describe, expect, test } from 'vitest';
import type { CatalogFile } from '../../../schemas/types.generated.ts';
import { Secret } from '../../plugin/index.ts';
import type { Caller, Exchange, Operation } from '../kernel/index.ts';
import { developerCountTokens, vertexCountTokens } from '../operations/gemini.ts';
import { createCaller, createExchange, createTarget } from '../../plugin/testing/index.ts';
import { HOSTILE_NAMES } from '../providers/hostile-names.testkit.ts';
import { noTokenCalls, testSetup } from '../providers/setup.testkit.ts';
import { entryOf } from './catalog-target.ts';
import { compileCatalog } from './catalog.ts';
import { ModelLabels } from './model-labels.ts';
import { CatalogResolver } from './target-resolver.ts';

const FILE: CatalogFile = {
  providers: [
    {
      slug: 'vertex-prod',
      provider: 'vertex-ai',
      region: 'us-central1',
      project_id: 'prod-project',
      timeouts: { total: '5s' },
    },
    { slug: 'vertex-test', provider: 'vertex-ai', region: 'eu', project_id: 'test-project', models: ['gemini-2.5-*'] },
    { slug: 'claude', provider: 'anthropic', api_key: new Secret('sk-1') },
  ],
};

const AD_HOC = { 'vertex-project-id': 'their-project', 'vertex-region': 'europe-west4' };

interface Asking {
  readonly model: string;
  /** `provider` in the config's target. */
  readonly configured?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly caller?: Partial<Caller>;
  readonly file?: CatalogFile;
  readonly operation?: Operation;
}

/** Headers by their names without prefix. */
function exchangeWith(
  headers: Readonly<Record<string, string>>,
  caller: Caller | undefined,
  operation?: Operation,
): Exchange {
  const prefixed = Object.fromEntries(Object.entries(headers).map(([name, value]) => [`x-gateway-${name}`, value]));
  return createExchange({ headers: prefixed, caller, ...(operation && { operation }) });
}

function resolve({ model, configured, headers = {}, caller: rules, file = FILE, operation }: Asking) {
  const { setup, problems } = testSetup(noTokenCalls);
  const catalog = compileCatalog(file, setup);
  expect(problems).toEqual([]);
  const resolver = new CatalogResolver(catalog, new ModelLabels());
  return resolver.resolve(
    exchangeWith(headers, rules && createCaller(rules), operation),
    createTarget({ provider: configured }),
    model,
    false,
  );
}

describe('the entry of a request', () => {
  test.each<[string, Asking, string]>([
    ['the slug in the model', { model: '@claude/claude-x' }, 'claude'],
    ['the target of the config', { model: 'claude-x', configured: '@claude' }, 'claude'],
    ['the header', { model: 'claude-x', headers: { provider: '@claude' } }, 'claude'],
    ['the model over the header', { model: '@claude/claude-x', headers: { provider: '@vertex-prod' } }, 'claude'],
    [
      'the config over the header',
      { model: 'm', configured: '@claude', headers: { provider: '@vertex-prod' } },
      'claude',
    ],
    ['model and config that agree', { model: '@claude/m', configured: '@claude' }, 'claude'],
    [
      'a slug of the provider the config names',
      { model: '@vertex-prod/gemini-x', configured: 'vertex-ai' },
      'vertex-prod',
    ],
    ['a provider with one entry', { model: 'm', headers: { provider: 'anthropic' } }, 'claude'],
    [
      'the one entry of a provider that the key may use',
      { model: 'gemini-2.5-pro', configured: 'vertex-ai', caller: { providers: ['@vertex-test'] } },
      'vertex-test',
    ],
  ])('is chosen by %s', (_, asking, slug) => {
    expect(resolve(asking).slug).toBe(slug);
  });

  test.each<[string, Asking, number, string, string]>([
    [
      'no provider',
      { model: 'gemini-2.5-pro' },
      400,
      'provider_required',
      'The model "gemini-2.5-pro" names no provider: write it as `@slug/model`',
    ],
    [
      'no provider, in an API of a provider without an entry',
      { model: 'gemini-2.5-pro', operation: developerCountTokens },
      400,
      'unknown_provider',
      'The model "gemini-2.5-pro" names no provider, and no catalog entry that this key may use has the provider google-ai-studio.',
    ],
    [
      'an empty header says nothing',
      { model: 'm', headers: { provider: '' } },
      400,
      'provider_required',
      '@slug/model',
    ],
    ['an unknown slug', { model: '@vertex-prdo/m' }, 400, 'unknown_provider', 'Did you mean @vertex-prod?'],
    [
      'an unknown slug in the header',
      { model: 'm', headers: { provider: '@nope' } },
      400,
      'unknown_provider',
      '"nope"',
    ],
    [
      'a slug without its @',
      { model: 'm', headers: { provider: 'claude' } },
      400,
      'unknown_provider',
      'Did you mean @claude?',
    ],
    ['a mistyped provider', { model: 'm', configured: 'vertexai' }, 400, 'unknown_provider', 'Did you mean vertex-ai?'],
    ['a provider without an entry', { model: 'm', configured: 'openai' }, 400, 'unknown_provider', 'openai'],
    [
      'a provider with two entries',
      { model: 'm', configured: 'vertex-ai' },
      400,
      'ambiguous_provider',
      '@vertex-prod, @vertex-test',
    ],
    [
      'a model against its config',
      { model: '@claude/m', configured: '@vertex-prod' },
      400,
      'provider_conflict',
      '@claude',
    ],
    [
      'a model against the provider of its config',
      { model: '@claude/m', configured: 'vertex-ai' },
      400,
      'provider_conflict',
      '@claude',
    ],
    ['a slug without a model', { model: '@claude' }, 400, 'invalid_model', 'no model'],
    [
      'a model the entry does not list',
      { model: '@vertex-test/gemini-1.5-pro' },
      403,
      'model_not_allowed',
      '@vertex-test',
    ],
    [
      'a key for other entries',
      { model: '@claude/m', caller: { providers: ['@vertex-*'] } },
      403,
      'provider_not_allowed',
      '@claude',
    ],
    [
      'a key for other entries, by header',
      { model: 'm', headers: { provider: '@claude' }, caller: { providers: ['@vertex-*'] } },
      403,
      'provider_not_allowed',
      '@claude',
    ],
    [
      'a key for other models',
      { model: '@claude/claude-x', caller: { models: ['gemini-*'] } },
      403,
      'model_not_allowed',
      'claude-x',
    ],
    [
      'a key for the model elsewhere',
      { model: '@claude/claude-x', caller: { models: ['@vertex-prod/claude-*'] } },
      403,
      'model_not_allowed',
      'claude-x',
    ],
  ])('%s', (_, asking, ...[status, code, words]) => {
    expect(() => resolve(asking)).toThrowError(
      expect.objectContaining({ status, code, message: expect.stringContaining(words) }),
    );
  });

  test.each(HOSTILE_NAMES.flatMap((name) => ['@vertex-prod/', '@claude/'].map((slug) => slug + name)))(
    '%j is a 400',
    (model) => {
      expect(() => resolve({ model })).toThrowError(expect.objectContaining({ code: 'invalid_model', status: 400 }));
    },
  );
});

describe('an entry and model for a key', () => {
  test.each<[string, Partial<Caller>]>([
    ['the slug itself', { providers: ['@vertex-prod'] }],
    ['a pattern of slugs', { providers: ['@vertex-*'] }],
    ['everything', { providers: ['*'] }],
    ['the bare model', { models: ['gemini-2.5-pro'] }],
    ['a pattern of models', { models: ['gemini-*'] }],
    ['the model at its entry', { models: ['@vertex-prod/gemini-*'] }],
  ])('are allowed by %s', (_, rules) => {
    expect(resolve({ model: '@vertex-prod/gemini-2.5-pro', caller: rules }).slug).toBe('vertex-prod');
  });

  test('are not named in messages where the key may not use them', () => {
    const askings: Asking[] = [
      { model: '@vertex-tset/m' },
      { model: '@vertex-prdo/m' },
      { model: 'm', headers: { provider: 'vertex-prod' } },
      { model: 'm', headers: { provider: 'vertex-ai' } },
      { model: '@claude/m', configured: '@vertex-prod' },
    ];
    for (const asking of askings) {
      expect(() => resolve({ ...asking, caller: { providers: ['@claude'] } })).toThrowError(
        expect.objectContaining({ message: expect.not.stringMatching(/@vertex-(prod|test)/) }),
      );
    }
  });
});

describe('Vertex AI without the catalog', () => {
  test.each<[string, Asking]>([
    ['by header', { model: 'gemini-2.5-pro', headers: { provider: 'vertex-ai', ...AD_HOC } }],
    ['by config', { model: 'gemini-2.5-pro', configured: 'vertex-ai', headers: AD_HOC }],
    [
      'by a key for the provider',
      { model: 'gemini-2.5-pro', configured: 'vertex-ai', headers: AD_HOC, caller: { providers: ['vertex-ai'] } },
    ],
  ])('uses the project and region of the request, %s', (_, asking) => {
    expect(resolve(asking)).toMatchObject({
      slug: 'vertex-ai',
      origin: 'https://europe-west4-aiplatform.googleapis.com',
      path: '/v1/projects/their-project/locations/europe-west4/publishers/google/models/gemini-2.5-pro:generateContent',
    });
  });

  test.each<[string, Asking, number, string, string]>([
    [
      'a key for catalog entries only',
      { model: 'm', headers: AD_HOC, caller: { providers: ['@*'] } },
      403,
      'provider_not_allowed',
      'vertex-ai',
    ],
    [
      'no region',
      { model: 'm', headers: { 'vertex-project-id': 'p' } },
      400,
      'invalid_header',
      'x-gateway-vertex-region',
    ],
    [
      'no project',
      { model: 'm', headers: { 'vertex-region': 'eu' } },
      400,
      'invalid_header',
      'x-gateway-vertex-project-id',
    ],
    [
      'a region that is none',
      { model: 'm', headers: { ...AD_HOC, 'vertex-region': 'evil.example#' } },
      400,
      'invalid_header',
      'region',
    ],
    [
      'a model of other keys',
      { model: 'm', headers: AD_HOC, caller: { models: ['@vertex-ai/*'] } },
      403,
      'model_not_allowed',
      '"m"',
    ],
  ])('%s', (_, asking, ...[status, code, words]) => {
    expect(() => resolve({ ...asking, configured: 'vertex-ai' })).toThrowError(
      expect.objectContaining({ status, code, message: expect.stringContaining(words) }),
    );
  });

  test('has headers that are ignored beside a slug', () => {
    expect(resolve({ model: '@vertex-prod/gemini-x', headers: AD_HOC }).origin).toBe(
      'https://us-central1-aiplatform.googleapis.com',
    );
  });
});

describe('a resolved target', () => {
  test('has all data for sending', () => {
    expect(resolve({ model: '@vertex-prod/gemini-2.5-pro' })).toMatchObject({
      slug: 'vertex-prod',
      provider: 'vertex-ai',
      semconvName: 'gcp.vertex_ai',
      model: 'gemini-2.5-pro',
      // No catalog lists the model, and it has not been answered yet.
      modelLabel: '__other__',
      format: 'gemini',
      host: 'vertex',
      timeouts: { total: 5_000 },
    });
  });

  test('reveals its entry to the sender only', () => {
    const target = resolve({ model: '@claude/claude-x' });
    expect(entryOf(target)?.name).toBe('@claude');
    expect(entryOf({ ...target })).toBeUndefined();
    expect(Object.values(target)).not.toContain(entryOf(target));
  });

  test('has the label `__other__` for an unknown model', () => {
    expect(resolve({ model: '@claude/anything at all' }).modelLabel).toBe('__other__');
  });
});

describe('a project and location in the path', () => {
  const params = { project: 'their-project', location: 'europe-west4' };
  const ONE = { providers: ['@vertex-prod'] };
  function ask(
    more: { params?: Record<string, string>; headers?: Record<string, string>; caller?: Partial<Caller> } = {},
  ) {
    const catalog = compileCatalog(FILE, testSetup(noTokenCalls).setup);
    const exchange = createExchange({
      params,
      operation: vertexCountTokens,
      ...more,
      caller: createCaller(more.caller),
    });
    const resolver = new CatalogResolver(catalog, new ModelLabels());
    return resolver.resolve(exchange, createTarget(), 'gemini-2.5-pro', false);
  }

  test('are ignored: the path only says that the provider is Vertex AI', () => {
    const target = ask({ caller: ONE });
    expect(target.slug).toBe('vertex-prod');
    expect(target.path).not.toContain('their-project');
  });

  test('do not choose between two entries', () => {
    expect(() => ask()).toThrow('name one of @vertex-prod, @vertex-test');
  });

  test('are ignored where the request names an entry', () => {
    expect(ask({ headers: { 'x-gateway-provider': '@vertex-prod' } }).slug).toBe('vertex-prod');
  });

  test('are ignored beside the gateway’s headers', () => {
    const headers = { 'x-gateway-vertex-project-id': 'other-project', 'x-gateway-vertex-region': 'us' };
    const named = { ...headers, 'x-gateway-provider': 'vertex-ai' };
    expect(ask({ headers: named }).path).toContain('/v1/projects/other-project/locations/us/');
    expect(ask({ headers }).path).toContain('/v1/projects/other-project/locations/us/');
  });

  test.each([
    { project: '../x', location: 'us' },
    { project: 'their-project', location: 'evil.example' },
  ])('are ignored when they are invalid: %j', (wrong) => {
    expect(ask({ params: wrong, caller: ONE }).slug).toBe('vertex-prod');
  });
});
