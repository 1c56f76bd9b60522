import { describe, expect, test } from 'vitest';
import type { GatewayFile } from '../../../../schemas/types.generated.ts';
import type { Route, Target } from '../../kernel/index.ts';
import { compileGatewayConfig, RETRYABLE_STATUS_CODES } from './gateway-config.ts';
import { valueAt } from '../schema/pointer.ts';
import { readSchema } from '../schema/schema-files.ts';

const targetsOf = (route: Route): Target[] => (route.kind === 'target' ? [route] : route.members.flatMap(targetsOf));
const compile = (file: GatewayFile): Target[] => targetsOf(compileGatewayConfig('id', file).route);

describe('compileGatewayConfig', () => {
  test('compiles a config without targets to one target', () => {
    expect(compileGatewayConfig('prod', { name: 'Production', provider: '@a' })).toEqual({
      id: 'prod',
      hash: expect.stringMatching(/^[0-9a-f]{16}$/),
      name: 'Production',
      metadata: undefined,
      deadlineMs: undefined,
      customHosts: undefined,
      replyHeaders: new Set(),
      route: {
        kind: 'target',
        path: 'config',
        provider: '@a',
        defaultParams: undefined,
        overrideParams: undefined,
        overrideLevels: [],
        dropParams: [],
        forwardHeaders: [],
        cache: undefined,
        remoteMedia: undefined,
        retry: { attempts: 0, onStatusCodes: RETRYABLE_STATUS_CODES, minDelayMs: 500, maxDelayMs: 20_000 },
        breaker: {
          enforced: false,
          failures: 5,
          failureRate: 0.5,
          minRequests: 5,
          windowMs: 60_000,
          cooldownMs: 15_000,
          onStatusCodes: new Set([401, 402, 429, 500, 502, 503, 504, 529]),
          onTokenStatusCodes: new Set([429, 500, 502, 503, 504, 529]),
        },
        commit: 'first_content',
        contextWindow: undefined,
        timeouts: {},
        strict: undefined,
        messagesRoute: 'any',
      },
    });
  });

  test('uses the defaults of the schema', () => {
    const retry = valueAt(readSchema('gateway'), ['definitions', 'retry', 'properties']);
    const [target] = compile({});
    expect(valueAt(retry, ['on_status_codes', 'default'])).toEqual([...RETRYABLE_STATUS_CODES]);
    expect(target?.retry.attempts).toBe(valueAt(retry, ['attempts', 'default']));
    const [same] = compile({ retry: { min_delay: '500ms', max_delay: '20s' } });
    expect([valueAt(retry, ['min_delay', 'default']), valueAt(retry, ['max_delay', 'default'])]).toEqual([
      '500ms',
      '20s',
    ]);
    expect(same?.retry).toEqual(target?.retry);
  });

  test('names nodes as `x-gateway-last-used-option-index` does', () => {
    const file: GatewayFile = {
      strategy: { mode: 'fallback', on_status_codes: [500] },
      targets: [
        { provider: '@a' },
        { strategy: { mode: 'fallback' }, targets: [{ provider: '@b' }, { provider: '@c' }] },
      ],
    };
    const { route } = compileGatewayConfig('id', file);
    expect(targetsOf(route).map(({ path }) => path)).toEqual([
      'config.targets[0]',
      'config.targets[1].targets[0]',
      'config.targets[1].targets[1]',
    ]);
    if (route.kind !== 'group') throw new Error('not a group');
    expect([route.path, route.mode, [...route.fallsThrough.statusCodes]]).toEqual(['config', 'fallback', [500]]);
    const inner = route.members[1];
    if (inner?.kind !== 'group') throw new Error('not a group');
    // The rules for fall-through are not inherited: a strategy belongs to its own group.
    expect([inner.path, inner.fallsThrough.kinds.has('overloaded')]).toEqual(['config.targets[1]', true]);
  });

  test('compiles one target without a strategy as mode single', () => {
    expect(compileGatewayConfig('id', { targets: [{}] }).route).toMatchObject({ kind: 'group', mode: 'single' });
  });
});

