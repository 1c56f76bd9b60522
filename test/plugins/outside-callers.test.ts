import { describe, expect, it } from 'vitest';
import { KEY } from '../support/gateway.ts';
import { json, openaiReply } from '../support/upstream.ts';
import { startOutsideGateway, type OutsidePlugin } from './outside-gateway.ts';

/** Takes the caller from headers, as a plugin for the tokens of an identity provider does. */
const AUTH: OutsidePlugin = {
  name: 'own-auth',
  level: 'entry',
  more: `provides: ['caller']`,
  body: `
      const { headers } = ctx.exchange.request;
      ctx.exchange.caller = { keyId: headers['x-user'], team: headers['x-team'], organization: headers['x-org'], customHosts: undefined, defaultConfig: undefined, inlineConfigs: false, providers: undefined, models: undefined, configs: undefined };
      await next();`,
};
/** Moves the caller of a gateway key to another team. */
const MOVE: OutsidePlugin = {
  name: 'move',
  level: 'entry',
  more: `requires: ['caller']`,
  body: `
      const { caller, request } = ctx.exchange;
      ctx.exchange.caller = { ...caller, team: request.headers['x-team'] };
      await next();`,
};

const rest = ['models', 'body', 'responses', 'config'];
const PLUGINS = {
  'that a plugin makes': { plugin: AUTH, chain: ['telemetry', 'errors', 'own-auth', 'limit', ...rest] },
  'that a plugin moves': { plugin: MOVE, chain: ['telemetry', 'errors', 'auth', 'move', 'limit', ...rest] },
};

const budgets = [{ cap: '0.005 USD', period: 'month' }];
const TEAMS = {
  organizations: { paid: { budgets }, slow: { limits: { requests: '6/min' } } },
  teams: {
    capped: { budgets },
    limited: { limits: { requests: '6/min' } },
    'of-paid': { organization: 'paid' },
    'of-slow': { organization: 'slow' },
    free: {},
  },
};

describe.each(Object.entries(PLUGINS))('the caller %s', (_, { plugin, chain }) => {
  const start = () =>
    startOutsideGateway({
      plugins: [plugin],
      upstream: (__, res) => json(res, openaiReply('hello', { usage: { prompt_tokens: 1, completion_tokens: 300 } })),
      chains: { entry: chain },
      settings: {
        prices: { prices: [{ model: 'm', usd: { input: 0, output: 10 } }] },
        keys: { keys: [{ id: 'test', key: `\${env:NONE:-${KEY}}`, team: 'free' }] },
        teams: TEAMS,
      },
    });

  it.each([
    ['capped', 'budget_exceeded'],
    ['of-paid', 'budget_exceeded'],
    ['limited', 'limit_requests'],
    ['of-slow', 'limit_requests'],
  ])('of the team %s has the budgets and limits above it: %s', async (team, code) => {
    await using started = await start();
    const ask = async (of: string, user = 'ann'): Promise<unknown> => {
      const reply = await started.chat({ max_tokens: 300 }, { 'x-team': of, 'x-user': user });
      await reply.text();
      const id = reply.headers.get('x-gateway-request-id')!;
      started.gateway.gateway.records({ limit: 0 });
      return (started.gateway.gateway.record(id) as { readonly error?: object }).error;
    };
    expect(await ask(team)).toBeUndefined();
    expect(await ask(team, 'bob')).toMatchObject({ code });
    expect(await ask('free')).toBeUndefined();
  });

  it('of a team that does not exist is refused', async () => {
    await using started = await start();
    const reply = await started.chat({}, { 'x-team': 'nowhere', 'x-user': 'ann' });
    expect([reply.status, await reply.text()]).toEqual([
      403,
      expect.stringContaining('its team \\"nowhere\\" does not exist'),
    ]);
    expect(started.upstream.seen).toEqual([]);
  });
});

it('A request for which the plugin for callers sets none is refused, and the log names the plugin', async () => {
  await using started = await startOutsideGateway({
    plugins: [{ name: 'own-auth', level: 'entry', more: `provides: ['caller']`, body: 'await next();' }],
    upstream: (_, res) => json(res, openaiReply('hello')),
    chains: { entry: ['telemetry', 'errors', 'own-auth', ...rest] },
  });
  const reply = await started.chat();
  expect([reply.status, await reply.text()]).toEqual([500, expect.stringContaining('internal_error')]);
  expect(started.upstream.seen).toEqual([]);
  expect(started.gateway.logText()).toContain('plugin \\"own-auth\\" has set no caller');
});
