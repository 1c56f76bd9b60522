import { expect, it } from 'vitest';
import { createFakeClock } from '../../../plugin/testing/index.ts';
import type { StateStore } from '../../../core/ports/store.ts';
import { sameThreadStore } from '../store/sqlite/same-thread-store.testkit.ts';
import { AuditHead } from './audit-head.ts';

it('The log gets the hash of the last audit row at the start and in each hour with new rows, also after hours without the store', async () => {
  const clock = createFakeClock();
  const store = sameThreadStore(clock);
  const write = (): Promise<void> =>
    store.audit.add({ action: 'export', kind: 'usage', id: 'x' }, { id: 'ann', role: '' });
  const lines: { readonly seq: number; readonly hash: string }[] = [];
  const log = { info: (fields: (typeof lines)[number]) => void lines.push(fields), error() {} };
  const state: { store: StateStore | undefined } = { store };
  const head = new AuditHead({ clock, log: log as never, state });
  await write();
  head.start();
  await clock.advance(3 * 3_600_000);
  await write();
  await write();
  await clock.advance(3_600_000);
  state.store = undefined;
  await write();
  await clock.advance(3_600_000);
  state.store = store;
  await clock.advance(3_600_000);
  head.stop();
  await write();
  await clock.advance(3_600_000);
  const rows = await store.audit.rows({});
  expect(lines).toEqual([1, 3, 4].map((seq) => ({ seq, hash: rows.find((row) => row.seq === seq)!.hash })));
});

it('The log gets an error when the row that was the last one is gone or another', async () => {
  const clock = createFakeClock();
  const rows: { seq: number; hash: string }[] = [
    { seq: 1, hash: 'a' },
    { seq: 2, hash: 'b' },
  ];
  const audit = {
    rows: async ({ before = Infinity }) =>
      rows
        .filter(({ seq }) => seq < before)
        .toReversed()
        .slice(0, 1),
  };
  const errors: object[] = [];
  const log = { info() {}, error: (fields: object) => void errors.push(fields) };
  const head = new AuditHead({ clock, log: log as never, state: { store: { audit } } as never });
  const errorsAfter = async (...kept: typeof rows): Promise<object[]> => {
    rows.splice(0, rows.length, ...kept);
    await clock.advance(3_600_000);
    return errors.splice(0);
  };
  head.start();
  await clock.advance(0);
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((hash, index) => ({ seq: index + 1, hash })) as typeof rows;
  expect(await errorsAfter(a!, b!, c!)).toEqual([]);
  // Retention drops rows from the oldest on.
  expect(await errorsAfter(d!)).toEqual([]);
  expect(await errorsAfter(b!, c!)).toEqual([d]);
  expect(await errorsAfter(b!, { seq: 3, hash: 'x' }, d!)).toEqual([c]);
  expect(await errorsAfter({ seq: 4, hash: 'y' })).toEqual([d]);
  expect(await errorsAfter()).toEqual([{ seq: 4, hash: 'y' }]);
  head.stop();
});
