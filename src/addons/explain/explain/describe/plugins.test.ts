import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PluginExplanation } from '../../explanation/explanation.ts';
import { renderExplanation } from '../../explanation/render/explanation.ts';
import { explain, type AskParts } from '../explain.testkit.ts';

const API = pathToFileURL(join(import.meta.dirname, '../../../../plugin/index.ts')).href;

/** Modules as their authors write them; `body` is the middleware's body. */
const MODULES: Readonly<Record<string, { level: string; more?: string; body: string }>> = {
  counter: { level: 'entry', body: 'globalThis.counted = (globalThis.counted ?? 0) + 1; await next();' },
  teapot: { level: 'request', more: 'pure: true,', body: 'ctx.status = 418; ctx.body = "short and stout";' },
  gone: { level: 'request', more: 'pure: true,', body: 'ctx.status = 410;' },
  guard: {
    level: 'request',
    more: `pure: true, explain: ({ exchange }) => ({ does: 'lets ' + exchange.caller.keyId + ' in', details: { who: 1 } }),`,
    body: 'if (ctx.get("x-stop")) throw new api.GatewayError("model_not_allowed", "The guard says no."); await next();',
  },
  keeper: { level: 'request', more: 'state: true,', body: 'await next();' },
  broken: { level: 'request', more: 'pure: true,', body: 'throw new Error("a fault of its own");' },
  picky: {
    level: 'attempt',
    more: 'pure: true,',
    body: 'if (ctx.attempt.number === 0) throw new api.GatewayError("unsupported_task", "Not this one."); await next();',
  },
  softener: {
    level: 'request',
    more: 'pure: true,',
    body: 'try { await next(); } catch { throw new api.GatewayError("busy", "Something else."); }',
  },
};

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'gatehouse-explain-'));
  for (const [name, { level, more = '', body }] of Object.entries(MODULES)) {
    const options = `{ type: 'object', additionalProperties: false, properties: {} }`;
    writeFileSync(
      join(dir, `${name}.mjs`),
      `import * as api from ${JSON.stringify(API)};
export default api.definePlugin({ name: '${name}', level: '${level}', options: ${options}, ${more}
  create: () => async (ctx, next) => { ${body} } });`,
    );
  }
});
afterAll(() => rmSync(dir, { recursive: true }));

const settings = (chains?: object) => ({
  server: { plugins: Object.keys(MODULES).map((name) => join(dir, `${name}.mjs`)), ...(chains && { chains }) },
  catalog: { providers: [{ slug: 'sim', provider: 'simulator' }] },
  gateway: {
    two: `strategy: { mode: fallback }\ntargets:\n  - provider: '@sim'\n  - provider: '@sim'\n`,
    own: `provider: '@sim'\nplugins:\n  - metadata\n  - plugin: guard\n    name: door\n  - route\n`,
    strict: `provider: '@sim'\nmetadata: { required: [team] }\n`,
    changed: `provider: '@sim'\nplugins:\n  add:\n    - { plugin: guard, name: door, before: route }\n  remove: [cache]\n  options:\n    metadata: { max_keys: 8 }\n`,
  },
});

interface Setup extends AskParts {
  readonly chains?: object;
}

const ask = ({ chains, ...parts }: Setup) => explain(settings(chains), { json: { model: '@sim/m' }, ...parts });

const chain = (plugins: readonly PluginExplanation[], name: string) =>
  plugins.flatMap((each) => (each.chain === name ? [each.name] : []));

const states = (plugins: readonly PluginExplanation[]) =>
  Object.fromEntries(plugins.filter(({ target = 0 }) => target === 0).map(({ name, state }) => [name, state]));

const refusals = (plugins: readonly PluginExplanation[]) =>
  plugins.flatMap(({ name, target, refused }) => (refused ? [[name, target, refused.code]] : []));

const REQUEST = (...names: readonly string[]) => ({ request: ['metadata', ...names] });

