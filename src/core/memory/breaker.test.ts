import { describe, expect, it } from 'vitest';
import { UpstreamError } from '../../plugin/index.ts';
import type { BreakerSettings, HealthTrial } from '../kernel/index.ts';
import type { ErrorDetails } from '../../plugin/errors.ts';
import { createFakeClock, createTarget } from '../../plugin/testing/index.ts';
import type { HealthTransition } from './ports.ts';
import { Breaker } from './breaker.ts';

const CALM: BreakerSettings = {
  ...createTarget().breaker,
  enforced: true,
  failures: 3,
  failureRate: 0.5,
  minRequests: 4,
  windowMs: 10_000,
  cooldownMs: 5000,
};

function create(settings: Partial<BreakerSettings> = {}) {
  const clock = createFakeClock();
  const transitions: HealthTransition[] = [];
  const breaker = new Breaker({ ...CALM, ...settings }, clock, (one) => transitions.push(one));
  return { breaker, clock, transitions, states: () => transitions.map(({ to }) => to) };
}

const failure = (status = 503, details: ErrorDetails = {}) =>
  new UpstreamError('overloaded', 'no', { status, ...details });

function run(breaker: Breaker, verdicts: string): void {
  for (const verdict of verdicts) tell(breaker.begin(), verdict);
}

/** f failure, s success, c the caller's own fault, u a failure that does not count, a nothing */
function tell(trial: HealthTrial, verdict: string): void {
  if (verdict === 'f') trial.failed(failure());
  else if (verdict === 's') trial.succeeded();
  else if (verdict === 'c') trial.failed(failure(400));
  else if (verdict === 'u') trial.failed(failure(501));
  else trial.abandoned();
}

/** An open breaker at the start of its cooldown. */
function createOpen(settings: Partial<BreakerSettings> = {}) {
  const all = create(settings);
  run(all.breaker, 'ffff');
  expect(all.breaker.state).toBe('open');
  return all;
}

describe('a breaker opens', () => {
  it.each([
    ['ffff', 'open'],
    ['fff', 'closed'],
    ['sfff', 'open'],
    ['ssfff', 'open'],
    ['sssfff', 'open'],
    ['ssssfff', 'closed'],
    ['ffss', 'closed'],
    ['fffs', 'closed'],
    ['fffsf', 'open'],
    ['cccfff', 'open'],
    ['ccccfff', 'closed'],
    ['uuuuuuu', 'closed'],
    ['uuuufff', 'closed'],
    ['fffaaaa', 'closed'],
    ['cccccccc', 'closed'],
  ])('after %s it is %s: by failures, requests and the rate of both', (verdicts, state) => {
    const { breaker } = create();
    run(breaker, verdicts);
    expect([breaker.state, breaker.admits]).toEqual([state, state === 'closed']);
  });

  it('but not for failures that have left the window', async () => {
    const { breaker, clock } = create();
    run(breaker, 'fff');
    await clock.advance(10_000);
    run(breaker, 'f');
    expect(breaker.state).toBe('closed');
  });

  it('for the statuses in its settings only', () => {
    const { breaker } = create({ onStatusCodes: new Set([429]) });
    run(breaker, 'ffffffff');
    expect(breaker.state).toBe('closed');
    for (let count = 0; count < 8; count += 1) breaker.begin().failed(failure(429));
    expect(breaker.state).toBe('open');
  });

  it('after counting each request once, whatever is reported later', () => {
    const { breaker } = create();
    const trial = breaker.begin();
    for (const verdict of 'fffffsaf') tell(trial, verdict);
    expect(breaker.report()).toMatchObject({ requests: 1, failures: 1 });
  });

  it('for replies that broke after they began, each counted as one request', () => {
    const { breaker } = create({ minRequests: 3, failureRate: 1 });
    const trials = Array.from({ length: 3 }, () => breaker.begin());
    for (const trial of trials) trial.succeeded();
    for (const trial of trials) for (const verdict of 'ff') tell(trial, verdict);
    expect([breaker.state, breaker.report()]).toMatchObject(['open', { requests: 3, failures: 3 }]);
  });
});

