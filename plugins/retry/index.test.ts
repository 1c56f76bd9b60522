import { afterEach, describe, expect, it, vi } from 'vitest';
import { GatewayError, UpstreamError, type ErrorCode } from '../../src/plugin/index.ts';
import type { RetrySettings } from '../../src/core/kernel/index.ts';
import { createAttempt, createExchange, createFakeClock, runPlugin } from '../../src/plugin/testing/index.ts';
import retry from './index.ts';

afterEach(() => void vi.restoreAllMocks());

const busy = (status = 503, retryAfterMs?: number): UpstreamError =>
  new UpstreamError('overloaded', `no ${status}`, { status, ...(retryAfterMs !== undefined && { retryAfterMs }) });

interface Setup extends Partial<RetrySettings> {
  /** The outcome of each try; the last one repeats. */
  readonly tries: readonly (Error | 'ok')[];
  readonly random?: number;
  readonly deadline?: number;
  /** Duration of each try. */
  readonly tryMs?: number;
  /** Failures that fall through to another target. */
  readonly fallsThrough?: (error: GatewayError) => boolean;
}

/** Starts a request; the test advances the clock. */
function start({ tries, random = 1, deadline = 600_000, tryMs = 0, fallsThrough = () => false, ...settings }: Setup) {
  const clock = createFakeClock();
  const exchange = createExchange();
  const attempt = createAttempt(exchange, {
    target: {
      retry: { attempts: 3, onStatusCodes: new Set([429, 503]), minDelayMs: 100, maxDelayMs: 1000, ...settings },
    },
    deadline,
    choice: { reason: 'first', fallsThrough },
  });
  exchange.cancellation.onCancel((reason) => attempt.cancellation.cancel(reason));
  const at: number[] = [];
  let outcome: unknown = 'open';
  const next = async (): Promise<void> => {
    at.push(clock.now());
    if (tryMs > 0) await clock.sleep(tryMs);
    const result = tries[Math.min(at.length, tries.length) - 1];
    if (result instanceof Error) throw result;
  };
  runPlugin(retry, { exchange, attempt, clock, random: () => random, next }).then(
    () => (outcome = 'ok'),
    (error: unknown) => (outcome = error),
  );
  return { clock, exchange, attempt, at, outcome: () => outcome };
}

/** Runs it to its end. */
async function run(setup: Setup) {
  const started = start(setup);
  await started.clock.advance(1_000_000);
  return { ...started, outcome: started.outcome() };
}