describe('the plugins', () => {
  it('are listed chain by chain in order, those of the attempt chain once per target', async () => {
    const { plugins } = await ask({ config: 'two' });
    expect(plugins.map(({ chain: of, target, name }) => [of, target, name].join(' '))).toEqual([
      ...['telemetry', 'errors', 'auth', 'models', 'body', 'responses', 'config'].map((name) => `entry  ${name}`),
      ...['metadata', 'route'].map((name) => `request  ${name}`),
      ...[0, 1].flatMap((target) =>
        ['override', 'cache', 'transform', 'retry', 'send'].map((name) => `attempt ${target} ${name}`),
      ),
    ]);
    expect(plugins.flatMap(({ name, state }) => (state === 'run' ? [] : [[name, state]]))).toEqual([
      ['models', 'left out'],
      ['responses', 'left out'],
      ...[0, 1].flatMap(() => ['override', 'cache', 'retry'].map((name) => [name, 'left out'])),
    ]);
    expect(plugins[0]).toMatchObject({ plugin: 'telemetry', on: { kind: 'gateway', what: 'default chain' } });
    expect(refusals(plugins)).toEqual([]);
  });

  it('that a list must keep have the lines of the entry in server.yaml and of the list', async () => {
    const chains = { request: [{ plugin: 'guard', always: true, name: 'gate' }, 'metadata', 'route'] };
    const explanation = await ask({ config: 'own', as: 'team', chains });
    expect(chain(explanation.plugins, 'request')).toEqual(['gate', 'metadata', 'door', 'route']);
    expect(explanation.plugins.find(({ name }) => name === 'gate')).toMatchObject({
      on: { kind: 'settings', at: { file: 'configs/server.yaml' }, setting: 'chains.request.0' },
      keptIn: { kind: 'settings', at: { file: 'configs/gateway/own.yaml', line: 2, column: 1 }, setting: 'plugins' },
      state: 'run',
    });
    const text = renderExplanation(explanation, { width: 200, colour: false });
    expect(text).toMatch(/gate .*server\.yaml:\d+.*\n.*always: true; not in the list .*own\.yaml:2/);
  });

  it('of a chain that a config changes have the place of each entry, and where options are changed', async () => {
    const explanation = await ask({ config: 'changed', as: 'team', chains: REQUEST('guard', 'route') });
    const { plugins } = explanation;
    expect(chain(plugins, 'request')).toEqual(['metadata', 'guard', 'door', 'route']);
    expect(chain(plugins, 'attempt')).toEqual(['override', 'transform', 'retry', 'send']);
    const at = (file: string, line: number) => ({ kind: 'settings', at: { file: `configs/${file}`, line } });
    const named = (wanted: string) => plugins.find(({ name }) => name === wanted);
    expect(named('door')?.on).toMatchObject({ ...at('gateway/changed.yaml', 4), setting: 'plugins.add.0' });
    expect(named('guard')?.on).toMatchObject({ kind: 'settings', setting: 'chains.request.1' });
    expect(named('transform')?.on).toEqual({ kind: 'gateway', what: 'default chain' });
    expect(named('metadata')?.optionsFrom).toMatchObject(at('gateway/changed.yaml', 7));
    const text = renderExplanation(explanation, { width: 200, colour: false });
    expect(text).toMatch(/metadata .*server\.yaml:\d+.*\n.*options changed .*changed\.yaml:7/);
  });

  it('are those of the config if it lists its own, each with its line', async () => {
    const { plugins } = await ask({ config: 'own', as: 'team' });
    expect(chain(plugins, 'request')).toEqual(['metadata', 'door', 'route']);
    const door = plugins.find(({ name }) => name === 'door');
    expect(door).toEqual({
      chain: 'request',
      target: undefined,
      name: 'door',
      plugin: 'guard',
      on: {
        kind: 'settings',
        at: { file: 'configs/gateway/own.yaml', line: 4, column: 5 },
        setting: 'plugins.1',
      },
      state: 'run',
      does: 'lets team in',
      details: { who: 1 },
      refused: undefined,
    });
  });

  it('are those of server.yaml for all other configs, each at its place there', async () => {
    const { plugins } = await ask({ config: 'two', chains: REQUEST('guard', 'route') });
    expect(chain(plugins, 'request')).toEqual(['metadata', 'guard', 'route']);
    const [guard] = plugins.filter(({ name }) => name === 'guard');
    expect(guard?.on).toMatchObject({
      kind: 'settings',
      setting: 'chains.request.1',
      at: { file: 'configs/server.yaml' },
    });
    expect(plugins[0]?.on).toMatchObject({ kind: 'gateway' });
  });

  it('are not run if external and not declared pure, and the request continues after them', async () => {
    const entry = ['telemetry', 'errors', 'counter', 'auth', 'models', 'body', 'config'];
    const { plugins, targets } = await ask({ chains: { entry } });
    expect(plugins.find(({ name }) => name === 'counter')).toMatchObject({ state: 'not run', does: undefined });
    expect(Reflect.get(globalThis, 'counted')).toBeUndefined();
    expect(states(plugins)).toMatchObject({ auth: 'run', send: 'run' });
    expect(targets).toHaveLength(1);
  });

  it.each([
    ['the memory of the process', {}],
    ['the state store', { state: { store: { type: 'memory' } } }],
  ])('say that they keep values in %s', async (place, server) => {
    const { server: chains, ...others } = settings(REQUEST('keeper', 'route'));
    const explanation = await explain({ ...others, server: { ...chains, ...server } }, { json: { model: '@sim/m' } });
    const keeper = explanation.plugins.find(({ name }) => name === 'keeper');
    expect(keeper).toMatchObject({ state: 'not run', does: `keeps values in ${place}` });
    const text = renderExplanation(explanation, { width: 200, colour: false });
    expect(text).toContain(`not run: it is not declared pure; keeps values in ${place}`);
  });

  it('have no request chain without a config', async () => {
    const { plugins } = await ask({ config: 'there-is-none' });
    expect(chain(plugins, 'request')).toEqual([]);
    expect(refusals(plugins)).toEqual([['config', undefined, 'unknown_config']]);
  });
});

