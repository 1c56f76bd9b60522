import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../plugin/testing/index.ts';
import type { StateStore } from '../../../core/ports/store.ts';
import { openFamilies } from '../../../core/record/metrics/metrics.ts';
import { budgetFamilies } from '../metrics.ts';
import { sameThreadStore } from '../store/sqlite/same-thread-store.testkit.ts';
import { FleetMember } from './fleet-member.ts';

function setUp() {
  const clock = createFakeClock();
  const store = sameThreadStore(clock);
  const warned: string[] = [];
  const member = (digit: number, shared: { store: StateStore | undefined } | null = { store }) => {
    const boot = {
      id: String(digit).repeat(32),
      host: `pod-${digit}`,
      role: 'single',
      version: '1',
      configHash: '',
      startedAt: 0,
    } as const;
    const log = { warn: (_: object, message: string) => void warned.push(message) } as never;
    const families = budgetFamilies({ families: openFamilies() });
    return new FleetMember({ clock, log, families, boot, shared: shared ?? undefined, version: () => 7 });
  };
  return { clock, store, warned, member };
}

describe('a gateway on a store', () => {
  it('that is its own is alone and the caretaker, without a call', async () => {
    const { member, store } = setUp();
    const alone = member(1, null);
    await alone.start('a');
    expect([alone.gateways, alone.isCaretaker, await store.boots.live()]).toEqual([1, true, []]);
    await alone.stop();
  });

  it('knows how many share it, also while it does not answer, and one of them is the caretaker', async () => {
    const { clock, store, member } = setUp();
    const state: { store: StateStore | undefined } = { store };
    const [one, other] = [member(1), member(2, state)];
    const seen: number[] = [];
    one.onGateways((gateways) => seen.push(gateways));
    await one.start('a');
    await other.start('a');
    expect([one.isCaretaker, other.isCaretaker, other.gateways]).toEqual([true, false, 2]);
    await clock.advance(5_000);
    state.store = undefined;
    await clock.advance(60_000);
    expect([other.gateways, one.gateways, one.isCaretaker]).toEqual([2, 1, true]);
    state.store = store;
    await one.stop();
    await clock.advance(5_000);
    expect([other.gateways, other.isCaretaker, one.isCaretaker, seen]).toEqual([1, true, false, [2, 1]]);
    await other.stop();
  });

  it('takes the place of a caretaker that was killed when its claim ends, and an old one stops before', async () => {
    const { clock, store, member } = setUp();
    const state: { store: StateStore | undefined } = { store };
    const [killed, other] = [member(1, state), member(2)];
    await killed.start('a');
    await other.start('a');
    state.store = undefined;
    const both: boolean[] = [];
    for (let second = 0; second < 45; second += 1) {
      await clock.advance(1_000);
      both.push(killed.isCaretaker && other.isCaretaker);
    }
    expect([other.isCaretaker, both.includes(true)]).toEqual([true, false]);
    await other.stop();
    await killed.stop();
  });

  it('warns once when others have different settings for ten minutes', async () => {
    const { clock, member, warned } = setUp();
    const [one, other] = [member(1), member(2)];
    await one.start('a');
    await other.start('b');
    await clock.advance(9 * 60_000);
    expect(warned).toEqual([]);
    await clock.advance(10 * 60_000);
    expect(warned).toHaveLength(2);
    other.show({ configHash: 'a', refused: { at: 1, text: 'no' } });
    await clock.advance(5_000);
    expect(other.self()).toMatchObject({ configHash: 'a', version: 7, refused: { text: 'no' }, host: 'pod-2' });
    await one.stop();
    await other.stop();
  });
});
