import { afterEach, expect, it } from 'vitest';
import { createFakeClock, type FakeClock } from '../../src/plugin/testing/index.ts';
import { expectAgreement } from './kit/agree.ts';
import { healthy, PRIMARY, refuse } from './kit/deeds.ts';
import { startRig, type Rig, type Seen } from './kit/rig.ts';
import { configFor } from './scenarios.ts';

/** A target that is unwell for a minute, one request a second, on a clock of the test's own. */

let rig: Rig;
let clock: FakeClock;
afterEach(() => rig.close());

const SECONDS = 60;
/** The promise of the gateway: a target that works again is back in use after 30 seconds. */
const BACK_WITHIN_SECONDS = 30;

const MINUTES = [
  // Five failures open the breaker; then there is a probe each 15 s.
  { name: 'openai', how: 'is down', isWell: () => false, most: 5 + 3 },
  // Where a probe meets a good moment, it takes five failures more to open it again.
  { name: 'anthropic', how: 'flaps, well for one second in seven,', isWell: (at: number) => at % 7 === 6, most: 12 },
  { name: 'gemini', how: 'flaps, well for three seconds in ten,', isWell: (at: number) => at % 10 >= 7, most: 15 },
] as const;

it.each(MINUTES)(
  'a $name target that $how for a minute is left alone, and has its requests back soon after',
  async ({ name, isWell, most }) => {
    clock = createFakeClock();
    rig = await startRig(
      { it: { ...configFor(name, 'fallback', {}), circuit_breaker: { failures: 5, cooldown: '15s' } } },
      { clock },
    );
    const before = await rig.scrape();
    const minute: Seen[] = [];
    for (let second = 0; second < SECONDS; second += 1) minute.push(await request(isWell(second), second % 2 === 0));
    for (const { received } of minute) expect([received?.status, received?.error]).toEqual([200, undefined]);
    const failed = minute.filter(({ record }) => record.attempts[0]?.failure);
    expect(failed.length, 'requests that met the failing target').toBeLessThanOrEqual(most);
    expect(
      minute.some(({ record: { skipped } }) => skipped[0]?.reason === 'circuit_open'),
      'the record says why it was not asked',
    ).toBe(true);

    let seconds = 0;
    while ((await request(true, true)).line.provider !== `primary-${name}`) seconds += 1;
    expect(seconds, 'seconds until it was asked again').toBeLessThanOrEqual(BACK_WITHIN_SECONDS);
    for (let more = 0; more < 5; more += 1) expect((await request(true, false)).line.provider).toBe(`primary-${name}`);
    const after = await rig.scrape();
    const moves = (to: string): number => {
      const key = `gatehouse_circuit_breaker_transitions_total{config="it",target="config.targets[0]",target_name="",to="${to}"}`;
      return (after.get(key) ?? Number.NaN) - (before.get(key) ?? 0);
    };
    expect(moves('open')).toBeGreaterThanOrEqual(1);
    expect(moves('closed'), 'it opened as often as it closed').toBeGreaterThanOrEqual(1);
  },
);

/** One request; then a second goes by. */
async function request(isWell: boolean, stream: boolean): Promise<Seen> {
  rig.primary.does(isWell ? healthy(PRIMARY) : refuse({ status: 503, message: 'no' }));
  const seen = await rig.ask({ api: 'chat', stream, config: 'it' });
  expectAgreement(seen);
  await clock.advance(1000);
  return seen;
}
