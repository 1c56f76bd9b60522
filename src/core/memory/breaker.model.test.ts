import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UpstreamError } from '../../plugin/index.ts';
import type { BreakerSettings, HealthTrial } from '../kernel/index.ts';
import { createFakeClock, createTarget } from '../../plugin/testing/index.ts';
import { Breaker } from './breaker.ts';

/** One request in the reference model. */
interface Request {
  readonly trial: HealthTrial;
  readonly began: number;
  readonly probe: boolean;
  /** Its result has been reported. */
  reported: 'nothing' | 'success' | 'all';
  /** Time and result with which it was counted. */
  counted: { at: number; failed: boolean; since: number } | undefined;
}

/**
 * A reference model of the breaker, computed from a list of all events: the requests that began since the last change, and those that
 * were counted and when. It has no buckets and no running sums.
 */
class Reference {
  readonly requests: Request[] = [];
  state: 'closed' | 'open' | 'half_open' = 'closed';
  retryAt = 0;
  probe: Request | undefined;
  /** Index of the step of the last opening or closing. */
  changed = -1;
  #step = 0;
  readonly #settings: BreakerSettings;

  constructor(settings: BreakerSettings) {
    this.#settings = settings;
  }

  admits(now: number): boolean {
    return !this.#settings.enforced || this.state === 'closed' || (this.probe === undefined && now >= this.retryAt);
  }

  begin(trial: HealthTrial, now: number): void {
    const probe = this.#settings.enforced && this.state !== 'closed' && this.admits(now);
    const request: Request = { trial, began: (this.#step += 1), probe, reported: 'nothing', counted: undefined };
    this.requests.push(request);
    if (!probe) return;
    this.state = 'half_open';
    this.probe = request;
  }

  end(request: Request, word: 'success' | 'failure' | 'nothing', now: number): void {
    const again = request.reported === 'success' && word === 'failure' && request.counted !== undefined;
    if (request.reported !== 'nothing' && !again) return;
    request.reported = word === 'success' ? 'success' : 'all';
    const wasProbe = this.probe === request;
    if (wasProbe) this.probe = undefined;
    const belongs = again ? request.counted!.since > this.changed : request.began > this.changed;
    if (word === 'nothing' || !belongs) return;
    if (word === 'success') this.#succeed(request, now);
    else this.#fail(request, wasProbe, now);
  }

  within(now: number): readonly { readonly failed: boolean }[] {
    return this.requests.flatMap(({ counted }) =>
      counted && counted.at > now - this.#settings.windowMs && counted.since > this.#cleared ? [counted] : [],
    );
  }

  #cleared = -1;

  #succeed(request: Request, now: number): void {
    const back = this.state !== 'closed' && (this.#settings.enforced || now >= this.retryAt);
    if (back) {
      this.state = 'closed';
      this.probe = undefined;
      this.changed = this.#cleared = this.#step += 1;
    }
    request.counted = { at: now, failed: false, since: (this.#step += 1) };
  }

  #fail(request: Request, wasProbe: boolean, now: number): void {
    request.counted = { at: now, failed: true, since: (this.#step += 1) };
    const { enforced, failures, minRequests, failureRate, cooldownMs } = this.#settings;
    const all = this.within(now);
    const failed = all.filter((one) => one.failed).length;
    const tooMuch = failed >= failures && all.length >= minRequests && failed / all.length >= failureRate;
    const opens = this.state === 'closed' ? tooMuch : wasProbe || (!enforced && now >= this.retryAt);
    if (!opens) return;
    this.state = 'open';
    this.retryAt = now + cooldownMs;
    this.changed = this.#step += 1;
  }
}

const settings: fc.Arbitrary<BreakerSettings> = fc.record({
  enforced: fc.boolean(),
  failures: fc.integer({ min: 1, max: 4 }),
  minRequests: fc.integer({ min: 1, max: 6 }),
  failureRate: fc.constantFrom(0.1, 0.5, 1),
  // Times are multiples of a bucket, because the reference has no buckets.
  windowMs: fc.constant(10_000),
  cooldownMs: fc.constantFrom(1000, 5000, 20_000),
  onStatusCodes: fc.constant(createTarget().breaker.onStatusCodes),
});

const step = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ do: 'begin' } as const) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('advance' as const), seconds: fc.integer({ min: 0, max: 8 }) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom('success', 'failure', 'failure', 'failure', 'nothing'),
      which: fc.nat(7),
    }),
  },
);

const broken = new UpstreamError('overloaded', 'no');

describe('a breaker and its reference model', () => {
  it('agree for any sequence of events', async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(settings, fc.array(step, { minLength: 20, maxLength: 120 }), async (rules, steps) => {
        const clock = createFakeClock();
        const breaker = new Breaker(rules, clock, ({ from, to }) => seen.add(`${from} ${to}`));
        const reference = new Reference(rules);
        for (const one of steps) {
          const now = clock.now();
          if (one.do === 'advance') await clock.advance(one.seconds * 1000);
          else if (one.do === 'begin') reference.begin(breaker.begin(), now);
          else if (reference.requests.length > 0) {
            const request = reference.requests.at(-1 - (one.which % reference.requests.length))!;
            reference.end(request, one.do, now);
            if (one.do === 'success') request.trial.succeeded();
            else if (one.do === 'failure') request.trial.failed(broken);
            else request.trial.abandoned();
          }
          expectSame(breaker, reference, rules, clock.now());
        }
      }),
      { numRuns: 400 },
    );
    const every = ['closed open', 'half_open closed', 'half_open open', 'open closed', 'open half_open'];
    expect([...seen].toSorted(), 'all that can happen did').toEqual(every);
  });
});

function expectSame(breaker: Breaker, reference: Reference, { enforced }: BreakerSettings, now: number): void {
  const within = reference.within(now);
  expect({
    state: breaker.state,
    admits: breaker.admits,
    retryAt: breaker.retryAt,
    requests: breaker.report().requests,
    failures: breaker.report().failures,
  }).toEqual({
    state: reference.state,
    admits: reference.admits(now),
    retryAt: reference.retryAt,
    requests: within.length,
    failures: within.filter(({ failed }) => failed).length,
  });
  const probes = reference.requests.filter(({ trial, reported }) => trial.probe && reported === 'nothing');
  if (breaker.state === 'half_open' && !breaker.admits) expect(probes.length).toBeGreaterThan(0);
  if (enforced && breaker.state === 'open' && now < breaker.retryAt) expect(breaker.admits).toBe(false);
  if (!enforced) expect([breaker.admits, probes.length]).toEqual([true, 0]);
}
