import { describe, expect, it } from 'vitest';
import { UpstreamError, type ErrorCode } from '../../plugin/index.ts';
import type { Exchange, GatewayConfig, Target } from '../kernel/index.ts';
import { createConfig, createExchange, createFakeClock, createTarget } from '../../plugin/testing/index.ts';
import { targetsOf } from './ports.ts';
import { MemoryHealthStore } from './target-health.ts';

const onStatusCodes = new Set([401, 402, 429, 500, 502, 503, 504, 529]);
const breaker = { ...createTarget().breaker, enforced: true, onStatusCodes };
const configOf = (parts: Partial<Target> = {}): GatewayConfig =>
  createConfig({ id: 'it', route: createTarget({ provider: '@vertex', breaker, ...parts }) });

function create(config = configOf()) {
  const transitions: (readonly [string | undefined, string, boolean])[] = [];
  const clock = createFakeClock();
  const store = new MemoryHealthStore({
    clock,
    onTransition: ({ model }, { to }, healthy) => transitions.push([model, to, healthy]),
  });
  const health = store.directory();
  health.prepare([config]);
  health.use();
  const target = targetsOf(config.route)[0]!;
  const asks = (model: string): Exchange => createExchange({ json: { model } });
  const trial = (model: string) => health.of(config, target, asks(model)).begin();
  const fail = (model: string, code: ErrorCode, status: number, times = 5): void => {
    for (let count = 0; count < times; count += 1) trial(model).failed(new UpstreamError(code, 'no', { status }));
  };
  const admits = (model: string): boolean => health.of(config, target, asks(model)).admits;
  return { store, clock, transitions, trial, fail, admits };
}

const OF_MODEL: readonly (readonly [ErrorCode, number])[] = [
  ['rate_limit_exceeded', 429],
  ['upstream_error', 500],
  ['upstream_error', 502],
  ['overloaded', 503],
  ['overloaded', 529],
  ['timeout_first_byte', 504],
  ['timeout_first_content', 504],
  ['timeout_idle', 504],
  ['timeout_total', 504],
  ['timeout_request', 504],
  ['stream_interrupted', 502],
];
const OF_TARGET: readonly (readonly [ErrorCode, number])[] = [
  ['connection_failed', 502],
  ['tls_failed', 502],
  ['timeout_connect', 504],
  ['credentials_failed', 502],
  ['upstream_credentials_refused', 502],
  ['insufficient_quota', 402],
];

describe('a target whose model the request names', () => {
  it.each(OF_MODEL)('is closed to the model alone after %s %i', (code, status) => {
    const { fail, admits, transitions } = create();
    fail('bad', code, status);
    expect([admits('bad'), admits('good')]).toEqual([false, true]);
    expect(transitions).toEqual([['__other__', 'open', true]]);
  });

  it.each(OF_TARGET)('is closed to all models after %s %i', (code, status) => {
    const { fail, admits, transitions } = create();
    fail('one', code, status);
    expect([admits('one'), admits('another')]).toEqual([false, false]);
    expect(transitions).toEqual([[undefined, 'open', false]]);
  });

  it.each<[ErrorCode, number]>([
    ['upstream_credentials_refused', 502],
    ['insufficient_quota', 402],
  ])('is closed to the model alone after %s %i where the account is accepted for others', (code, status) => {
    const { fail, admits, trial, transitions } = create();
    trial('good').succeeded();
    fail('made up', code, status);
    expect([admits('made up'), admits('good')]).toEqual([false, true]);
    trial('dear').succeeded();
    fail('dear', code, status, 1);
    trial('good').succeeded();
    fail('dear', code, status);
    expect([admits('dear'), admits('good')]).toEqual([false, true]);
    expect(transitions).toEqual([
      ['__other__', 'open', true],
      ['dear', 'open', false],
    ]);
  });

  it('is closed to all models where an account that was accepted is refused, whatever the model', () => {
    const { fail, admits, trial } = create();
    for (const model of ['one', 'two']) trial(model).succeeded();
    for (let count = 0; count < 3; count += 1)
      for (const model of ['one', 'two']) fail(model, 'upstream_credentials_refused', 502, 1);
    expect([admits('one'), admits('another')]).toEqual([false, false]);
  });

  it('is closed to one model after a status that `on_status_codes` adds, and to none after another 4xx', () => {
    const added = { ...breaker, onStatusCodes: new Set([404]) };
    const { fail, admits } = create(configOf({ breaker: added }));
    fail('bad', 'model_not_found', 404);
    expect([admits('bad'), admits('good')]).toEqual([false, true]);
    const usual = create();
    usual.fail('bad', 'model_not_found', 404);
    expect(usual.admits('bad')).toBe(true);
  });

  it('is not well where a model fails that has answered: its name is in the transitions and reports', async () => {
    const { fail, trial, transitions, store, clock, admits } = create();
    trial('known').succeeded();
    fail('known', 'overloaded', 503);
    fail('"made up"\n', 'overloaded', 503);
    expect(transitions).toEqual([
      ['known', 'open', false],
      ['__other__', 'open', false],
    ]);
    expect(store.reports().map(({ model, state }) => [model, state])).toEqual([
      [undefined, 'closed'],
      ['known', 'open'],
    ]);
    await clock.advance(breaker.cooldownMs);
    expect(admits('known')).toBe(true);
    trial('known').succeeded();
    expect(transitions.slice(2)).toEqual([
      ['known', 'half_open', false],
      ['known', 'closed', true],
    ]);
    expect(store.reports()).toHaveLength(1);
  });

  it('counts a stream that breaks after its answer for the model, too', () => {
    const { trial, admits } = create();
    for (let count = 0; count < 5; count += 1) {
      const one = trial('bad');
      one.succeeded();
      one.failed(new UpstreamError('stream_interrupted', 'no', { status: 502 }));
    }
    expect([admits('bad'), admits('good')]).toEqual([false, true]);
  });

  it('keeps the breakers of 2000 names, whatever names callers send', () => {
    const { fail, admits } = create();
    fail('first', 'overloaded', 503);
    for (let name = 0; name < 2000; name += 1) fail(`name-${name}`, 'overloaded', 503, 1);
    expect(admits('first')).toBe(true);
    const long = 'x'.repeat(256);
    fail(`${long}a`, 'overloaded', 503);
    expect([admits(`${long}b`), admits('name-1999')]).toEqual([false, true]);
  });
});

it('A target that sets the model itself has one breaker for all requests', () => {
  const { fail, admits, transitions } = create(configOf({ overrideParams: { model: 'm' } }));
  fail('one', 'overloaded', 503);
  expect([admits('one'), admits('another')]).toEqual([false, false]);
  expect(transitions).toEqual([[undefined, 'open', false]]);
});

it('A default model of the target is the model of requests without one', () => {
  const config = configOf({ defaultParams: { model: 'usual' } });
  const { fail, admits } = create(config);
  fail('usual', 'overloaded', 503);
  expect(admits('other')).toBe(true);
});
