import { describe, expect, it } from 'vitest';
import type { Explanation, FieldSource } from '../../explanation/explanation.ts';
import { createCaller } from '../../../../plugin/testing/index.ts';
import { createExplainer, explain, questionOf, type AskParts } from '../explain.testkit.ts';

const TEAM_KEY = 'gatehouse-test-key-0123456789';
const OTHER_KEY = 'gatehouse-test-key-9876543210';
const PAST_KEY = 'gatehouse-test-key-of-the-past';

const KEYS = `keys:
  - id: team
    key: \${env:TEAM_KEY:-${TEAM_KEY}}
    default_config: plain
    inline_configs: true
  - id: other
    key: \${env:OTHER_KEY:-${OTHER_KEY}}
    configs: [plain]
    models: ['@sim/m*']
  - id: past
    key: \${env:PAST_KEY:-${PAST_KEY}}
    expires_at: 2020-01-01T00:00:00Z
`;

const settings = (server = '{}') => ({
  server,
  catalog: { providers: [{ slug: 'sim', provider: 'simulator' }] },
  keys: KEYS,
  gateway: {
    plain: "provider: '@sim'\n",
    quick: "name: Quick\ndeadline: 3s\nprovider: '@sim'\n",
  },
});

const ask = (parts: AskParts, server?: string): Promise<Explanation> =>
  explain(settings(server), { json: { model: 'm' }, ...parts });

const reported = (source: FieldSource | undefined): string => {
  if (source?.kind === 'header') return source.name;
  if (source?.kind === 'gateway') return `gateway ${source.what}`;
  if (source?.kind !== 'settings') return 'nowhere';
  return `${source.at.file}:${source.at.line}:${source.at.column}`;
};

describe('the request', () => {
  it('is described as received', async () => {
    const { request } = await ask({
      json: { model: '@sim/m', stream: true, messages: [] },
      headers: {
        'x-request-id': 'r-1',
        'x-gateway-strict-params': 'true',
        'x-gateway-strict-open-ai-compliance': 'false',
      },
    });
    expect(request).toEqual({
      id: 'r-1',
      method: 'POST',
      path: '/v1/chat/completions',
      operation: 'chat.completions',
      bytes: 46,
      model: '@sim/m',
      stream: true,
      strict: false,
      strictParams: true,
    });
  });

  it('has its size even when it is rejected before its body is read', async () => {
    const { request, caller, config } = await ask({ headers: { 'x-gateway-api-key': 'nobody-has-this-one-0123' } });
    expect(request).toMatchObject({ model: undefined, stream: false });
    expect(request.bytes).toBeGreaterThan(20);
    expect({ caller, config }).toEqual({ caller: undefined, config: undefined });
  });

  it('has no operation at an unknown path', async () => {
    const { request } = await ask({ path: '/v1/nothing?a=b' });
    expect(request).toMatchObject({ path: '/v1/nothing', operation: undefined });
  });
});

