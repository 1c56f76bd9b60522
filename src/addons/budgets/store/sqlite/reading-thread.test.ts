import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../core/kernel/system-clock.ts';
import { ANN, KEYS, NOON, rowOf } from '../contract/opened-store.testkit.ts';
import type { StateStore } from '../../../../core/ports/store.ts';
import { openSqliteStore } from './state-store.ts';

const DAY = 86_400_000;
const ALL = { from: NOON - 30 * DAY, to: NOON + DAY };
const BOOT = { id: '1'.repeat(32), host: 'h', role: 'single', version: '1', configHash: '', startedAt: NOON } as const;
const ASK = { path: [{ node: 'n', period: 0 }], caps: [undefined], need: 1, want: 1 };

let folder: string;
let store: StateStore;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-reads-'));
  store = await openSqliteStore(
    { folder, owner: { pid: process.pid, boot: 'a'.repeat(32), host: 'test' }, keys: KEYS },
    systemClock,
  );
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

describe('long reads', () => {
  it('keep no lease of a budget waiting', async () => {
    for (let day = 0; day < 5; day += 1)
      await store.ledger.append(
        Array.from({ length: 400 }, (_, number) =>
          rowOf(day * 400 + number, { at: NOON - day * DAY + number, key: `k${number}` }),
        ),
      );
    const ended: string[] = [];
    const reads = Array.from({ length: 30 }, async () => {
      await store.ledger.rollups({ ...ALL, by: ['key'], step: 'all' });
      await store.audit.verify();
      ended.push('read');
    });
    await store.counters.take([ASK], BOOT, 1);
    ended.push('lease');
    await Promise.all(reads);
    expect(ended[0]).toBe('lease');
  });

  it('have what was written before them: rows, new names, rows of the audit, days that were dropped', async () => {
    const models = async (): Promise<[string | undefined, number][]> => {
      const sums = await store.ledger.rollups({ ...ALL, by: ['model'], step: 'all' });
      return sums.map(({ names, nano }) => [names.model, nano]);
    };
    expect(await models()).toEqual([]);
    for (let round = 1; round <= 3; round += 1) {
      await store.ledger.append([rowOf(round, { model: `m${round}`, nano: round, at: NOON - round * DAY })]);
      await store.ledger.append([rowOf(10 + round, { model: `n${round}`, nano: round })]);
      const sums = await models();
      expect(sums).toHaveLength(2 * round);
      expect(sums).toContainEqual([`n${round}`, round]);
      await store.audit.add({ action: 'export', kind: 'usage', id: String(round) }, ANN);
      expect(await store.audit.rows({ limit: 1 })).toMatchObject([{ id: String(round) }]);
    }
    const before = await models();
    expect(await store.ledger.dropBefore('2026-11-22')).toBe(3);
    expect(await models()).toEqual(before);
    const left: (string | undefined)[] = [];
    for await (const rows of store.ledger.rows(ALL)) left.push(...rows.map(({ model }) => model));
    expect(left).toEqual(['n1', 'n2', 'n3']);
  });

  it('find no row in the file of a day whose tables are just being made', async () => {
    await store.ledger.append([rowOf(1, { at: NOON - DAY })]);
    writeFileSync(join(folder, 'ledger', `${new Date(NOON).toISOString().slice(0, 10)}.db`), '');
    expect(await store.ledger.rollups({ ...ALL, by: [], step: 'all' })).toMatchObject([{ requests: 1 }]);
    const rows: unknown[] = [];
    for await (const piece of store.ledger.rows(ALL)) rows.push(...piece);
    expect(rows).toHaveLength(1);
    await store.ledger.append([rowOf(2)]);
    expect(await store.ledger.rollups({ ...ALL, by: [], step: 'all' })).toMatchObject([{ requests: 2 }]);
  });

  it('are refused when the store is closed', async () => {
    await store.audit.verify();
    await store.close();
    await expect(store.audit.verify()).rejects.toMatchObject({ code: 'unavailable' });
  });
});
