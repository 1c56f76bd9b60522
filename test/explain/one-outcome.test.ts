import { describe, expect, it } from 'vitest';
import { createExplainer, questionOf, type AskParts } from '../../src/addons/explain/explain/explain.testkit.ts';
import { run } from '../../src/addons/config-tests/run.testkit.ts';

// An explanation and the outcome of a test case are views of one value, the dry run of a request.

const catalog = {
  providers: [
    { slug: 'first', provider: 'openai', api_key: '${env:FIRST}' },
    { slug: 'second', provider: 'anthropic', api_key: '${env:SECOND}' },
  ],
};

const config = {
  strategy: { mode: 'fallback' },
  targets: [
    { name: 'one', provider: '@first', override_params: { model: 'gpt-4o' } },
    {
      targets: [{ name: 'two', provider: '@second', override_params: { model: 'claude-sonnet-4-5', max_tokens: 64 } }],
    },
  ],
};

const body = { model: 'any', messages: [{ role: 'user', content: 'Hi' }], seed: 7 };

const explained = (file: object, parts: AskParts = { json: body, config: 'prod' }) =>
  createExplainer({ catalog, gateway: { prod: file } }, { fakeMissing: true }).explain(questionOf(parts));

describe('an explanation and the outcome of a test case', () => {
  it('agree on targets, names, providers, calls and lost fields when every target fails', async () => {
    const { targets } = await explained(config);
    const outcome = await run(config, { body, upstream: [{ status: 500 }, { status: 500 }] }, { catalog });

    expect(outcome.attempts.map(({ target, name, provider }) => [target, name, provider])).toEqual([
      ['config.targets[0]', 'one', '@first'],
      ['config.targets[1].targets[0]', 'two', '@second'],
    ]);
    expect(targets.map(({ target, name, provider }) => [target, name, `@${provider!.slug}`])).toEqual(
      outcome.attempts.map(({ target, name, provider }) => [target, name, provider]),
    );
    expect(targets.map(({ outbound }) => [outbound!.method, outbound!.url, outbound!.body])).toEqual(
      outcome.calls.map((call) => [call.method, call.url, call.body]),
    );
    expect(targets.at(-1)!.losses.map(({ param }) => param)).toEqual(outcome.dropped);
    expect(outcome.dropped).toEqual(['seed']);
  });

  it('mask the same headers', async () => {
    const { targets } = await explained(config);
    const { calls } = await run(config, { body, upstream: [{ status: 500 }, { status: 500 }] }, { catalog });
    const masked = targets.map(({ outbound }) =>
      outbound!.headers.flatMap(({ name, value }) => (value.endsWith('[secret]') ? [name] : [])),
    );

    expect(masked).toEqual([['authorization'], ['x-api-key']]);
    expect(calls.map(({ headers }) => Object.keys(headers).filter((name) => headers[name] === '[secret]'))).toEqual(
      masked,
    );
  });

  it('agree on the error of a request that its only target does not take', async () => {
    const target = { provider: '@second', override_params: { model: 'claude-sonnet-4-5' } };
    const [path, json] = ['/v1/embeddings', { model: 'any', input: 'Hi' }] as const;
    const { answer, targets } = await explained(target, {
      path,
      json: { ...json, messages: undefined },
      config: 'prod',
    });
    const outcome = await run(target, { path, body: json }, { catalog });

    expect([answer!.status, targets[0]!.refused!.code]).toEqual([outcome.status, outcome.attempts[0]!.error]);
    expect(JSON.parse(outcome.text)).toMatchObject({ error: { message: answer!.message, code: answer!.code } });
    expect([targets[0]!.outbound, outcome.attempts[0]!.outbound]).toEqual([undefined, undefined]);
  });

  it('agree on the name of a target in an inline config', async () => {
    const inline = JSON.stringify({
      name: 'outer',
      strategy: { mode: 'fallback' },
      targets: [{ ...config.targets[0], name: 'inner' }],
    });
    const { targets } = await explained(config, { json: body, headers: { 'x-gateway-config': inline } });
    const outcome = await run(
      config,
      { body, configId: undefined, headers: { 'x-gateway-config': inline }, upstream: [{ answer: 'Hello' }] },
      { catalog, keys: { keys: [{ id: 'team', key: '${env:TEAM_KEY}', inline_configs: true }] } },
    );

    expect(outcome.status).toBe(200);
    expect([targets[0]!.name, outcome.attempts[0]!.name]).toEqual(['inner', 'inner']);
  });
});
