import { readdirSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Boot } from '../../../../core/ports/counters.ts';
import type { LedgerRow } from '../../../../core/ports/ledger.ts';
import { SPOOLS } from './spool.ts';
import { LineReader, type SpooledAccount, type SpooledSend, type SpoolLine } from './spool-lines.ts';

export interface SpoolState {
  readonly accounts: ReadonlyMap<number, SpooledAccount>;
  readonly open: readonly SpooledSend[];
}

export function spoolsIn(folder: string): readonly string[] {
  try {
    return readdirSync(join(folder, SPOOLS), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => join(folder, SPOOLS, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

export const removeSpool = (path: string): void => rmSync(path, { recursive: true, force: true });

const segmentsOf = (spool: string): string[] =>
  readdirSync(spool)
    .filter((name) => /^\d+\.jsonl$/.test(name))
    .sort()
    .map((name) => join(spool, name));

/** Undefined: it wrote nothing. */
export async function writerOf(spool: string): Promise<{ readonly boot: Boot; readonly pid: number } | undefined> {
  for (const path of segmentsOf(spool)) {
    for await (const first of linesOf(path)) {
      if (first.what === 'process') return first;
      break;
    }
  }
  return undefined;
}

export async function* linesOf(segment: string): AsyncGenerator<SpoolLine> {
  const reader = new LineReader();
  const file = await open(segment);
  try {
    for await (const text of file.readLines()) {
      const line = reader.read(text);
      if (line) yield line;
    }
  } finally {
    await file.close();
  }
}

/** Reads a spool from its beginning. @param onRows called with the rows of each end; the next line is read when it has resolved */
export async function readSpool(
  spool: string,
  onRows: (rows: readonly LedgerRow[]) => Promise<void>,
): Promise<SpoolState> {
  let state = new Tally();
  for (const segment of segmentsOf(spool)) {
    // The lines before `complete` repeat what the earlier segments say. They count only if all of them are there.
    const begun = new Tally();
    let current: Tally | undefined;
    for await (const line of linesOf(segment)) {
      if (line.what === 'complete') current = begun;
      (current ?? begun).add(line);
      if (line.what === 'end' && line.end.rows.length > 0) await onRows(line.end.rows);
    }
    state = current ?? state;
  }
  return { accounts: state.accounts, open: [...state.open.values()] };
}

class Tally {
  readonly accounts = new Map<number, SpooledAccount>();
  readonly open = new Map<number, SpooledSend>();

  add(line: SpoolLine): void {
    if (line.what === 'send') this.open.set(line.send.hold, line.send);
    // Later lines of an account name its lease; what it has used is counted here.
    if (line.what === 'account') {
      const { number } = line.account;
      const used = this.accounts.get(number)?.used ?? line.account.used;
      this.accounts.set(number, { ...line.account, used });
    }
    if (line.what !== 'end') return;
    for (const hold of line.end.holds) this.open.delete(hold);
    for (const [number, amount] of line.end.accounts) {
      const account = this.accounts.get(number);
      if (account) this.accounts.set(number, { ...account, used: account.used + amount });
    }
  }
}
