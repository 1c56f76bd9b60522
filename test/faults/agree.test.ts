import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectAgreement } from './kit/agree.ts';
import { brokenStream, refuse } from './kit/deeds.ts';
import { startRig, type Rig, type Seen } from './kit/rig.ts';
import { configFor } from './scenarios.ts';

/** Every scenario relies on one function that compares the outputs about a request; here it gets wrong ones. */

let rig: Rig;
let rescued: Seen;
let broken: Seen;
beforeAll(async () => {
  rig = await startRig({ it: configFor('anthropic', 'both', {}) });
  rig.primary.does(refuse({ status: 503, message: 'no' }));
  rescued = await rig.ask({ api: 'chat', stream: true, config: 'it' });
  rig.primary.does(
    brokenStream(
      ({ head, words }) => [...head, words[0]!],
      () => [],
      'close',
    ),
  );
  broken = await rig.ask({ api: 'messages', stream: true, config: 'it' });
});
afterAll(() => rig.close());

const LIES: Readonly<Record<string, (seen: Seen) => Seen>> = {
  'a try more': (seen) => ({ ...seen, primary: [...seen.primary, seen.primary[0]!] }),
  'a try less': (seen) => ({ ...seen, primary: seen.primary.slice(1) }),
  'another state': (seen) => ({ ...seen, record: { ...seen.record, state: 'aborted' } }),
  'another error': (seen) => ({ ...seen, record: { ...seen.record, error: { code: 'busy', type: 'overloaded' } } }),
  'an attempt less in the record': (seen) => ({ ...seen, record: { ...seen.record, attempts: [] } }),
  'an attempt less in the access line': (seen) => ({ ...seen, line: { ...seen.line, attempts: [] } }),
  'a retry more': (seen) => ({ ...seen, record: { ...seen.record, retries: 7 } }),
  'another status': (seen) => ({ ...seen, record: { ...seen.record, outcome_status: 404 } }),
  'two ends': (seen) => ({ ...seen, received: { ...seen.received!, ends: ['complete', 'error'] } }),
  'something after the end': (seen) => ({ ...seen, received: { ...seen.received!, endsLast: false } }),
  'a connection that broke': (seen) => ({ ...seen, received: { ...seen.received!, broken: true } }),
  ...Object.fromEntries(
    ['upstream_attempts', 'requests', 'tokens'].map((name) => [
      `no gatehouse_${name}_total`,
      (seen: Seen): Seen => ({ ...seen, gained: (asked) => (asked.includes(name) ? [] : seen.gained(asked)) }),
    ]),
  ),
};

it.each(Object.keys(LIES))('the suite notices %s', (lie) => {
  for (const seen of [rescued, broken]) {
    expectAgreement(seen);
    expect(() => expectAgreement(LIES[lie]!(seen))).toThrow();
  }
});

it('the suite notices fallbacks and retries that were not counted', () => {
  for (const name of ['gatehouse_fallbacks_total', 'gatehouse_upstream_retries_total'])
    expect(() =>
      expectAgreement({ ...rescued, gained: (asked) => (asked === name ? [] : rescued.gained(asked)) }),
    ).toThrow();
});
