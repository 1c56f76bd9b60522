import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../plugin/testing/index.ts';
import { rowOf } from '../budgets/store/contract/opened-store.testkit.ts';
import type { StateStore } from '../../core/ports/store.ts';
import { sameThreadStore } from '../budgets/store/sqlite/same-thread-store.testkit.ts';
import { UsageCounters } from '../budgets/state/usage-counters.ts';
import { SharedState, StateAnswers } from './shared-state.ts';

const BOOT = { id: '1'.repeat(32), host: 'h', role: 'worker', version: '1', configHash: '', startedAt: 0 } as const;
const PATH = [{ node: 'team/a', period: 0 }];

/** A worker and its primary, with a copy of each message between them, as a channel makes. */
function pair(open?: (clock: ReturnType<typeof createFakeClock>) => StateStore | undefined) {
  const clock = createFakeClock();
  const lost: number[] = [];
  const onFailure = (error: unknown): never => {
    throw error;
  };
  const store = open?.(clock);
  const setup = { clock, onLost: (leases: readonly object[]) => void lost.push(leases.length), onFailure };
  const usageCounters = new UsageCounters(setup, open && { store });
  const primary = new StateAnswers(Object.assign(usageCounters, { takeSpool() {} }));
  const shared: SharedState = new SharedState((message) => {
    void primary.answer(7, structuredClone(message)).then((answer) => shared.receive(structuredClone(answer)));
  }, clock);
  return { shared, clock, usageCounters, primary, lost, counters: usageCounters.ports?.counters };
}
describe('the state store of a worker', () => {
  it('is that of the primary', async () => {
    const { shared, counters } = pair(sameThreadStore);
    const { grants } = await shared.counters.take([{ path: PATH, caps: [100], need: 60, want: 60 }], BOOT, 1);
    await shared.counters.report([{ lease: grants[0]!.leases[0]!.lease, usedTotal: 25 }], BOOT);
    expect(await counters!.read(PATH)).toMatchObject([{ spent: 25, leased: 35 }]);
    await shared.counters.giveBack([grants[0]!.leases[0]!.lease], BOOT);
    expect([await shared.counters.read(PATH), await shared.counters.notify(PATH[0]!, 1)]).toMatchObject([
      [{ spent: 25, leased: 0 }],
      true,
    ]);
    expect([await shared.ledger.append([rowOf(1)]), await shared.ledger.append([rowOf(1)])]).toEqual([1, 0]);
    await shared.entities.seen([]);
  });

  it('has values of plugins', async () => {
    const { shared } = pair(sameThreadStore);
    const wish = { name: 'plugin mask a', holder: 'plugin', text: '1', ms: 1_000 };
    await shared.claims.take(wish);
    await shared.claims.take({ ...wish, text: '2' });
    expect(await shared.claims.find('plugin mask a')).toMatchObject({ text: '2' });
    await shared.claims.end('plugin mask a');
    expect(await shared.claims.find('plugin mask a')).toBeUndefined();
    await expect(pair().shared.claims.find('a')).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('fails as that of the primary does', async () => {
    const { shared } = pair(sameThreadStore);
    await expect(shared.counters.take([], { ...BOOT, id: 'x' }, 1)).rejects.toMatchObject({ code: 'invalid' });
    await expect(pair(() => undefined).shared.ledger.append([])).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('is unavailable when the primary does not answer', async () => {
    const clock = createFakeClock();
    const asking = new SharedState(() => {}, clock).ledger.append([]);
    const failed = expect(asking).rejects.toMatchObject({ code: 'unavailable' });
    await clock.advance(1_000);
    await failed;
  });

  it('has counters in memory where the settings have no store, and nothing else', async () => {
    const { shared } = pair();
    await shared.counters.take([{ path: PATH, caps: [100], need: 60, want: 60 }], BOOT, 1);
    expect(await shared.counters.read(PATH)).toMatchObject([{ leased: 60 }]);
    await expect(shared.ledger.append([])).rejects.toMatchObject({ code: 'unavailable' });
  });

  it.each([
    ['in memory', undefined],
    ['of the store', sameThreadStore],
  ])('has no room left of a worker that ended: what it had leased counts as spent, %s', async (_, open) => {
    const { shared, primary, counters, lost, clock } = pair(open);
    await shared.counters.take([{ path: PATH, caps: [100], need: 10, want: 40 }], BOOT, 1);
    primary.ended(7);
    await clock.advance(0);
    expect(await counters!.read(PATH)).toMatchObject([{ spent: 0, leased: 0, unreconciled: 40 }]);
    expect(lost).toEqual([1]);
  });

  it('loses the leases of a process that does not report, and counts their rest as unreconciled', async () => {
    const { shared, usageCounters, counters, lost, clock } = pair();
    usageCounters.start();
    await shared.counters.take([{ path: PATH, caps: [100], need: 10, want: 40 }], BOOT, 1);
    await clock.advance(45_000);
    expect(await counters!.read(PATH)).toMatchObject([{ unreconciled: 40 }]);
    expect(lost).toEqual([1]);
    usageCounters.stop();
    expect(clock.pending).toEqual([]);
  });
});
