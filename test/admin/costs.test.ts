import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { json, openaiReply, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';
import { chat, startAdmin, type AdminGateway } from './kit.ts';

let upstream: ScriptedUpstream;
let admin: AdminGateway;

beforeAll(async () => {
  upstream = await startUpstream(({ json: { model } }, res) =>
    model === 'gpt-5-mini'
      ? json(res, { error: { message: 'no', type: 'server_error' } }, 503)
      : json(res, {
          ...Object(openaiReply('hi')),
          usage: { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 },
        }),
  );
  const openai = {
    slug: 'openai',
    provider: 'openai',
    base_url: `${upstream.url}/v1`,
    api_key: 'sk-canary-0123456789',
    allow_insecure: true,
  };
  admin = await startAdmin({
    catalog: {
      providers: [
        { ...openai, models: ['gpt-5', 'gpt-5-mini', 'own'] },
        { slug: 'claude', provider: 'anthropic', api_key: 'sk-canary-0123456789', models: ['claude-haiku-*'] },
        { ...openai, slug: 'any' },
      ],
      aliases: { quick: { target: '@any/llama' } },
    },
    gateway: {
      default: { provider: '@openai' },
      prod: {
        strategy: { mode: 'fallback' },
        targets: [
          { provider: '@openai', name: 'primary', override_params: { model: 'gpt-5-mini' } },
          { provider: '@openai' },
          { provider: '@claude', override_params: { model: 'claude-haiku-4-5' } },
          { provider: '@openai', override_params: { model: 'own' } },
        ],
      },
    },
  });
  await chat(admin, { 'x-request-id': 'saved', 'x-gateway-config': 'prod' }, { model: 'gpt-5' });
  await chat(admin, { 'x-request-id': 'lost' }, { model: 'gpt-5-mini' });
});
afterAll(async () => {
  await admin.close();
  await upstream.close();
});

const costsOf = async (id: string) =>
  (await admin.ask('GET', `/requests/${id}/costs`, { token: await admin.token('viewer') })).json;

describe('the costs of a request elsewhere', () => {
  it('are those of its tokens at each target of its config, and unknown without a price', async () => {
    const { targets, tokens, cost_usd: own } = await costsOf('saved');
    expect(tokens).toEqual({ input: 1000, output: 100 });
    expect(targets).toMatchObject([
      {
        target: 'config.targets[0]',
        target_name: 'primary',
        provider: 'openai',
        model: 'gpt-5-mini',
        cost_usd: 0.00045,
      },
      { target: 'config.targets[1]', model: 'gpt-5', cost_usd: own, answered: true },
      { target: 'config.targets[2]', provider: 'claude', model: 'claude-haiku-4-5', cost_usd: 0.0015 },
      { target: 'config.targets[3]', model: 'own', cost_usd: null, unknown: 'model' },
    ]);
  });

  it('are those at each model of the catalog, the cheapest first and unknown ones last', async () => {
    const { models, left_out: leftOut } = await costsOf('saved');
    const names = models.map(({ provider, model }: { provider: string; model: string }) => `@${provider}/${model}`);
    const costs = models.flatMap(({ cost_usd: cost }: { cost_usd: number | null }) => cost ?? []);
    expect(costs).toEqual(costs.toSorted((one: number, other: number) => one - other));
    expect(names).toEqual(expect.arrayContaining(['@claude/claude-haiku-4-5', '@any/llama', '@openai/gpt-5']));
    // A server with an address of its own has models of its own.
    for (const other of ['@claude/claude-opus-4-5', '@any/gpt-5', '@any/text-embedding-3-small'])
      expect(names).not.toContain(other);
    expect(models.slice(costs.length)).toContainEqual({
      provider: 'openai',
      model: 'own',
      cost_usd: null,
      unknown: 'model',
    });
    expect([leftOut, JSON.stringify(models).includes('canary')]).toEqual([0, false]);
  });

  it('follow the rules of the store', async () => {
    const token = await admin.token('admin');
    const body = { id: 'own', spec: { model: 'own', usd: { input: 1, output: 10 } } };
    expect((await admin.ask('POST', '/prices', { token, body })).status).toBe(201);
    expect((await costsOf('saved')).targets[3]).toMatchObject({ model: 'own', cost_usd: 0.002 });
  });

  it('are unknown for a request without counts of tokens, and 404 for one without a record', async () => {
    const { tokens, targets, models } = await costsOf('lost');
    expect([tokens, targets[0], models[0].unknown]).toEqual([
      null,
      { target: 'config', provider: 'openai', model: 'gpt-5-mini', cost_usd: null, unknown: 'usage' },
      'usage',
    ]);
    expect((await costsOf('none')).code).toBe('not_found');
  });
});
