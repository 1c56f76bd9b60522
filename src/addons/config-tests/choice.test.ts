import { describe, expect, it } from 'vitest';
import { UnknownKey } from '../../core/dry-run/supposed-caller.ts';
import { caseOf, ENTRIES, run, setupOf, TARGETS } from './run.testkit.ts';
import { runCase } from './runner.ts';
import { SettingsRefused } from '../../core/settings/source/diagnostic.ts';

const { openai, claude, vertex } = TARGETS;
const json = (text: string): unknown => JSON.parse(text);
const upstream = [{ answer: 'Hello' }];

describe('the selected target', () => {
  const balanced = {
    strategy: { mode: 'loadbalance' },
    targets: [
      { ...openai, weight: 9 },
      { ...claude, weight: 1 },
    ],
  };

  it.each([
    [undefined, '@openai'],
    [[0.89], '@openai'],
    [[0.95], '@claude'],
  ])('is drawn by %j', async (draws, provider) => {
    const outcome = await run(balanced, { ...(draws && { draws }), upstream });
    expect(outcome.attempts).toMatchObject([{ provider }]);
  });

  it('is drawn by successive numbers; a retry’s wait uses none', async () => {
    const first = { ...openai, retry: { attempts: 1, min_delay: '1s' } };
    const second = { strategy: { mode: 'loadbalance' }, targets: [claude, vertex] };
    const config = { strategy: { mode: 'fallback' }, targets: [first, second] };
    const answers = [{ status: 503 }, { status: 503 }, { answer: 'Hello' }];
    const outcome = await run(config, { draws: [0.1, 0.9], upstream: answers });
    expect(outcome).toMatchObject({ attempts: [{ provider: '@openai' }, { provider: '@claude' }], faults: [] });
  });

  it.each([
    ['paid', 'large', '@claude'],
    ['free', 'small', '@openai'],
  ])('depends on metadata: plan %s has the target %s', async (plan, name, provider) => {
    // oxlint-disable-next-line unicorn/no-thenable -- the schema's own word
    const paid = { query: { 'metadata.plan': 'paid' }, then: 'large' };
    const strategy = {
      mode: 'conditional',
      conditions: [paid],
      default: 'small',
    };
    const config = {
      strategy,
      targets: [
        { ...claude, name: 'large' },
        { ...openai, name: 'small' },
      ],
    };
    const outcome = await run(config, { headers: { 'x-gateway-metadata': JSON.stringify({ plan }) }, upstream });
    expect(outcome.attempts).toMatchObject([{ name, provider }]);
  });

  it('is the request’s own without a config', async () => {
    const outcome = await run(openai, {
      configId: undefined,
      body: { model: '@claude/claude-sonnet-4-5', max_tokens: 9 },
      upstream,
    });
    expect(outcome).toMatchObject({
      status: 200,
      attempts: [{ target: 'config', provider: '@claude', name: undefined }],
    });
  });

  it('has a cache, which reports a miss', async () => {
    const outcome = await run({ ...openai, cache: { mode: 'exact' } }, { upstream });
    expect(outcome.headers).toMatchObject({ 'x-gateway-cache-status': 'MISS' });
  });
});

describe('the caller', () => {
  const keys = { keys: [{ id: 'narrow', key: '${env:NARROW_KEY}', providers: ['@claude'], default_config: 'prod' }] };

  it('has no restrictions by default', async () => {
    expect(await run(openai, { upstream }, { keys })).toMatchObject({ status: 200 });
  });

  it('has the restrictions of its key', async () => {
    const outcome = await run(openai, { key: 'narrow' }, { keys });
    expect(outcome).toMatchObject({
      status: 403,
      attempts: [{ error: 'provider_not_allowed', outbound: undefined }],
      faults: [],
    });
  });

  it('has the default config of its key', async () => {
    const outcome = await run(claude, { key: 'narrow', configId: undefined, upstream }, { keys });
    expect(outcome).toMatchObject({ status: 200, attempts: [{ provider: '@claude' }] });
  });

  it('is rejected with an unknown key', async () => {
    const outcome = await run(openai, { headers: { 'x-gateway-api-key': 'wrong' } }, { keys });
    expect(outcome).toMatchObject({ status: 401, attempts: [] });
    expect(json(outcome.text)).toMatchObject({ error: { code: 'invalid_api_key' } });
  });

  it('sends its own credentials in Authorization', async () => {
    const catalog = { providers: [{ slug: 'own', provider: 'vertex-ai', region: 'global', project_id: 'my-project' }] };
    const config = { provider: '@own', override_params: { model: 'gemini-2.5-flash' } };
    const headers = { authorization: 'Bearer ya29.canary' };
    const outcome = await run(config, { headers, upstream }, { catalog });
    expect(outcome.attempts).toMatchObject([{ outbound: { headers: { authorization: '[secret]' } } }]);
    expect(await run(config, {}, { catalog })).toMatchObject({ status: 401, faults: [] });
  });

  it('must be in keys.yaml when the case names it', async () => {
    await expect(run(openai, { key: 'narow' }, { keys })).rejects.toThrow(UnknownKey);
  });
});

describe('the settings', () => {
  it('are rejected with their errors', async () => {
    const broken = run({ provider: '@nobody' });
    await expect(broken).rejects.toThrow(SettingsRefused);
    await expect(broken).rejects.toMatchObject({ diagnostics: [{ file: 'configs/gateway/prod.yaml' }] });
  });

  it('are rejected with the errors of their compilation', async () => {
    const setup = await setupOf({
      server: { chains: { attempt: ['override', 'send'] } },
      gateway: { prod: openai },
    });
    await expect(runCase(setup, caseOf())).rejects.toMatchObject({
      diagnostics: expect.arrayContaining([
        expect.objectContaining({ file: 'configs/server.yaml', severity: 'error' }),
      ]),
    });
  });

  it('have only the environment of the case', async () => {
    process.env['GATEHOUSE_TEST_REGION'] = 'europe-west1';
    const entry = { ...ENTRIES[2], region: '${env:GATEHOUSE_TEST_REGION:-us-east1}' };
    const settings = { catalog: { providers: [entry] }, gateway: { prod: vertex } };
    const url = async (env: Record<string, string>) =>
      (await runCase(await setupOf(settings, env), caseOf({ upstream })))[0]?.calls[0]?.url;
    expect(await url({})).toContain('us-east1');
    expect(await url({ GATEHOUSE_TEST_REGION: 'asia-east1' })).toContain('asia-east1');
    delete process.env['GATEHOUSE_TEST_REGION'];
  });

  it('may name credentials that exist only on another machine', async () => {
    const place = { provider: 'vertex-ai', region: 'us-central1', project_id: 'my-project' };
    const providers = ['application-default', 'metadata-server'].map((credentials) => ({
      ...place,
      slug: credentials,
      credentials,
    }));
    for (const { slug } of providers) {
      const config = { provider: `@${slug}`, override_params: { model: 'gemini-2.5-flash' } };
      const outcome = await run(config, { upstream }, { catalog: { providers } });
      expect(outcome).toMatchObject({ status: 200, calls: [{ headers: { authorization: '[secret]' } }], faults: [] });
    }
  });
});
