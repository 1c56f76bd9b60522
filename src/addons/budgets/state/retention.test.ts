import { expect, it } from 'vitest';
import { createFakeClock } from '../../../plugin/testing/index.ts';
import { NOON, rowOf } from '../store/contract/opened-store.testkit.ts';
import { sameThreadStore } from '../store/sqlite/same-thread-store.testkit.ts';
import { Retention } from './retention.ts';

const DAY = 86_400_000;
const LONG = { ledger: 400, hours: 35, sums: 1096, audit: 2557 };
const log = { info() {}, error() {} };

it('Retention drops the days whose time is over, one after the other, and keeps their sums', async () => {
  const clock = createFakeClock(NOON);
  const store = sameThreadStore(clock);
  const { ledger } = store;
  await ledger.append([0, 1, 2, 3, 4].map((ago) => rowOf(ago, { at: NOON - ago * DAY, nano: 10 })));
  const retention = new Retention({ clock, log, state: { store }, days: { ...LONG, ledger: 2 } });
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

it('Retention folds the hours of days after 35 days, and forgets the sums of dropped days after 3 years', async () => {
  const clock = createFakeClock(NOON);
  const store = sameThreadStore(clock);
  const { ledger } = store;
  const at = (ago: number) =>
    [0, 1].map((hour) => rowOf(ago, { at: NOON - ago * DAY + hour * 3_600_000, att: hour, nano: 10 }));
  await ledger.append([...at(38), ...at(37), ...at(3)]);
  const retention = new Retention({ clock, log, state: { store }, days: LONG });
  const hours = async () => (await ledger.rollups({ from: 0, to: NOON + DAY, by: [], step: 'hour' })).length;
  retention.start();
  expect(await hours()).toBe(6);
  await clock.advance(10_000);
  expect(await hours()).toBe(5);
  await clock.advance(10_000);
  expect(await hours()).toBe(4);
  await clock.advance(40 * DAY);
  expect(await hours()).toBe(3);
  await clock.advance(400 * DAY);
  expect([await ledger.days(), await hours()]).toEqual([[], 3]);
  await clock.advance(700 * DAY);
  expect(await hours()).toBe(0);
  retention.stop();
});

it('Retention drops rows of the audit after 7 years, a day at a time, and the chain stays whole', async () => {
  const clock = createFakeClock(NOON);
  const store = sameThreadStore(clock);
  const { audit } = store;
  for (let day = 0; day < 3; day += 1) {
    await audit.add({ action: 'login', kind: 'admins', id: `${day}` }, { id: 'ann', role: 'admin' });
    await clock.advance(DAY);
  }
  const retention = new Retention({ clock, log, state: { store }, days: LONG });
  await clock.advance(2555 * DAY);
  retention.start();
  await clock.advance(10_000);
  const ids = async () => (await audit.rows({})).map(({ action, id }) => `${action} ${id}`);
  expect(await ids()).toEqual(['drop 1', 'login 2', 'login 1']);
  await clock.advance(DAY);
  expect(await ids()).toEqual(['drop 2', 'drop 1', 'login 2']);
  expect(await audit.verify()).toMatchObject({ intact: true, rows: 3 });
  retention.stop();
});
