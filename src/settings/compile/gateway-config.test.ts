import { describe, expect, test } from 'vitest';
import type { GatewayFile } from '../../../schemas/types.generated.ts';
import type { Route, Target } from '../../plugin/index.ts';
import { compileGatewayConfig, RETRYABLE_STATUS_CODES } from './gateway-config.ts';
import { valueAt } from '../read/pointer.ts';
import { readSchema } from '../read/schema-files.ts';

const targetsOf = (route: Route): Target[] => (route.kind === 'target' ? [route] : route.members.flatMap(targetsOf));
const compile = (file: GatewayFile): Target[] => targetsOf(compileGatewayConfig('id', file).route);

describe('compileGatewayConfig', () => {
  test('makes one target of a config without targets', () => {
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
          onStatusCodes: new Set([429, 500, 502, 503, 504, 529]),
        },
        commit: 'first_content',
        contextWindow: undefined,
        timeouts: {},
        strict: undefined,
        messagesRoute: 'any',
      },
    });
  });

  test('has the defaults the schema tells', () => {
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

  test('names places as `x-gateway-last-used-option-index` says them', () => {
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
    // A strategy is of its own place: which failures give way is not inherited.
    expect([inner.path, inner.fallsThrough.kinds.has('overloaded')]).toEqual(['config.targets[1]', true]);
  });

  test('takes one target without a strategy as single', () => {
    expect(compileGatewayConfig('id', { targets: [{}] }).route).toMatchObject({ kind: 'group', mode: 'single' });
  });
});

describe('what a target leaves out', () => {
  test('comes from the config around it, through every level', () => {
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
  ])('is said nearer and wins: %s', (_what, file, expected) => {
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

  test('keeps override_params level by level, from the config to the target', () => {
    const [near, far] = compile({
      override_params: { a: null },
      targets: [{ targets: [{ override_params: { a: { b: 1 } } }] }, {}],
    });
    expect(near?.overrideLevels).toEqual([{ a: null }, { a: { b: 1 } }]);
    expect(far?.overrideLevels).toEqual([{ a: null }]);
  });

  test('keeps keys with the names of objects’ own members', () => {
    const file: GatewayFile = JSON.parse(
      '{"override_params":{"constructor":{"a":1}},"targets":[{"override_params":{"__proto__":{"b":2}}}]}',
    );
    const [target] = compile(file);
    expect(JSON.stringify(target?.overrideParams)).toBe('{"constructor":{"a":1},"__proto__":{"b":2}}');
  });

  test('is merged without a change to the file', () => {
    const file: GatewayFile = { override_params: { a: { b: 1 } }, targets: [{ override_params: { a: { c: 2 } } }] };
    const before = JSON.stringify(file);
    compile(file);
    expect(JSON.stringify(file)).toBe(before);
  });

  test('gives the targets of a load balance their weights, 1 where none is said', () => {
    const { route } = compileGatewayConfig('id', {
      strategy: { mode: 'loadbalance' },
      targets: [{ weight: 3 }, {}, { weight: 0 }],
    });
    expect(route).toMatchObject({ mode: 'loadbalance', weights: [3, 1, 0] });
  });

  test('merges default_params key by key, adds up drop_params and takes the nearest forward_headers', () => {
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

  test('keeps replies where the nearest `cache` says so, as long as it says', () => {
    const caches = compile({
      cache: { mode: 'exact', max_age: 60, scope: 'config' },
      targets: [{}, { cache: { mode: 'exact', max_age: 5 } }, { cache: { mode: 'off' } }],
    }).map(({ cache }) => cache);
    expect(caches).toEqual([{ maxAgeMs: 60_000, scope: 'config' }, { maxAgeMs: 5000, scope: 'config' }, undefined]);
    expect(compile({ cache: { mode: 'exact' } })[0]?.cache).toEqual({ maxAgeMs: 300_000, scope: 'key' });
  });

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

  test('reads what metadata must hold', () => {
    const { metadata } = compileGatewayConfig('id', {
      metadata: { required: ['team'], allowed: { team: ['a', 'b'] } },
    });
    expect(metadata).toEqual({
      required: ['team'],
      allowed: new Map([['team', new Set(['a', 'b'])]]),
      labels: undefined,
    });
  });

  test('has a hash that tells what it says, not what it is called', () => {
    const hash = (id: string, file: GatewayFile) => compileGatewayConfig(id, file).hash;
    expect(hash('a', { provider: '@x' })).toBe(hash('b', { provider: '@x' }));
    expect(hash('a', { provider: '@x' })).not.toBe(hash('a', { provider: '@y' }));
  });
});
