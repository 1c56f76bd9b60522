import { expect, it } from 'vitest';
import { createFakeClock } from '../../plugin/testing/index.ts';
import { openMemoryStore } from '../../state/memory/state-store.ts';
import { KeyEncryptionKeys } from '../../state/rules/sealing.ts';
import type { StateStore } from '../../state/store.ts';
import { AuditHead } from './audit-head.ts';

it('The log gets the hash of the last audit row at the start and in each hour with new rows, also after hours without the store', async () => {
  const clock = createFakeClock();
  const store = openMemoryStore(clock, KeyEncryptionKeys.none());
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
