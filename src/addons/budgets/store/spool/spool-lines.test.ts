import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { rowOf } from '../contract/opened-store.testkit.ts';
import {
  LEDGER_KINDS,
  LEDGER_NAMES,
  LEDGER_SOURCES,
  LEDGER_SUMS,
  type LedgerRow,
} from '../../../../core/ports/ledger.ts';
import { cellsOf, ROW_COLUMNS, rowsAsText, rowsOfText } from '../rules/row-cells.ts';
import { LineBytes } from './line-bytes.ts';
import { LineReader, SpoolLineWriter, processLine, type SpooledEnd, type SpooledSend } from './spool-lines.ts';

const boot = { id: 'b'.repeat(32), host: 'test', role: 'single', version: '0', configHash: '', startedAt: 0 } as const;
const count = fc.maxSafeNat();
/** Few keys, so that rows of one caller follow each other. */
const name = fc.oneof(fc.constantFrom('a', 'b', ''), fc.string({ unit: 'grapheme', maxLength: 8 }));

const anyRow: fc.Arbitrary<LedgerRow> = fc
  .record({
    number: fc.nat(1000),
    att: fc.nat(9),
    kind: fc.constantFrom(...LEDGER_KINDS),
    src: fc.constantFrom(...LEDGER_SOURCES),
    names: fc.tuple(...LEDGER_NAMES.map(() => name)),
    others: fc.tuple(name, name, name, name, name),
    sums: fc.tuple(...LEDGER_SUMS.map(() => count)),
    held: count,
    ms: count,
    firstMs: fc.option(count, { nil: undefined }),
  })
  .map(({ number, names, others: [asked, tier, geo, priceVersion, labels], sums, ...rest }) => ({
    ...rowOf(number),
    ...rest,
    ...Object.fromEntries(LEDGER_NAMES.map((one, index) => [one, names[index]])),
    ...Object.fromEntries(LEDGER_SUMS.map((one, index) => [one, sums[index]])),
    asked,
    tier,
    geo,
    priceVersion,
    labels,
  }));

function written(write: (to: LineBytes) => void): string {
  const to = new LineBytes();
  write(to);
  return to.toString();
}
const endLine = (end: SpooledEnd, writer = new SpoolLineWriter()): string => written((to) => writer.end(to, end));
const sendLine = (send: SpooledSend): string => written((to) => new SpoolLineWriter().send(to, send));

function read(lines: string): readonly unknown[] {
  const reader = new LineReader();
  return lines
    .split('\n')
    .slice(0, -1)
    .map((line) => reader.read(line));
}

it('Rows are read from the spool, and by the thread of the store, as they were written', () => {
  fc.assert(
    fc.property(fc.array(anyRow, { minLength: 1, maxLength: 9 }), (rows) => {
      const writer = new SpoolLineWriter();
      const end = { holds: [1, 2], accounts: [[1, 7] as const, [2, -7] as const], rows };
      expect(read(processLine(boot, 1) + rows.map((row) => endLine({ ...end, rows: [row] }, writer)).join(''))).toEqual(
        [{ what: 'process', boot, pid: 1 }, ...rows.map((row) => ({ what: 'end', end: { ...end, rows: [row] } }))],
      );
      expect(read(processLine(boot, 1) + endLine(end, writer)).at(-1)).toEqual({ what: 'end', end });
      expect(rowsOfText(rowsAsText(rows))).toEqual(rows);
    }),
  );
});

it('The row of a send is read as it was written', () => {
  const zeros = Object.fromEntries(LEDGER_SUMS.map((sum) => [sum, 0]));
  fc.assert(
    fc.property(anyRow, (row) => {
      const { nano } = row;
      const lost = { ...row, ...zeros, nano, kind: 'expired', status: 'lost', ms: 0, firstMs: undefined } as LedgerRow;
      const send = { hold: 3, accounts: [], row: lost };
      expect(read(processLine(boot, 1) + sendLine(send)).at(-1)).toEqual({ what: 'send', send });
    }),
  );
});

it('A spool of an earlier release, whose sends have all columns, is read', () => {
  const row = rowOf(1, { kind: 'expired', src: 'lost', nano: 7, held: 7, ms: 0, status: 'lost' });
  const lines = [
    ['process', boot, 1, ROW_COLUMNS],
    ['send', 3, [], cellsOf(row)],
  ];
  expect(read(lines.map((line) => `${JSON.stringify(line)}\n`).join('')).at(-1)).toEqual({
    what: 'send',
    send: { hold: 3, accounts: [], row },
  });
});

it('Lines that are no lists are left out, and those behind them are read', () => {
  const lines = `${processLine(boot, 1)}["end",[1],[],[["0193\n17\nnull\n{}\n${endLine({ holds: [2], accounts: [], rows: [] })}`;
  expect(read(lines).slice(1)).toEqual([
    ...Array.from({ length: 4 }, () => undefined),
    { what: 'end', end: { holds: [2], accounts: [], rows: [] } },
  ]);
});

it('A number that JSON does not have spoils its own row alone', () => {
  const rows = [rowOf(1), rowOf(2, { ms: NaN })];
  const [, line] = read(processLine(boot, 1) + endLine({ holds: [1, 2], accounts: [[1, Infinity]], rows }));
  expect(line).toMatchObject({ what: 'end', end: { holds: [1, 2], rows: [rows[0], { req: rows[1]!.req, nano: 0 }] } });
});