describe('the caller', () => {
  const FOREIGN = 'Bearer upstream-token-of-the-caller';

  it.each<[string, AskParts['headers'] & object, string, string]>([
    ['its own header', { 'x-gateway-api-key': TEAM_KEY }, 'team', 'x-gateway-api-key'],
    ['Authorization', { authorization: `Bearer ${OTHER_KEY}` }, 'other', 'authorization'],
    ['Authorization without Bearer', { authorization: OTHER_KEY }, 'other', 'authorization'],
    ['x-api-key', { 'x-api-key': OTHER_KEY }, 'other', 'x-api-key'],
    [
      'the second header, when the first contains another token',
      { authorization: FOREIGN, 'x-api-key': OTHER_KEY },
      'other',
      'x-api-key',
    ],
    [
      'the first of two that contain one',
      { 'x-gateway-api-key': TEAM_KEY, 'x-api-key': OTHER_KEY },
      'team',
      'x-gateway-api-key',
    ],
  ])('is found by its key in %s', async (_, headers, key, found) => {
    expect((await ask({ headers })).caller).toMatchObject({ key, found });
  });

  it('names a header by the prefix the request uses', async () => {
    const { caller, config } = await ask(
      { headers: { 'x-portkey-api-key': TEAM_KEY, 'x-portkey-config': 'plain' } },
      'header_prefixes: [gateway, portkey]\n',
    );
    expect(caller?.found).toBe('x-portkey-api-key');
    expect(reported(config?.source)).toBe('x-portkey-config');
  });

  it('has its place and its limits', async () => {
    const { caller } = await ask({ headers: { 'x-api-key': OTHER_KEY, authorization: FOREIGN } });
    expect(caller).toEqual({
      key: 'other',
      found: 'x-api-key',
      at: { file: 'configs/keys.yaml', line: 6, column: 5 },
      providers: undefined,
      models: ['@sim/m*'],
      configs: ['plain'],
      defaultConfig: undefined,
      inlineConfigs: false,
      inlinePlugins: false,
      ownUpstreamToken: true,
    });
  });

  it('may be given by id, and the token in Authorization stays its own', async () => {
    const { caller, config } = await ask({ as: 'team', headers: { authorization: FOREIGN } });
    expect(caller).toMatchObject({ key: 'team', found: 'named', at: { line: 2 }, ownUpstreamToken: true });
    expect(config).toMatchObject({ id: 'plain', found: 'key' });
  });

  it('may be one that is in no file', async () => {
    const { caller } = await ask({ as: createCaller({ keyId: 'of-a-test' }) });
    expect(caller).toMatchObject({ key: 'of-a-test', found: 'named', at: undefined });
  });

  it('has no limits without a key', async () => {
    const { caller } = await ask({});
    expect(caller).toMatchObject({
      found: 'no key given: explained for a key without limits',
      at: undefined,
      configs: undefined,
      inlineConfigs: true,
      inlinePlugins: true,
      ownUpstreamToken: false,
    });
  });

  it('is absent with an expired key', async () => {
    const { caller, answer } = await ask({ headers: { authorization: `Bearer ${PAST_KEY}` } });
    expect(caller).toBeUndefined();
    expect(answer).toMatchObject({ status: 401, code: 'expired_api_key' });
  });

  it('is explained by id after its key has expired, with a note', async () => {
    const { caller, notes } = await ask({ as: 'past' });
    expect(caller).toMatchObject({ key: 'past', found: 'named' });
    expect(notes).toEqual(['the key past has expired (2020-01-01T00:00:00Z): a request with it is rejected']);
  });

  it('is absent when its key may not be used from this address, with a note', async () => {
    const keys = `keys:\n  - id: near\n    key: \${env:NEAR_KEY:-${TEAM_KEY}}\n    networks: [10.0.0.0/8]\n`;
    const here = await explain({ ...settings(), keys }, { headers: { 'x-api-key': TEAM_KEY } });
    expect(here.answer?.code).toBe('network_not_allowed');
    expect(here.notes).toEqual([
      'explained as a request from 127.0.0.1; the network of a key given by id is not checked',
    ]);
    const there = await explain(
      { ...settings(), keys },
      { headers: { 'x-api-key': TEAM_KEY }, remoteAddress: '10.1.2.3', json: { model: '@sim/m' } },
    );
    expect(there).toMatchObject({ caller: { key: 'near' }, notes: [] });
  });

  it('has its secrets nowhere in the explanation', async () => {
    const everything = JSON.stringify([
      await ask({ headers: { 'x-gateway-api-key': TEAM_KEY, authorization: 'Bearer upstream-token-of-the-caller' } }),
      await ask({ headers: { authorization: `Bearer ${PAST_KEY}` } }),
      await ask({ headers: { 'x-api-key': 'not-a-key-of-this-gateway' } }),
    ]);
    for (const secret of [TEAM_KEY, PAST_KEY, 'upstream-token-of-the-caller', 'not-a-key-of-this-gateway'])
      expect(everything).not.toContain(secret);
  });
});

