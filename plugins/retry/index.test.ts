import { afterEach, describe, expect, it, vi } from 'vitest';
import { GatewayError, UpstreamError, type ErrorCode, type RetrySettings } from '../../src/plugin/index.ts';
import { createAttempt, createExchange, createFakeClock, runPlugin } from '../../src/plugin/testing/index.ts';
import retry from './index.ts';

afterEach(() => void vi.restoreAllMocks());

const busy = (status = 503, retryAfterMs?: number): UpstreamError =>
  new UpstreamError('overloaded', `no ${status}`, { status, ...(retryAfterMs !== undefined && { retryAfterMs }) });

interface Setup extends Partial<RetrySettings> {
  /** What one try after another does; the last one again and again. */
  readonly tries: readonly (Error | 'ok')[];
  readonly random?: number;
  readonly deadline?: number;
  /** How long each try takes. */
  readonly tryMs?: number;
  /** Another target would be asked after these failures. */
  readonly fallsThrough?: (error: GatewayError) => boolean;
}

/** Starts a request; the test moves the clock. */
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
  it('costs a request that succeeds at once no timer of any kind', async () => {
    const timers = vi.spyOn(globalThis, 'setTimeout');
    const { clock, outcome, at } = await run({ tries: ['ok'] });
    expect([outcome, at.length, clock.started, timers.mock.calls.length]).toEqual(['ok', 1, 0, 0]);
  });

  it('waits by the clock of the host alone', async () => {
    const timers = vi.spyOn(globalThis, 'setTimeout');
    const { clock } = await run({ tries: [busy(), 'ok'] });
    expect([clock.started, timers.mock.calls.length]).toEqual([1, 0]);
  });

  it.each([
    ['never, when it is off', 0, 1],
    ['once', 1, 2],
    ['as often as it is told', 5, 6],
  ])('tries again %s, and fails as the last try failed', async (_, attempts, count) => {
    const failures = Array.from({ length: count }, (_unused, index) => busy(index === count - 1 ? 429 : 503));
    const { at, outcome } = await run({ tries: failures, attempts });
    expect(at).toHaveLength(count);
    expect(outcome).toBe(failures.at(-1));
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
    ['what the upstream asks for, not its own backoff', 250, [0, 250]],
    ['not at all when that is nothing', 0, [0, 0]],
    ['as long as the cap', 1000, [0, 1000]],
  ])('waits %s', async (_, retryAfterMs, times) => {
    expect((await run({ tries: [busy(429, retryAfterMs), 'ok'] })).at).toEqual(times);
  });

  it('leaves the target at once when the upstream says that no try can help, and not for its saying the contrary', async () => {
    const says = (shouldRetry: boolean, status: number): UpstreamError =>
      new UpstreamError('overloaded', 'no', { status, shouldRetry, retryAfterMs: 0 });
    expect((await run({ tries: [says(false, 503), 'ok'] })).at.length).toBe(1);
    expect((await run({ tries: [says(true, 503), 'ok'] })).at.length).toBe(2);
    // Which statuses are tried again is the config's to say.
    expect((await run({ tries: [says(true, 500), 'ok'] })).at.length).toBe(1);
  });

  it('leaves the target at once when the upstream asks for more than the cap', async () => {
    const failure = busy(429, 1001);
    const { at, outcome, clock } = await run({ tries: [failure, 'ok'] });
    expect([at.length, outcome, clock.started]).toEqual([1, failure, 0]);
  });

  it.each([
    ['a status it was not told of', busy(500)],
    ['what the client did wrong, whatever its status', new GatewayError('invalid_request', 'no', { status: 503 })],
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
    // It says itself that it was too slow, or was not even asked: another try need not cost the same time.
    ['timeout', 2],
    ['connection_failed', 2],
  ])('leaves an upstream that is silent (%s) for another target, where one would be asked', async (code, tries) => {
    const failure = new UpstreamError(code, 'no');
    const onStatusCodes = new Set([502, 504]);
    const asked: GatewayError[] = [];
    const fallsThrough = (error: GatewayError): boolean => asked.push(error) > 0;
    expect((await run({ tries: [failure, 'ok'], onStatusCodes, fallsThrough })).at).toHaveLength(tries);
    expect(asked).toEqual(tries === 1 ? [failure] : []);
    // With nobody else there it is tried again like anything.
    expect((await run({ tries: [failure, 'ok'], onStatusCodes })).at).toHaveLength(2);
  });

  it('waits as the upstream asks also where another target would be asked: how long is for `max_delay` to say', async () => {
    expect((await run({ tries: [busy(429, 900), 'ok'], fallsThrough: () => true })).at).toEqual([0, 900]);
    expect((await run({ tries: [busy(429, 1001), 'ok'], fallsThrough: () => true })).at).toEqual([0]);
  });

  it.each<ErrorCode>(['context_length_exceeded', 'content_filter'])(
    'never sends the same words to the same model after %s, whatever statuses it was told of',
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
    'begins no wait that the upstream asks for where the deadline of %d ms leaves no time for the answer',
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

  it('counts what the tries took against the deadline', async () => {
    const failure = busy();
    const { at, outcome } = await run({ tries: [failure], tryMs: 450, deadline: 1000 });
    expect([at, outcome]).toEqual([[0, 550], failure]);
  });

  it('ends a wait at once when the client leaves, with the reason', async () => {
    const { clock, exchange, at, outcome } = start({ tries: [busy(), 'ok'] });
    await clock.advance(99);
    expect([outcome(), clock.pending]).toEqual(['open', [1]]);
    const gone = new GatewayError('client_closed', 'The client left.');
    exchange.cancellation.cancel(gone);
    await clock.advance(0);
    expect([outcome(), clock.pending, at.length]).toEqual([gone, [], 1]);
  });

  it('begins no wait for a client that has left', async () => {
    const { clock, exchange, at, outcome } = start({ tries: [busy(), 'ok'], tryMs: 10 });
    await clock.advance(5);
    exchange.cancellation.cancel(new GatewayError('client_closed', 'The client left.'));
    await clock.advance(100);
    expect([at.length, clock.started]).toEqual([1, 1]);
    expect(outcome()).toMatchObject({ status: 503 });
  });
});
