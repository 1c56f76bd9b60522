import type { AuditRow, KnownRow } from '../../../../core/ports/audit.ts';
import { describe, expect, it } from 'vitest';
import { ANN, NOON, onStore, type Backend } from './opened-store.testkit.ts';

const SYSTEM = { id: 'gatehouse', role: 'system' } as const;

/** @param rows from the newest */
const intactTo = (rows: readonly AuditRow[]): object => ({
  intact: true,
  rows: rows.length,
  seq: rows[0]!.seq,
  head: rows[0]!.hash,
  parts: [{ from: rows.at(-1)!.seq, to: rows[0]!.seq, proof: 'key', key: 'k1' }],
});

/** The contract of `Audit`. */
export function describeAudit(backend: Backend): void {
  const on = (test: Parameters<typeof onStore>[1]) => onStore(backend, test);

  describe(`the audit in ${backend.name}`, () => {
    it(
      'has a row of each adjustment of a counter',
      on(async ({ counters, audit }) => {
        const topUp = { node: 'team/search', period: NOON, id: 'a1', of: 'spent', by: -40, why: 'paid' } as const;
        await counters.adjust(topUp, ANN);
        await counters.adjust(topUp, ANN);
        expect(await audit.rows({})).toMatchObject([
          {
            action: 'adjust',
            kind: 'counter',
            actor: 'ann',
            before: '{"spent":0}',
            after: '{"spent":-40}',
            reason: 'paid',
          },
        ]);
      }),
    );

    it(
      'limits the adjustments of a role by its rows, also those of other processes at the same time',
      on(async ({ counters }, clock) => {
        const OPERATOR = { id: 'bob', role: 'operator' } as const;
        const limit = { most: 100, ms: 1_000 };
        const change = (id: string, by: number, more = {}) =>
          counters.adjust({ node: 'team/a', period: 0, id, of: 'spent', by, why: 'x', limit, ...more }, OPERATOR);
        await counters.adjust({ node: 'team/a', period: 0, id: 'free', of: 'spent', by: 900, why: 'x' }, ANN);
        const all = await Promise.allSettled(['a', 'b', 'c', 'd'].map((id) => change(id, id < 'c' ? 40 : -40)));
        expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
        await expect(change('e', 21)).rejects.toMatchObject({ code: 'not_allowed' });
        const [{ spent } = { spent: 0 }] = await counters.read([{ node: 'team/a', period: 0 }]);
        expect(await change('f', 20, { dryRun: true })).toMatchObject({ spent });
        expect(await change('f', 20)).toMatchObject({ spent: spent + 20 });
        // The repeated call is none of its own, and another counter has a limit of its own.
        expect(await change('f', 20)).toMatchObject({ spent: spent + 20 });
        expect(await change('g', 100, { node: 'team/b' })).toMatchObject({ spent: 100 });
        await clock.advance(1_001);
        expect(await change('h', 100)).toMatchObject({ spent: spent + 120 });
      }),
    );

    it(
      'is one chain of all that was done',
      on(async ({ audit, entities }) => {
        await entities.write([{ op: 'put', kind: 'teams', id: 'search', doc: { cap: 1 } }], ANN);
        await audit.add({ action: 'login', kind: 'admins', id: 'ann' }, { id: 'ann', role: 'viewer' });
        await entities.write([{ op: 'delete', kind: 'teams', id: 'search', reason: 'closed' }], ANN);
        const rows = await audit.rows({});
        expect(rows).toMatchObject([
          {
            seq: 3,
            at: NOON,
            actor: 'ann',
            action: 'delete',
            before: '{"doc":{"cap":1}}',
            reason: 'closed',
            prev: rows[1]!.hash,
          },
          { seq: 2, action: 'login', kind: 'admins', id: 'ann', role: 'viewer', prev: rows[2]!.hash },
          {
            seq: 1,
            action: 'put',
            kind: 'teams',
            id: 'search',
            role: 'admin',
            address: '10.0.0.1',
            after: '{"doc":{"cap":1}}',
          },
        ]);
        expect(await audit.verify()).toEqual(intactTo(rows));
        expect((await audit.rows({ kind: 'teams', id: 'search', before: 3 })).map(({ seq }) => seq)).toEqual([1]);
        expect((await audit.rows({ limit: 1 })).map(({ seq }) => seq)).toEqual([3]);
      }),
    );

    it(
      'drops its oldest rows, says so in a row, and is still one chain',
      on(async ({ audit, entities }, clock) => {
        for (const id of ['a', 'b', 'c']) {
          await audit.add({ action: 'login', kind: 'admins', id }, ANN);
          await clock.advance(1000);
        }
        const [, , first] = await audit.rows({});
        expect(await audit.dropBefore(NOON, SYSTEM)).toBe(0);
        expect(await audit.dropBefore(NOON + 1000, SYSTEM)).toBe(1);
        const rows = await audit.rows({});
        expect(rows.map(({ seq, action, id }) => [seq, action, id])).toEqual([
          [4, 'drop', '1'],
          [3, 'login', 'c'],
          [2, 'login', 'b'],
        ]);
        expect(rows[0]).toMatchObject({ actor: 'gatehouse', after: JSON.stringify({ hash: first!.hash }) });
        expect(await audit.verify()).toEqual(intactTo(rows));
        await entities.write([{ op: 'put', kind: 'teams', id: 'search', doc: {} }], ANN);
        expect(await audit.dropBefore(NOON + 2500, SYSTEM)).toBe(2);
        expect(await audit.dropBefore(NOON * 2, SYSTEM)).toBe(2);
        expect((await audit.rows({})).map(({ seq, action, id }) => [seq, action, id])).toEqual([
          [7, 'drop', '5'],
          [6, 'drop', '3'],
        ]);
        expect(await audit.verify()).toMatchObject({ intact: true, rows: 2 });
      }),
    );

    it(
      'is compared with a row that was its last one',
      on(async ({ audit }, clock) => {
        const add = (): Promise<void> => audit.add({ action: 'login', kind: 'admins', id: 'ann' }, ANN);
        const reasonOf = async (known: KnownRow) => {
          const verdict = await audit.verify(known);
          return verdict.intact || [verdict.at, verdict.reason];
        };
        expect(await reasonOf({ seq: 1, hash: '0'.repeat(64) })).toEqual([1, 'row 1 is missing']);
        for (let count = 0; count < 4; count += 1) {
          await add();
          await clock.advance(1000);
        }
        const rows = await audit.rows({});
        for (const row of rows) expect(await reasonOf(row)).toBe(true);
        const [last, before] = [rows[0]!, rows[1]!];
        expect(await reasonOf({ seq: last.seq, hash: before.hash })).toEqual([4, 'it had another hash']);
        expect(await reasonOf({ seq: 7, hash: last.hash })).toEqual([5, 'row 5 is missing']);
        expect(await audit.dropBefore(NOON + 2500, SYSTEM)).toBe(3);
        expect([await reasonOf(last), await reasonOf(before)]).toEqual([true, true]);
        expect(await reasonOf({ seq: 3, hash: last.hash })).toEqual([3, 'it had another hash']);
        expect(await reasonOf(rows[2]!)).toEqual([2, expect.stringContaining('compare with a later row')]);
      }),
    );

    it(
      'refuses an actor without a name, and a write of one',
      on(async ({ audit, entities }) => {
        const unnamed = { id: '', role: '' };
        await expect(audit.add({ action: 'login', kind: 'admins', id: 'x' }, unnamed)).rejects.toMatchObject({
          code: 'invalid',
        });
        await expect(entities.write([{ op: 'put', kind: 'teams', id: 'a', doc: {} }], unnamed)).rejects.toMatchObject({
          code: 'invalid',
        });
        expect(await audit.verify()).toMatchObject({ intact: true, rows: 0 });
      }),
    );
  });
}