describe('an open breaker', () => {
  it('skips the target until its cooldown is over, then admits one request at a time', async () => {
    const { breaker, clock } = createOpen();
    expect([breaker.admits, breaker.retryAt]).toEqual([false, 5000]);
    await clock.advance(4999);
    expect(breaker.admits).toBe(false);
    await clock.advance(1);
    expect([breaker.admits, breaker.state]).toEqual([true, 'open']);
    expect(breaker.begin().probe).toBe(true);
    expect([breaker.admits, breaker.state]).toEqual([false, 'half_open']);
    expect(breaker.begin().probe).toBe(false);
  });

  it('closes with the first success, and clears its counts', async () => {
    const { breaker, clock, states } = createOpen();
    await clock.advance(5000);
    run(breaker, 's');
    expect([breaker.state, breaker.admits]).toEqual(['closed', true]);
    expect(breaker.report()).toMatchObject({ requests: 1, failures: 0 });
    expect(states()).toEqual(['open', 'half_open', 'closed']);
  });

  it('closes when the target refuses the request itself, because it has answered', async () => {
    const { breaker, clock } = createOpen();
    await clock.advance(5000);
    run(breaker, 'c');
    expect(breaker.state).toBe('closed');
  });

  it('opens again for a whole cooldown when its probe fails', async () => {
    const { breaker, clock, states } = createOpen();
    await clock.advance(7000);
    run(breaker, 'f');
    expect([breaker.state, breaker.retryAt]).toEqual(['open', 12_000]);
    expect(states()).toEqual(['open', 'half_open', 'open']);
  });

  it.each([
    ['whose client has disconnected', 'a'],
    ['that failed in a way that does not count', 'u'],
  ])('frees the slot of a probe %s, without a change of state', async (_, verdict) => {
    const { breaker, clock } = createOpen();
    await clock.advance(5000);
    run(breaker, verdict);
    expect([breaker.state, breaker.admits]).toEqual(['half_open', true]);
    expect(breaker.begin().probe).toBe(true);
  });

  it('closes when a last resort is answered before the cooldown ends', () => {
    const { breaker } = createOpen();
    const trial = breaker.begin();
    expect(trial.probe).toBe(false);
    trial.succeeded();
    expect(breaker.state).toBe('closed');
  });

  it('stays as it is when a last resort fails', async () => {
    const { breaker, clock } = createOpen();
    await clock.advance(2000);
    run(breaker, 'fff');
    expect([breaker.state, breaker.retryAt]).toEqual(['open', 5000]);
  });

  it('counts a reply as a failure that closed it and broke afterwards', async () => {
    const { breaker, clock } = createOpen();
    await clock.advance(5000);
    const probe = breaker.begin();
    probe.succeeded();
    probe.failed(failure());
    expect([breaker.state, breaker.report()]).toMatchObject(['closed', { requests: 1, failures: 1 }]);
  });
});

describe('the result of a request that began before the breaker opened', () => {
  it('does not close it', () => {
    const { breaker } = create();
    const early = breaker.begin();
    run(breaker, 'ffff');
    early.succeeded();
    expect(breaker.state).toBe('open');
  });

  it('neither prolongs it nor counts', async () => {
    const { breaker, clock } = create();
    const [early, late] = [breaker.begin(), breaker.begin()];
    run(breaker, 'ffff');
    await clock.advance(3000);
    early.failed(failure());
    expect([breaker.retryAt, breaker.report().requests]).toEqual([5000, 4]);
    await clock.advance(2000);
    const probe = breaker.begin();
    late.failed(failure());
    expect([breaker.state, breaker.admits]).toEqual(['half_open', false]);
    probe.succeeded();
    expect(breaker.state).toBe('closed');
  });

  it('does not restart a finished cooldown', async () => {
    const { breaker, clock } = create();
    const early = breaker.begin();
    run(breaker, 'ffff');
    await clock.advance(8000);
    early.failed(failure());
    expect([breaker.retryAt, breaker.admits]).toEqual([5000, true]);
  });

  it('does not count after it has closed: requests that hung in an outage do not open it again', async () => {
    const { breaker, clock } = create();
    const hung = Array.from({ length: 10 }, () => breaker.begin());
    const broken = breaker.begin();
    broken.succeeded();
    run(breaker, 'ffff');
    await clock.advance(5000);
    run(breaker, 's');
    for (const trial of [...hung, broken]) trial.failed(failure());
    expect([breaker.state, breaker.report()]).toMatchObject(['closed', { requests: 1, failures: 0 }]);
  });

  it('does not free the slot of a probe', async () => {
    const { breaker, clock } = create();
    const early = [...'sfuca'].map((verdict) => ({ verdict, trial: breaker.begin() }));
    run(breaker, 'ffff');
    await clock.advance(5000);
    expect(breaker.begin().probe).toBe(true);
    for (const { verdict, trial } of early) tell(trial, verdict);
    expect([breaker.state, breaker.admits]).toEqual(['half_open', false]);
  });
});

describe('a Retry-After', () => {
  it.each([
    ['longer than the cooldown applies', 60_000, 60_000],
    ['shorter than the cooldown does not', 1000, 5000],
    ['longer than five minutes is cut', 3_600_000, 300_000],
  ])('%s', (_, retryAfterMs, retryAt) => {
    const { breaker } = create();
    run(breaker, 'fff');
    breaker.begin().failed(failure(429, { retryAfterMs }));
    expect([breaker.state, breaker.retryAt]).toEqual(['open', retryAt]);
  });

  it('does not shorten a cooldown that is longer than five minutes', () => {
    const { breaker } = create({ cooldownMs: 600_000 });
    run(breaker, 'fff');
    breaker.begin().failed(failure(429, { retryAfterMs: 3_600_000 }));
    expect(breaker.retryAt).toBe(600_000);
  });

  it('is honoured from every request while the breaker is open', async () => {
    const { breaker, clock } = create();
    const [early, wrong] = [breaker.begin(), breaker.begin()];
    run(breaker, 'ffff');
    await clock.advance(1000);
    early.failed(failure(429, { retryAfterMs: 20_000 }));
    wrong.failed(failure(400, { retryAfterMs: 90_000 }));
    expect(breaker.retryAt).toBe(21_000);
  });

  it('of a failed probe applies too', async () => {
    const { breaker, clock } = createOpen();
    await clock.advance(5000);
    breaker.begin().failed(failure(429, { retryAfterMs: 30_000 }));
    expect(breaker.retryAt).toBe(35_000);
  });
});

