import { describe, expect, it } from 'vitest';
import { builtinPlugins } from '../../../../../plugins/index.ts';
import { PluginRegistry } from '../../../../core/http/chain/registry.ts';
import { definePlugin, type Middleware } from '../../../../core/kernel/index.ts';
import type { PluginLevel } from '../../../../plugin/index.ts';
import type { FieldSource, HeaderExplanation } from '../../explanation/explanation.ts';
import { renderExplanation } from '../../explanation/render/explanation.ts';
import { createExplainer, questionOf, type AskParts } from '../explain.testkit.ts';

const plugin = (name: string, level: PluginLevel, middleware: Middleware) =>
  definePlugin({
    name,
    level,
    options: { type: 'object', additionalProperties: false, properties: {} },
    pure: true,
    create: () => middleware,
  });

const { registry } = new PluginRegistry(builtinPlugins).extend([
  plugin('arrival', 'entry', async ({ exchange }, next) => {
    Object.assign(exchange.request.headers, { 'x-region': 'eu' });
    await next();
  }),
  plugin('tenant', 'request', async ({ exchange }, next) => {
    await next();
    exchange.reply!.headers['x-tenant'] = exchange.caller!.keyId;
    exchange.reply!.headers['x-by'] = 'tenant';
  }),
  plugin('koa', 'request', async (ctx, next) => {
    ctx.set('X-Koa', 'set before');
    await next();
    ctx.set('X-By', 'koa');
  }),
  plugin('sign', 'attempt', async (ctx, next) => {
    const { attempt } = ctx;
    attempt!.outbound = {
      ...attempt!.outbound!,
      headers: { ...attempt!.outbound!.headers, 'x-sign': 'abc', 'x-token': 'hush' },
    };
    ctx.set('x-attempt', 'signed');
    await next();
  }),
  plugin('reader', 'request', async ({ exchange }, next) => {
    await next();
    const { choices } = JSON.parse(String(exchange.reply!.body)) as { choices: readonly string[] };
    exchange.reply!.headers['x-choices'] = String(choices.length);
  }),
  plugin('teapot', 'request', async (ctx) => {
    ctx.status = 418;
    ctx.set('x-tea', 'green');
    ctx.body = 'short';
  }),
]);

interface Chains {
  readonly entry?: readonly string[];
  readonly request?: readonly string[];
  readonly attempt?: readonly string[];
}

const ENTRY = ['errors', 'auth', 'body', 'config'];

function ask({ entry = ENTRY, request = [], attempt = [] }: Chains, parts: AskParts = {}) {
  const server = {
    chains: {
      entry,
      request: [...request, 'route'],
      attempt: ['override', 'transform', ...attempt, 'send'],
    },
  };
  const explainer = createExplainer(
    {
      server,
      catalog: { providers: [{ slug: 'sim', provider: 'simulator' }] },
      gateway: {
        two: {
          strategy: { mode: 'fallback' },
          forward_headers: ['x-region'],
          targets: [{ provider: '@sim' }, { provider: '@sim' }],
        },
      },
    },
    { registry },
  );
  return explainer.explain(questionOf({ config: 'two', as: 'team', json: { model: 'm' }, ...parts }));
}

const setterOf = (source: FieldSource): string => (source.kind === 'plugin' ? source.plugin : source.kind);
const lines = (headers: readonly HeaderExplanation[] = []) =>
  headers.map(({ name, value, source }) => `${name}: ${value} ← ${setterOf(source)}`);

describe('explain names the plugin', () => {
  it.each<[string, Chains, readonly string[]]>([
    [
      'that set a header of the reply after next()',
      { request: ['tenant'] },
      ['x-tenant: team ← tenant', 'x-by: tenant ← tenant'],
    ],
    ['that called ctx.set, before next() too', { request: ['koa'] }, ['x-koa: set before ← koa', 'x-by: koa ← koa']],
    ['that set it on the reply of an attempt', { attempt: ['sign'] }, ['x-attempt: signed ← sign']],
    [
      'that answers in place of a target',
      { request: ['teapot'] },
      ['x-tea: green ← teapot', 'content-type: text/plain; charset=utf-8 ← teapot', 'content-length: 5 ← teapot'],
    ],
  ])('%s', async (_, chains, expected) => {
    const { replyHeaders } = await ask(chains);
    expect(lines(replyHeaders)).toEqual(expect.arrayContaining([...expected]));
    expect(replyHeaders).toHaveLength(expected.length);
  });

  it('that set the value last, where two set the same header', async () => {
    const by = async (request: readonly string[]) =>
      lines((await ask({ request })).replyHeaders).filter((line) => line.startsWith('x-by'));
    expect(await by(['tenant', 'koa'])).toEqual(['x-by: tenant ← tenant']);
  });

  it('that is built in, with the line that lists it', async () => {
    const chains = { entry: ['cors', ...ENTRY] };
    const { replyHeaders } = await ask(chains, { headers: { origin: 'https://app.example' } });
    expect(replyHeaders).toEqual([
      {
        name: 'vary',
        value: 'Origin',
        source: {
          kind: 'plugin',
          plugin: 'cors',
          on: expect.objectContaining({ file: 'configs/server.yaml', line: 1 }),
        },
      },
    ]);
  });

  it('that makes the gateway’s own errors', async () => {
    const { answer, replyHeaders } = await ask({}, { as: undefined, headers: { 'x-gateway-api-key': 'not a key' } });
    expect(answer?.status).toBe(401);
    expect(lines(replyHeaders)).toContain('content-type: application/json ← errors');
  });

  it('that set a header of the request to the upstream, each target for itself; secrets stay masked', async () => {
    const { targets } = await ask({ attempt: ['sign'] });
    for (const { outbound } of targets)
      expect(lines(outbound?.headers)).toEqual([
        'content-type: application/json ← gateway',
        'x-sign: abc ← sign',
        'x-token: [secret] ← sign',
      ]);
    expect(targets).toHaveLength(2);
  });

  it('that set a header of the client’s request, which the config forwards', async () => {
    const { targets } = await ask({ entry: ['arrival', ...ENTRY] });
    expect(lines(targets[0]?.outbound?.headers)).toContain('x-region: eu ← arrival');
    const plain = await ask({}, { headers: { 'x-region': 'eu' } });
    expect(lines(plain.targets[0]?.outbound?.headers)).toContain('x-region: eu ← header');
  });

  it('in the text', async () => {
    const text = renderExplanation(await ask({ request: ['tenant'], attempt: ['sign'] }), {
      width: 100,
      colour: false,
    });
    expect(text).toMatch(/^reply +x-attempt: signed +← the plugin sign ← configs\/server\.yaml:1:\d+$/m);
    expect(text).toMatch(/^ +x-tenant: team +← the plugin tenant ← configs\/server\.yaml:1:\d+$/m);
    expect(text).toMatch(/^ +x-sign: abc +← the plugin sign ← configs\/server\.yaml:1:\d+$/m);
  });

  it('that refuses an empty reply, so that its headers are not known', async () => {
    const { notes, replyHeaders, targets, answer } = await ask({ request: ['tenant', 'reader'] });
    expect([targets.length, answer]).toEqual([2, undefined]);
    expect(notes).toEqual([
      'headers of the reply are not known: the plugin reader refused the empty reply that explain gave it',
    ]);
    expect(lines(replyHeaders)).not.toContainEqual(expect.stringContaining('x-choices'));
  });
});
