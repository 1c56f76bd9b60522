import { expect, it } from 'vitest';
import { createFakeClock } from '../../plugin/testing/index.ts';
import { NOON, rowOf } from '../../state/contract/opened-store.testkit.ts';
import { openMemoryStore } from '../../state/memory/state-store.ts';
import { KeyEncryptionKeys } from '../../state/rules/sealing.ts';
import { Retention } from './retention.ts';

const DAY = 86_400_000;

it('Retention drops the days whose time is over, one after the other, and keeps their sums', async () => {
  const clock = createFakeClock(NOON);
  const store = openMemoryStore(clock, KeyEncryptionKeys.none());
  const { ledger } = store;
  await ledger.append([0, 1, 2, 3, 4].map((ago) => rowOf(ago, { at: NOON - ago * DAY, nano: 10 })));
  const retention = new Retention({ clock, log: { info() {}, error() {} }, state: { store }, ledgerDays: 2 });
  retention.start();
  await clock.advance(10_000);
  expect(await ledger.days()).toEqual(['2026-11-19', '2026-11-20', '2026-11-21', '2026-11-22']);
  await clock.advance(10_000);
  expect(await ledger.days()).toEqual(['2026-11-20', '2026-11-21', '2026-11-22']);
  await clock.advance(DAY);
  expect(await ledger.days()).toEqual(['2026-11-21', '2026-11-22']);
  const [sum] = await ledger.rollups({ from: 0, to: NOON + DAY, by: [], step: 'all' });
  expect(sum?.nano).toBe(50);
  retention.stop();
  await clock.advance(5 * DAY);
  expect(await ledger.days()).toEqual(['2026-11-21', '2026-11-22']);
});