describe('without a configured breaker', () => {
  it('health follows the same rules, and every request is admitted without probes', async () => {
    const { breaker, clock, states } = createOpen({ enforced: false });
    expect(breaker.admits).toBe(true);
    run(breaker, 'ssss');
    expect(breaker.state, 'an answer among many failures').toBe('open');
    await clock.advance(5000);
    expect(breaker.begin().probe).toBe(false);
    run(breaker, 'f');
    expect([breaker.state, breaker.retryAt]).toEqual(['open', 10_000]);
    await clock.advance(5000);
    run(breaker, 's');
    expect(breaker.state).toBe('closed');
    expect(states()).toEqual(['open', 'closed']);
  });
});

describe('a report', () => {
  it('of a target has its state, failures, requests, wait and last error', async () => {
    const { breaker, clock } = create();
    expect(breaker.report()).toEqual({
      state: 'closed',
      probing: false,
      failures: 0,
      requests: 0,
      waitMs: 0,
      lastError: undefined,
    });
    run(breaker, 'sfff');
    await clock.advance(1500);
    expect(breaker.report()).toEqual({
      state: 'open',
      probing: false,
      failures: 3,
      requests: 4,
      waitMs: 3500,
      lastError: { code: 'overloaded', agoMs: 1500 },
    });
    await clock.advance(8500);
    expect(breaker.report()).toMatchObject({ failures: 0, requests: 0, waitMs: 0 });
  });

  it('of a transition has the previous state and the causes', async () => {
    const { breaker, clock, transitions } = createOpen();
    await clock.advance(5000);
    run(breaker, 's');
    const numbers = { failures: 4, requests: 4 };
    expect(transitions).toEqual([
      { from: 'closed', to: 'open', ...numbers, errorCode: 'overloaded', waitMs: 5000 },
      { from: 'open', to: 'half_open', ...numbers, errorCode: undefined, waitMs: 0 },
      { from: 'half_open', to: 'closed', failures: 0, requests: 0, errorCode: 'overloaded', waitMs: 0 },
    ]);
  });
});

describe('a breaker that another gateway has opened', () => {
  const opened = { waitMs: 8000, errorCode: 'rate_limit_exceeded', longer: false };

  it('opens at once, for the wait of the other, and probes by itself', async () => {
    const { breaker, clock } = create();
    breaker.openedElsewhere(opened);
    expect([breaker.state, breaker.admits, breaker.report().waitMs]).toEqual(['open', false, 8000]);
    await clock.advance(8000);
    const probe = breaker.begin();
    expect(probe.probe).toBe(true);
    breaker.openedElsewhere(opened);
    expect(breaker.state).toBe('half_open');
    probe.succeeded();
    expect(breaker.state).toBe('closed');
  });

  it('waits longer only for a Retry-After of the upstream, and at most five minutes', async () => {
    const { breaker, clock } = createOpen();
    breaker.openedElsewhere(opened);
    expect(breaker.report().waitMs).toBe(5000);
    breaker.openedElsewhere({ ...opened, longer: true });
    expect(breaker.report().waitMs).toBe(8000);
    breaker.openedElsewhere({ ...opened, waitMs: 1e9, longer: true });
    expect(breaker.report().waitMs).toBe(300_000);
    await clock.advance(300_000);
    expect(breaker.admits).toBe(true);
  });

  it('stays closed for a Retry-After alone, and where it is not enforced', () => {
    const { breaker } = create();
    breaker.openedElsewhere({ ...opened, longer: true });
    expect(breaker.state).toBe('closed');
    const reported = create({ enforced: false }).breaker;
    reported.openedElsewhere(opened);
    expect(reported.state).toBe('closed');
  });

  it('tells of its own opening once, of longer waits, and of no failed probe', async () => {
    const clock = createFakeClock();
    const told: unknown[] = [];
    const breaker = new Breaker(CALM, clock, () => {}, { tell: ({ waitMs, longer }) => told.push([waitMs, longer]) });
    const late = breaker.begin();
    run(breaker, 'ffff');
    late.failed(failure(503, { retryAfterMs: 7000 }));
    await clock.advance(7000);
    run(breaker, 'f');
    expect(told).toEqual([
      [5000, false],
      [7000, true],
    ]);
  });
});
