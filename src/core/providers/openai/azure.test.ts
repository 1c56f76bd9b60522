import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { AzureOpenAiEntry } from '../../../../schemas/types.generated.ts';
import { Secret } from '../../../plugin/index.ts';
import { HOSTILE_NAMES } from '../hostile-names.testkit.ts';
import { noTokenCalls, testSetup } from '../setup.testkit.ts';
import { azureOpenAi } from './azure.ts';

function create(changes: Partial<AzureOpenAiEntry> = {}) {
  const { setup, problems } = testSetup(noTokenCalls);
  const settings = {
    slug: 'azure',
    provider: 'azure-openai',
    base_url: 'https://res.openai.azure.com',
    api_key: new Secret('azure-CANARY'),
    ...changes,
  } as const;
  return { entry: azureOpenAi.create(settings, setup), problems };
}

const DATED = { api_version: '2024-10-21' };

describe('an azure-openai entry', () => {
  test('has the address of the v1 API, where the model is the deployment', async () => {
    const { entry, problems } = create();
    expect(problems).toEqual([]);
    expect(entry?.locate('prod-gpt-4o', { task: 'generate', stream: true })).toEqual({
      customTools: true,
      extensions: new Set(),
      origin: 'https://res.openai.azure.com',
      path: '/openai/v1/chat/completions',
      format: 'openai-chat',
      model: 'prod-gpt-4o',
      host: 'direct',
      headers: {},
      streamUsage: true,
      signatureScope: expect.stringMatching(/^[0-9a-f]{12}$/),
    });
    expect(await entry?.authorize({ upstreamToken: undefined })).toEqual({ 'api-key': 'azure-CANARY' });
    expect(entry).toMatchObject({ provider: 'azure-openai', semconvName: 'azure.ai.openai' });
  });

  test.each([
    ['prod-gpt-4o', '/openai/deployments/prod-gpt-4o/chat/completions?api-version=2024-10-21'],
    ['prod 4o;x', '/openai/deployments/prod%204o%3Bx/chat/completions?api-version=2024-10-21'],
    ['100%', '/openai/deployments/100%25/chat/completions?api-version=2024-10-21'],
  ])('with a dated version has the deployment %j in its path', (model, path) => {
    expect(create(DATED).entry?.locate(model, { task: 'generate', stream: false })).toMatchObject({ path, model });
  });

  test.each([
    [{}, '/openai/v1/chat/completions'],
    [DATED, '/openai/deployments/prod-4o/chat/completions?api-version=2024-10-21'],
  ])('finds the deployment of a model name: %j', (changes, path) => {
    const { entry } = create({ ...changes, deployments: { 'openai/gpt-4o': 'prod-4o' } });
    expect(entry?.locate('openai/gpt-4o', { task: 'generate', stream: false })).toMatchObject({
      path,
      model: 'prod-4o',
    });
    expect(entry?.locate('other', { task: 'generate', stream: false }).model).toBe('other');
    // The name of a built-in object member is not a deployment.
    expect(entry?.locate('constructor', { task: 'generate', stream: false }).model).toBe('constructor');
  });

  test.each([
    'https://res.openai.azure.com/',
    'https://res.openai.azure.com/openai',
    'https://res.openai.azure.com/openai/v1/',
  ])('accepts the address %s', (base_url) => {
    expect(create({ base_url }).entry?.locate('m', { task: 'generate', stream: false })).toMatchObject({
      origin: 'https://res.openai.azure.com',
      path: '/openai/v1/chat/completions',
    });
  });

  test('may be behind a proxy with a path', () => {
    const { entry } = create({ base_url: 'https://apim.example/llm', ...DATED });
    expect(entry?.locate('m', { task: 'generate', stream: false }).path).toBe(
      '/llm/openai/deployments/m/chat/completions?api-version=2024-10-21',
    );
  });

  test.each<[Partial<AzureOpenAiEntry>, string]>([
    [{ base_url: 'https://res.openai.azure.com/openai/v1', ...DATED }, 'no api_version'],
    [{ base_url: 'https://res.openai.azure.com/openai/deployments/d/chat/completions' }, 'further than the resource'],
    [{ base_url: 'https://res.openai.azure.com/openai/v1/chat/completions' }, 'further than the resource'],
    [{ base_url: 'http://res.openai.azure.com' }, 'plain http'],
  ])('reports a mistake in base_url: %j', (changes, words) => {
    const { entry, problems } = create(changes);
    expect(entry).toBeUndefined();
    expect(problems).toEqual([{ path: ['base_url'], message: expect.stringContaining(words) }]);
  });

  test('needs a key that is valid in a header, and sends that header only', () => {
    expect(create({ api_key: new Secret('a CANARY') }).problems).toMatchObject([{ path: ['api_key'] }]);
    expect(create({ secret_headers: { 'Api-Key': new Secret('CANARY') } }).problems).toMatchObject([
      { path: ['secret_headers', 'Api-Key'], on: 'key' },
    ]);
  });

  test.each([{}, DATED])('refuses hostile model names: %j', (changes) => {
    const { entry } = create(changes);
    for (const model of HOSTILE_NAMES)
      expect(() => entry?.locate(model, { task: 'generate', stream: false }), JSON.stringify(model)).toThrowError(
        expect.objectContaining({ code: 'invalid_model', status: 400 }),
      );
  });

  test('never prints its key', () => {
    const { entry } = create();
    expect(inspect(entry, { depth: 9, showHidden: true }) + JSON.stringify(entry)).not.toContain('CANARY');
  });
});