describe('a setting that a target omits', () => {
  test('is inherited from the config around it, through every level', () => {
    const [target] = compile({
      provider: '@a',
      strict_open_ai_compliance: false,
      messages_route: 'claude',
      targets: [{ retry: { attempts: 2 }, targets: [{}] }],
    });
    expect(target).toMatchObject({ provider: '@a', strict: false, messagesRoute: 'claude', retry: { attempts: 2 } });
  });

  test.each<[string, GatewayFile, object]>([
    ['provider', { provider: '@a', targets: [{ provider: '@b' }] }, { provider: '@b' }],
    ['strict', { strict_open_ai_compliance: true, targets: [{ strict_open_ai_compliance: false }] }, { strict: false }],
    ['messages_route', { messages_route: 'claude', targets: [{ messages_route: 'any' }] }, { messagesRoute: 'any' }],
    [
      'retry, field by field',
      {
        retry: { attempts: 1, min_delay: '1s', on_status_codes: [500] },
        targets: [{ retry: { attempts: 0, max_delay: '3s' } }],
      },
      { retry: { attempts: 0, minDelayMs: 1000, maxDelayMs: 3000, onStatusCodes: new Set([500]) } },
    ],
    [
      'timeouts, field by field',
      { timeouts: { connect: '1s', idle: '2s' }, targets: [{ timeouts: { idle: 5 } }] },
      { timeouts: { connect: 1000, idle: 5 } },
    ],
    [
      'request_timeout over total',
      { timeouts: { total: '9s' }, targets: [{ request_timeout: '1s' }] },
      { timeouts: { total: 1000 } },
    ],
    [
      'total over request_timeout',
      { request_timeout: '9s', targets: [{ timeouts: { total: '1s' } }] },
      { timeouts: { total: 1000 } },
    ],
    [
      'override_params, key by key',
      {
        override_params: {
          temperature: 1,
          stop: ['a', 'b'],
          thinking: { type: 'enabled', budget_tokens: 9 },
          user: 'u',
        },
        targets: [{ override_params: { stop: ['c'], thinking: { budget_tokens: 1 }, user: null } }],
      },
      { overrideParams: { temperature: 1, stop: ['c'], thinking: { type: 'enabled', budget_tokens: 1 }, user: null } },
    ],
  ])('is overridden by the nearer value: %s', (_what, file, expected) => {
    expect(compile(file)).toEqual([expect.objectContaining(expected)]);
  });

  test('is not passed on from one target to the next', () => {
    const [first, second] = compile({
      override_params: { model: 'm' },
      targets: [{ override_params: { temperature: 0 }, request_timeout: '1s' }, {}],
    });
    expect(first?.overrideParams).toEqual({ model: 'm', temperature: 0 });
    expect(second?.overrideParams).toEqual({ model: 'm' });
    expect(second?.timeouts).toEqual({});
  });

  test('comes with override_params level by level, from the config to the target', () => {
    const [near, far] = compile({
      override_params: { a: null },
      targets: [{ targets: [{ override_params: { a: { b: 1 } } }] }, {}],
    });
    expect(near?.overrideLevels).toEqual([{ a: null }, { a: { b: 1 } }]);
    expect(far?.overrideLevels).toEqual([{ a: null }]);
  });

  test('may have keys with the names of built-in object members', () => {
    const file: GatewayFile = JSON.parse(
      '{"override_params":{"constructor":{"a":1}},"targets":[{"override_params":{"__proto__":{"b":2}}}]}',
    );
    const [target] = compile(file);
    expect(JSON.stringify(target?.overrideParams)).toBe('{"constructor":{"a":1},"__proto__":{"b":2}}');
  });

  test('is inherited without a change to the file', () => {
    const file: GatewayFile = { override_params: { a: { b: 1 } }, targets: [{ override_params: { a: { c: 2 } } }] };
    const before = JSON.stringify(file);
    compile(file);
    expect(JSON.stringify(file)).toBe(before);
  });

  test('is 1 for the `weight` of a target in a load balance', () => {
    const { route } = compileGatewayConfig('id', {
      strategy: { mode: 'loadbalance' },
      targets: [{ weight: 3 }, {}, { weight: 0 }],
    });
    expect(route).toMatchObject({ mode: 'loadbalance', weights: [3, 1, 0] });
  });

  test('is inherited: default_params key by key, drop_params added up, forward_headers from the nearest node', () => {
    const [near, far] = compile({
      default_params: { max_tokens: 10, stream_options: { include_usage: true } },
      drop_params: ['user'],
      forward_headers: ['X-Tenant'],
      targets: [
        {
          default_params: { max_tokens: 20, stream_options: { other: 1 } },
          drop_params: ['stream_options.other'],
          forward_headers: ['X-Team'],
        },
        {},
      ],
    });
    expect(near?.defaultParams).toEqual({ max_tokens: 20, stream_options: { include_usage: true, other: 1 } });
    expect(near?.dropParams).toEqual([['user'], ['stream_options', 'other']]);
    expect(near?.forwardHeaders).toEqual(['x-team']);
    expect(far?.dropParams).toEqual([['user']]);
    expect(far?.forwardHeaders).toEqual(['x-tenant']);
  });

  test('is inherited: `cache` from the nearest node that sets it', () => {
    const caches = compile({
      cache: { mode: 'exact', max_age: 60, scope: 'config' },
      targets: [{}, { cache: { mode: 'exact', max_age: '5m' } }, { cache: { mode: 'off' } }],
    }).map(({ cache }) => cache);
    expect(caches).toEqual([{ maxAgeMs: 60_000, scope: 'config' }, { maxAgeMs: 300_000, scope: 'config' }, undefined]);
    expect(compile({ cache: { mode: 'exact' } })[0]?.cache).toEqual({ maxAgeMs: 300_000, scope: 'key' });
  });
});

describe('a compiled config', () => {
  test.each<[NonNullable<GatewayFile['metadata']>['labels'], unknown]>([
    [undefined, undefined],
    [false, undefined],
    [true, 'all'],
    [['team'], new Map([['team', 'team']])],
    [{ team: 'cost_team' }, new Map([['team', 'cost_team']])],
  ])('reads the labels %j', (labels, expected) => {
    const { metadata } = compileGatewayConfig('id', { metadata: { ...(labels !== undefined && { labels }) } });
    expect(metadata?.labels).toEqual(expected);
  });

  test('reads the rules for metadata', () => {
    const { metadata } = compileGatewayConfig('id', {
      metadata: { required: ['team'], allowed: { team: ['a', 'b'] } },
    });
    expect(metadata).toEqual({
      required: ['team'],
      allowed: new Map([['team', new Set(['a', 'b'])]]),
      labels: undefined,
    });
  });

  test('has a hash of its content, not of its id', () => {
    const hash = (id: string, file: GatewayFile) => compileGatewayConfig(id, file).hash;
    expect(hash('a', { provider: '@x' })).toBe(hash('b', { provider: '@x' }));
    expect(hash('a', { provider: '@x' })).not.toBe(hash('a', { provider: '@y' }));
  });
});
