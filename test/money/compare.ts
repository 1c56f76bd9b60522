import type { BilledRow } from './admin.ts';
import type { Action, Charge } from './bill.ts';

/** The ledger beside the bill. */
export interface Comparison {
  readonly charges: number;
  /** All that the upstream has billed. */
  readonly billedNano: number;
  readonly rows: number;
  /** The sum of all rows. */
  readonly ledgerNano: number;
  /** Charges that the ledger has to the nano-USD, by a row that the upstream's own usage made. */
  readonly exact: number;
  readonly exactNano: number;
  /** Rows at an estimate, and at the reserve of a request whose process was killed, and the charges that they stand for. */
  readonly estimated: number;
  readonly lost: number;
  readonly markedNano: number;
  readonly markedCharges: number;
  readonly markedChargesNano: number;
  readonly problems: readonly string[];
}

/** Replies of these have the upstream's usage when they arrive whole. */
const TOLD: ReadonlySet<Action> = new Set(['reply', 'slow', 'stream', 'slow-stream', 'busy', 'drop']);

/** Of these the gateway gets neither a count nor content if the client leaves or the connection breaks: the reserve stands for the charge. */
const UNDELIVERED: ReadonlySet<Action> = new Set(['slow', 'drop']);

/**
 * Compares by model, of which each request has its own. Each row of reported usage is one charge, to the nano; each other charge has a
 * marked row; no row stands for nothing.
 */
export function compare(charges: ReadonlyMap<string, readonly Charge[]>, rows: readonly BilledRow[]): Comparison {
  const problems: string[] = [];
  const of = Map.groupBy(rows, ({ asked }) => asked.slice(asked.indexOf('/') + 1));
  const sums = {
    charges: 0,
    billedNano: 0,
    exact: 0,
    exactNano: 0,
    estimated: 0,
    lost: 0,
    markedNano: 0,
    markedCharges: 0,
    markedChargesNano: 0,
  };
  for (const model of new Set([...charges.keys(), ...of.keys()])) {
    const billed = [...(charges.get(model) ?? [])];
    sums.charges += billed.length;
    sums.billedNano += nanoOf(billed);
    let estimated = 0;
    let marked = 0;
    let markedNano = 0;
    for (const { src, kind, nano } of of.get(model) ?? []) {
      if (src === 'told' && kind === 'try') {
        const found = billed.findIndex((charge) => charge.nano === nano && TOLD.has(charge.action));
        if (found < 0) problems.push(`${model}: a row of ${nano} nano-USD for no charge`);
        else billed.splice(found, 1);
        sums.exact += 1;
        sums.exactNano += nano;
        continue;
      }
      marked += kind === 'adjustment' ? -1 : 1;
      markedNano += nano;
      if (src === 'lost') sums.lost += 1;
      else estimated += 1;
      if (kind === 'expired' && billed.length > 0 && nano < Math.min(...billed.map((charge) => charge.nano)))
        problems.push(`${model}: a reserve of ${nano} nano-USD for a charge of ${billed[0]!.nano}`);
    }
    if (billed.length > marked)
      problems.push(
        `${model}: ${billed.length} charges (${billed.map(({ action, nano }) => `${action} ${nano}`).join(', ')}) and ${marked} marked rows`,
      );
    const [left] = billed;
    if (left && billed.length === 1 && marked === 1 && UNDELIVERED.has(left.action) && markedNano < left.nano)
      problems.push(`${model}: ${markedNano} nano-USD for an undelivered reply of ${left.nano}`);
    // A request that was killed before its bytes left has a reserve and no charge; an estimate is of a request that was sent.
    if (estimated > billed.length) problems.push(`${model}: ${estimated} estimates for ${billed.length} charges`);
    sums.estimated += estimated;
    sums.markedNano += markedNano;
    sums.markedCharges += billed.length;
    sums.markedChargesNano += nanoOf(billed);
  }
  return { ...sums, rows: rows.length, ledgerNano: nanoOf(rows), problems };
}

export const nanoOf = (amounts: Iterable<{ readonly nano: number }>): number =>
  [...amounts].reduce((sum, { nano }) => sum + nano, 0);