describe('retry', () => {
  it('starts no timer for a request that succeeds at once', async () => {
    const timers = vi.spyOn(globalThis, 'setTimeout');
    const { clock, outcome, at } = await run({ tries: ['ok'] });
    expect([outcome, at.length, clock.started, timers.mock.calls.length]).toEqual(['ok', 1, 0, 0]);
  });

  it('waits only by the host’s clock', async () => {
    const timers = vi.spyOn(globalThis, 'setTimeout');
    const { clock } = await run({ tries: [busy(), 'ok'] });
    expect([clock.started, timers.mock.calls.length]).toEqual([1, 0]);
  });

  it.each([
    ['never, when it is off', 0, 1],
    ['once', 1, 2],
    ['as often as configured', 5, 6],
  ])('tries again %s, and fails as the last try failed', async (_, attempts, count) => {
    const failures = Array.from({ length: count }, (_unused, index) => busy(index === count - 1 ? 429 : 503));
    const { at, outcome } = await run({ tries: failures, attempts });
    expect(at).toHaveLength(count);
    expect(outcome).toBe(failures.at(-1));
  });

  it.each([
    ['its own backoff', busy()],
    ['the upstream’s retry-after', busy(429, 250)],
  ])('fails as soon as the last try has failed, and does not wait for %s once more', async (_, failure) => {
    const { clock, at, outcome } = start({ tries: [failure], attempts: 1, random: 0.5 });
    await clock.advance(250);
    expect([at.length, clock.started, outcome()]).toEqual([2, 1, failure]);
  });

  it('stops at the first success', async () => {
    const { at, outcome } = await run({ tries: [busy(), busy(), 'ok'] });
    expect([at.length, outcome]).toEqual([3, 'ok']);
  });

  it.each([
    ['doubles its longest wait from try to try', 1, [0, 100, 300, 700, 1500, 2500]],
    ['spreads waits evenly below that', 0.5, [0, 50, 150, 350, 750, 1250]],
    ['may not wait at all', 0, [0, 0, 0, 0, 0, 0]],
  ])('%s, up to the cap', async (_, random, times) => {
    expect((await run({ tries: [busy()], random, attempts: 5 })).at).toEqual(times);
  });

  it.each([
    ['the upstream’s retry-after, not its own backoff', 250, [0, 250]],
    ['not at all when that is zero', 0, [0, 0]],
    ['as long as the cap', 1000, [0, 1000]],
  ])('waits %s', async (_, retryAfterMs, times) => {
    expect((await run({ tries: [busy(429, retryAfterMs), 'ok'] })).at).toEqual(times);
  });

  it('does not retry when the upstream sends x-should-retry: false; true does not force a retry', async () => {
    const says = (shouldRetry: boolean, status: number): UpstreamError =>
      new UpstreamError('overloaded', 'no', { status, shouldRetry, retryAfterMs: 0 });
    expect((await run({ tries: [says(false, 503), 'ok'] })).at.length).toBe(1);
    expect((await run({ tries: [says(true, 503), 'ok'] })).at.length).toBe(2);
    // The config decides which statuses are retried.
    expect((await run({ tries: [says(true, 500), 'ok'] })).at.length).toBe(1);
  });

  it('does not retry when the upstream requests a wait above the cap', async () => {
    const failure = busy(429, 1001);
    const { at, outcome, clock } = await run({ tries: [failure, 'ok'] });
    expect([at.length, outcome, clock.started]).toEqual([1, failure, 0]);
  });

  it.each([
    ['a status that is not configured', busy(500)],
    ['an invalid request, whatever its status', new GatewayError('invalid_request', 'no', { status: 503 })],
    ['a fault of a plugin', new Error('broken')],
    ['a fault of the code', new TypeError('x is not a function')],
  ])('does not repeat %s', async (_, failure) => {
    const { at, outcome } = await run({ tries: [failure, 'ok'] });
    expect([at.length, outcome]).toEqual([1, failure]);
  });

  it.each<[ErrorCode, number]>([
    ['timeout_connect', 1],
    ['timeout_first_byte', 1],
    ['timeout_first_content', 1],
    ['timeout_idle', 1],
    // The upstream itself reported a timeout, or nothing was sent: another try need not cost the same time.
    ['timeout', 2],
    ['connection_failed', 2],
  ])('leaves an upstream that is silent (%s) for another target, where one would be asked', async (code, tries) => {
    const failure = new UpstreamError(code, 'no');
    const onStatusCodes = new Set([502, 504]);
    const asked: GatewayError[] = [];
    const fallsThrough = (error: GatewayError): boolean => asked.push(error) > 0;
    expect((await run({ tries: [failure, 'ok'], onStatusCodes, fallsThrough })).at).toHaveLength(tries);
    expect(asked).toEqual(tries === 1 ? [failure] : []);
    // Without another target it is retried like any other failure.
    expect((await run({ tries: [failure, 'ok'], onStatusCodes })).at).toHaveLength(2);
  });

  it('obeys the upstream’s retry-after even with another target; only `max_delay` limits it', async () => {
    expect((await run({ tries: [busy(429, 900), 'ok'], fallsThrough: () => true })).at).toEqual([0, 900]);
    expect((await run({ tries: [busy(429, 1001), 'ok'], fallsThrough: () => true })).at).toEqual([0]);
  });

  it.each<ErrorCode>(['context_length_exceeded', 'content_filter'])(
    'never retries after %s, whatever statuses are configured',
    async (code) => {
      const failure = new UpstreamError(code, 'no');
      const { at, outcome } = await run({ tries: [failure, 'ok'], onStatusCodes: new Set([400]) });
      expect([at.length, outcome]).toEqual([1, failure]);
    },
  );

  it.each([
    ['would end just at the deadline', 100, 1],
    ['leaves less than half of the time', 199, 1],
    ['would end after the deadline, unlike this one', 200, 2],
  ])('begins no wait that %s (%d ms)', async (_, deadline, count) => {
    expect((await run({ tries: [busy()], attempts: 1, deadline })).at).toHaveLength(count);
  });

  it.each([
    [500, 1],
    [999, 1],
    [1000, 2],
  ])(
    'does not start a requested wait when the deadline of %d ms leaves no time for the answer',
    async (deadline, tries) => {
      const { at, clock } = await run({ tries: [busy(429, 500), 'ok'], deadline });
      expect([at.length, clock.started]).toEqual([tries, tries - 1]);
    },
  );

  it.each([
    [10_999, 1],
    [11_000, 2],
  ])(
    'leaves a second for the answer: a wait of 10 s and a deadline of %d ms make %d tries',
    async (deadline, tries) => {
      const failure = busy(429, 10_000);
      const { at, outcome } = await run({ tries: [failure, 'ok'], maxDelayMs: 60_000, deadline });
      expect([at.length, outcome]).toEqual([tries, tries === 1 ? failure : 'ok']);
    },
  );

  it('counts the duration of the tries against the deadline', async () => {
    const failure = busy();
    const { at, outcome } = await run({ tries: [failure], tryMs: 450, deadline: 1000 });
    expect([at, outcome]).toEqual([[0, 550], failure]);
  });

  it('ends a wait at once when the client disconnects, with the reason', async () => {
    const { clock, exchange, at, outcome } = start({ tries: [busy(), 'ok'] });
    await clock.advance(99);
    expect([outcome(), clock.pending]).toEqual(['open', [1]]);
    const gone = new GatewayError('client_closed', 'The client left.');
    exchange.cancellation.cancel(gone);
    await clock.advance(0);
    expect([outcome(), clock.pending, at.length]).toEqual([gone, [], 1]);
  });

  it('starts no wait for a disconnected client', async () => {
    const { clock, exchange, at, outcome } = start({ tries: [busy(), 'ok'], tryMs: 10 });
    await clock.advance(5);
    exchange.cancellation.cancel(new GatewayError('client_closed', 'The client left.'));
    await clock.advance(100);
    expect([at.length, clock.started]).toEqual([1, 1]);
    expect(outcome()).toMatchObject({ status: 503 });
  });
});
