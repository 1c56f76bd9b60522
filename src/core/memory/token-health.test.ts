import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { Secret, UpstreamError, type ErrorCode } from '../../plugin/index.ts';
import type { Exchange, GatewayConfig, Target } from '../kernel/index.ts';
import {
  createAttempt,
  createConfig,
  createExchange,
  createFakeClock,
  createTarget,
} from '../../plugin/testing/index.ts';
import { targetsOf } from './ports.ts';
import { MemoryHealthStore } from './target-health.ts';

const breaker = { ...createTarget().breaker, enforced: true, onStatusCodes: new Set([401, 403, 429, 500, 503]) };
const config: GatewayConfig = createConfig({
  id: 'it',
  route: createTarget({ provider: '@vertex', overrideParams: { model: 'm' }, breaker }),
});
const target: Target = targetsOf(config.route)[0]!;

function create() {
  const clock = createFakeClock();
  const transitions: string[] = [];
  const store = new MemoryHealthStore({ clock, onTransition: (_, { to }) => transitions.push(to) });
  const health = store.directory();
  health.prepare([config]);
  health.use();
  return { clock, store, health, transitions };
}
type Setup = ReturnType<typeof create>;

/** A request at the target, which sends the caller's own token with `usesCallersToken`. */
function exchangeOf(token: string | undefined, usesCallersToken = true): Exchange {
  const exchange = createExchange({ ...(token !== undefined && { upstreamToken: new Secret(token, 'caller') }) });
  const attempt = createAttempt(exchange, { target });
  attempt.resolved = { ...attempt.resolved!, usesCallersToken };
  return exchange;
}

function fail({ health }: Setup, token: string, error: UpstreamError, times = 5): void {
  for (let count = 0; count < times; count += 1) {
    const exchange = exchangeOf(token);
    health.of(config, target, exchange).begin().failed(error);
  }
}
const refused = (code: ErrorCode = 'rate_limit_exceeded', status = 429): UpstreamError =>
  new UpstreamError(code, 'no', { status, toCallersToken: true });
const admits = ({ health }: Setup, token: string | undefined): boolean =>
  health.of(config, target, exchangeOf(token)).admits;

describe('the token of one caller', () => {
  it.each<[ErrorCode, number]>([
    ['rate_limit_exceeded', 429],
    ['invalid_api_key', 401],
    ['upstream_permission', 403],
  ])('that is refused with %s blocks its own caller only', (code, status) => {
    const setup = create();
    fail(setup, 'mine', refused(code, status));
    expect([admits(setup, 'mine'), admits(setup, 'yours'), admits(setup, undefined)]).toEqual([false, true, true]);
    expect(setup.store.reports()).toMatchObject([{ state: 'closed', failures: 0, requests: 0, lastError: undefined }]);
    expect(setup.transitions).toEqual([]);
  });

  it('that is refused is not blocked by the statuses that count for the entry’s own key alone', () => {
    const own = { ...breaker, onTokenStatusCodes: new Set([429]) };
    const other = createConfig({ id: 'other', route: createTarget({ provider: '@vertex', breaker: own }) });
    const [place] = targetsOf(other.route);
    const { health } = create();
    const exchange = exchangeOf('mine');
    const of = () => health.of(other, place!, exchange);
    for (let count = 0; count < 5; count += 1) of().begin().failed(refused('invalid_api_key', 401));
    expect(of().admits).toBe(true);
    for (let count = 0; count < 5; count += 1) of().begin().failed(refused());
    expect(of().admits).toBe(false);
  });

  it('does not hide failures of the target: a 5xx counts for all callers', () => {
    const setup = create();
    fail(setup, 'mine', new UpstreamError('overloaded', 'no', { toCallersToken: true }));
    expect([admits(setup, 'mine'), admits(setup, 'yours'), admits(setup, undefined)]).toEqual([false, false, false]);
    expect(setup.transitions).toEqual(['open']);
  });

  it('that is refused neither closes the target’s breaker nor hides its failures among many requests', async () => {
    const setup = create();
    const down = new UpstreamError('overloaded', 'no', { toCallersToken: true });
    fail(setup, 'bad', refused('invalid_api_key', 401), 100);
    fail(setup, 'good', down);
    expect(setup.transitions).toEqual(['open']);
    await setup.clock.advance(breaker.cooldownMs);
    fail(setup, 'another', refused('invalid_api_key', 401), 1);
    expect(setup.transitions).toEqual(['open', 'half_open']);
    expect(admits(setup, 'good')).toBe(true);
  });

  it('is tried again after the cooldown, one request at a time, and the first answer brings it back', async () => {
    const setup = create();
    fail(setup, 'mine', refused());
    await setup.clock.advance(breaker.cooldownMs);
    const trial = setup.health.of(config, target, exchangeOf('mine')).begin();
    expect([trial.probe, admits(setup, 'mine'), admits(setup, 'yours')]).toEqual([true, false, true]);
    trial.succeeded();
    expect(admits(setup, 'mine')).toBe(true);
  });

  it('has its successes counted too, so that an occasional refusal does not open its breaker', () => {
    const setup = create();
    for (let count = 0; count < 50; count += 1) setup.health.of(config, target, exchangeOf('mine')).begin().succeeded();
    fail(setup, 'mine', refused());
    expect(admits(setup, 'mine')).toBe(true);
  });

  it('has no breaker where the target receives the gateway’s own key', () => {
    const setup = create();
    const error = new UpstreamError('rate_limit_exceeded', 'no');
    for (let count = 0; count < 5; count += 1)
      setup.health.of(config, target, exchangeOf('dummy', false)).begin().failed(error);
    expect([admits(setup, 'dummy'), admits(setup, 'yours')]).toEqual([false, false]);
  });

  it('counts for no target where a plugin does not pass the exchange', () => {
    const { health, store } = create();
    for (let count = 0; count < 5; count += 1) health.of(config, target).begin().failed(refused());
    expect(store.reports()).toMatchObject([{ state: 'closed', failures: 0 }]);
  });

  it('is not stored: the health of 5,000 tokens is bounded and contains none of them', () => {
    const setup = create();
    for (let count = 0; count < 5000; count += 1) fail(setup, `canary-token-${count}`, refused());
    expect(admits(setup, 'canary-token-4999')).toBe(false);
    // The least recently used one was evicted.
    expect(admits(setup, 'canary-token-0')).toBe(true);
    expect(inspect(setup.store, { depth: 20, showHidden: true, maxArrayLength: null })).not.toContain('canary-token');
    expect(setup.store.reports()).toHaveLength(1);
  });
});
