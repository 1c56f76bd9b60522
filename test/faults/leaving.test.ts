import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../support/gateway.ts';
import { expectAgreement } from './kit/agree.ts';
import type { OpenCall } from './kit/client.ts';
import { brokenStream, headOnly, refuse, silence } from './kit/deeds.ts';
import { DIALECT_NAMES } from './kit/dialects.ts';
import { startRig, type Rig } from './kit/rig.ts';
import { configFor } from './scenarios.ts';
import type { Deed } from './kit/upstream.ts';

/** Clients that leave: their upstream request is worth nothing from then on. */

/** The promise of the gateway: 200 ms from the end of the client's socket to the end of the upstream's. */
const CANCELLED_WITHIN_MS = 200;

let rig: Rig;
beforeAll(async () => {
  rig = await startRig(Object.fromEntries(DIALECT_NAMES.map((name) => [name, configFor(name, 'both', {})])));
});
afterAll(() => rig.close());

const endless = brokenStream(
  ({ head, words }) => [...head, words[0]!],
  () => [],
  'stall',
);
const unwell = refuse({ status: 503, message: 'no' });

interface Leave {
  readonly moment: string;
  readonly primary: Deed;
  readonly fallback: Deed;
  readonly stream: boolean;
  readonly when: (open: OpenCall) => Promise<void>;
  readonly stage: 'waiting' | 'streaming';
  /** Requests at both upstreams. */
  readonly visits: readonly [number, number];
}

const arrived = (role: 'primary' | 'fallback') => () => until(() => rig[role].visits.length > 0, `${role} was asked`);

const LEAVES: readonly Leave[] = [
  { moment: 'while nothing has come', primary: silence, stream: false, when: arrived('primary'), visits: [1, 0] },
  { moment: 'before the first content', primary: headOnly, stream: true, when: arrived('primary'), visits: [1, 0] },
  { moment: 'while the fallback is silent', primary: unwell, stream: true, when: arrived('fallback'), visits: [3, 1] },
  {
    moment: 'in the middle of a stream',
    primary: endless,
    stream: true,
    when: ({ firstBytes }: OpenCall) => firstBytes,
    visits: [1, 0],
    stage: 'streaming' as const,
  },
].map((leave) => ({
  stage: 'waiting' as const,
  fallback: silence,
  ...leave,
  visits: leave.visits as [number, number],
}));

describe.each(DIALECT_NAMES)('a client that leaves its %s upstream', (name) => {
  it.each(LEAVES)(
    '$moment has it cancelled within 200 ms',
    async ({ primary, fallback, stream, when, ...expected }) => {
      rig.primary.does(primary);
      rig.fallback.does(fallback);
      let leftAt = 0;
      const seen = await rig.watch({ api: 'chat', stream, config: name }, async (open) => {
        await when(open);
        leftAt = performance.now();
        open.leave();
        await until(() => lastVisit().abortedAt !== undefined, 'the upstream was cancelled');
        return undefined;
      });
      expect(lastVisit().abortedAt! - leftAt).toBeLessThanOrEqual(CANCELLED_WITHIN_MS);
      expectAgreement(seen);
      expect([seen.primary.length, seen.fallback.length]).toEqual(expected.visits);
      expect(seen.record).toMatchObject({ state: 'aborted', client_left: expected.stage });
      expect(seen.record.attempts.at(-1)?.failure?.code).toBe('client_closed');
    },
  );

  it('in a wait between two tries ends the wait, and no upstream is called any more', async () => {
    rig.primary.does(refuse({ status: 429, message: 'slow down' }, { 'retry-after-ms': '1900' }));
    rig.fallback.does(silence);
    const seen = await rig.watch({ api: 'chat', stream: false, config: name }, async (open) => {
      await until(() => rig.primary.visits[0]?.endedAt !== undefined, 'the first try was refused');
      open.leave();
      return undefined;
    });
    expectAgreement(seen);
    expect([seen.primary.length, seen.fallback.length, seen.record.state]).toEqual([1, 0, 'aborted']);
    expect(seen.line.duration_ms, 'it did not sit out the wait').toBeLessThan(1900);
  });
});

const lastVisit = () => rig.fallback.visits.at(-1) ?? rig.primary.visits.at(-1)!;