describe('a plugin that rejects the request', () => {
  it.each<[string, Setup, readonly unknown[], readonly string[]]>([
    [
      'in the entry chain',
      { headers: { 'x-api-key': 'no-key-of-this-gateway-0' } },
      ['auth', undefined, 'invalid_api_key'],
      ['body', 'config'],
    ],
    ['in the request chain', { config: 'strict' }, ['metadata', undefined, 'metadata_rejected'], ['route']],
    [
      'as an external plugin',
      { headers: { 'x-stop': '1' }, chains: REQUEST('guard', 'route') },
      ['guard', undefined, 'model_not_allowed'],
      ['route'],
    ],
    [
      'with an error of its own',
      { chains: REQUEST('broken', 'route') },
      ['broken', undefined, 'internal_error'],
      ['route'],
    ],
    ['in the attempt chain', { json: { model: '@missing/m' } }, ['transform', 0, 'unknown_provider'], ['send']],
  ])('%s is the only one marked, and later ones are not reached', async (_, setup, refusal, behind) => {
    const { plugins, answer } = await ask(setup);
    expect(refusals(plugins)).toEqual([refusal]);
    expect(answer?.code).toBe(refusal[2]);
    const found = states(plugins);
    for (const name of behind) expect([name, found[name]]).toEqual([name, 'not reached']);
    expect(found['errors']).toBe('run');
  });

  it('for one target is marked there, and the next target has its own', async () => {
    const chains = { attempt: ['picky', 'override', 'cache', 'transform', 'retry', 'send'] };
    const { plugins, targets, answer } = await ask({ config: 'two', chains });
    expect(refusals(plugins)).toEqual([['picky', 0, 'unsupported_task']]);
    expect(plugins.filter(({ state }) => state === 'not reached').map(({ target }) => target)).toEqual([0, 0]);
    expect(targets.map(({ refused }) => refused?.code)).toEqual(['unsupported_task', undefined]);
    expect(answer).toBeUndefined();
  });

  it('is none when a plugin converts an assumed failure into another error', async () => {
    const { plugins, answer } = await ask({ chains: REQUEST('softener', 'route') });
    expect(refusals(plugins)).toEqual([]);
    expect(answer).toBeUndefined();
  });
});

describe('the gateway’s own reply', () => {
  it.each<[string, Setup, object, readonly string[]]>([
    ['a path it does not serve', { path: '/v1/nothing' }, { status: 404, code: 'not_found' }, ['auth', 'body']],
    ['the list of models', { method: 'GET', path: '/v1/models' }, { status: 200, code: undefined }, ['body', 'config']],
    [
      'an unknown model',
      { method: 'GET', path: '/v1/models/@missing/m' },
      { status: 404, code: 'model_not_found', param: 'model' },
      ['body'],
    ],
    ['a body of a plugin', { chains: REQUEST('teapot', 'route') }, { status: 418 }, ['route']],
    ['a status of a plugin', { chains: REQUEST('gone', 'route') }, { status: 410 }, ['route']],
    ['an invalid body', { json: { model: 7 } }, { status: 400, param: 'model' }, ['config']],
  ])('to %s', async (_, setup, expected, behind) => {
    const { answer, plugins, targets } = await ask(setup);
    expect(answer).toMatchObject(expected);
    expect(targets).toEqual([]);
    for (const name of behind) expect([name, states(plugins)[name]]).toEqual([name, 'not reached']);
  });

  it('is absent when a target would answer', async () => {
    expect((await ask({})).answer).toBeUndefined();
  });
});