describe('the config', () => {
  it.each<[string, AskParts, string | undefined, object, string]>([
    ['the header', { config: 'quick' }, undefined, { id: 'quick', name: 'Quick', found: 'header' }, 'x-gateway-config'],
    [
      'the header, even when the key has a default',
      { config: 'quick', headers: { 'x-api-key': TEAM_KEY } },
      'default_config: plain\n',
      { id: 'quick', found: 'header' },
      'x-gateway-config',
    ],
    [
      'the header itself',
      { config: '{"provider":"@sim"}' },
      undefined,
      { id: 'inline', found: 'inline' },
      'x-gateway-config',
    ],
    [
      'the default of the key',
      { headers: { 'x-api-key': TEAM_KEY } },
      'default_config: quick\n',
      { id: 'plain', found: 'key' },
      'configs/keys.yaml:4:5',
    ],
    [
      'the default of the server',
      { headers: { 'x-api-key': OTHER_KEY } },
      'deadline: 1m\ndefault_config: quick\n',
      { id: 'quick', found: 'server' },
      'configs/server.yaml:2:1',
    ],
    [
      'nobody',
      { json: { model: '@sim/m' } },
      undefined,
      { id: '', found: 'none' },
      'gateway the request names its target',
    ],
  ])('is found by %s', async (_, parts, server, expected, source) => {
    const { config } = await ask(parts, server);
    expect(config).toMatchObject(expected);
    expect(reported(config?.source)).toBe(source);
  });

  it.each<[string, AskParts, object]>([
    ['does not exist', { config: 'prdo' }, { status: 400, code: 'unknown_config' }],
    ['the key may not use', { config: 'quick', as: 'other' }, { status: 403, code: 'config_not_allowed' }],
    [
      'the key may not send',
      { config: '{"provider":"@sim"}', as: 'other' },
      { status: 403, code: 'config_not_allowed' },
    ],
    ['has errors', { config: '{"provder":"@sim"}' }, { status: 400, code: 'invalid_config' }],
  ])('is absent if it is one that %s', async (_, parts, expected) => {
    const { config, answer, targets, leftOut } = await ask(parts);
    expect(config).toBeUndefined();
    expect(answer).toMatchObject(expected);
    expect([targets, leftOut]).toEqual([[], []]);
  });
});

describe('the deadline', () => {
  const asks = (ms: string) => ({ headers: { 'x-gateway-request-timeout': ms } });

  it.each<[string, AskParts, string | undefined, number, string]>([
    ['the default', { config: 'plain' }, undefined, 900_000, 'gateway default'],
    ['the server’s', { config: 'plain' }, 'deadline: 2m\n', 120_000, 'configs/server.yaml:1:1'],
    ['the config’s', { config: 'quick' }, 'deadline: 2m\n', 3000, 'configs/gateway/quick.yaml:2:1'],
    ['the caller’s', { config: 'quick', ...asks('250') }, 'deadline: 2m\n', 250, 'x-gateway-request-timeout'],
    [
      'the config’s, when the caller requests more',
      { config: 'quick', ...asks('9999') },
      undefined,
      3000,
      'configs/gateway/quick.yaml:2:1',
    ],
    ['the server’s, when the caller requests more', asks('9999'), 'deadline: 1s\n', 1000, 'configs/server.yaml:1:1'],
    ['an inline config’s', { config: '{"provider":"@sim","deadline":"1s"}' }, undefined, 1000, 'x-gateway-config'],
    [
      'the server’s, when an inline config sets more',
      { config: '{"provider":"@sim","deadline":"9h"}' },
      undefined,
      900_000,
      'gateway default',
    ],
    ['the server’s, for a rejected request', { config: 'quick', ...asks('-1') }, undefined, 900_000, 'gateway default'],
  ])('is %s', async (_, parts, server, ms, source) => {
    const { deadline } = await ask(parts, server);
    expect([deadline.ms, reported(deadline.source)]).toEqual([ms, source]);
  });

  it('is the same at any time', async () => {
    const explainer = createExplainer(settings());
    for (const now of [0.1, 1107.0620330849856, 1234.5678, 987_654_321.123_456]) {
      const { deadline, plugins } = await explainer.explain(
        questionOf({ json: { model: 'm' }, config: 'quick', at: { now, wall: 1e12 } }),
      );
      expect(deadline.ms).toBe(3000);
      expect(plugins.find(({ name }) => name === 'config')?.details).toMatchObject({ deadlineMs: 3000 });
    }
  });
});
