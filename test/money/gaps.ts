import { ACTIONS } from './bill.ts';
import type { MoneyResult } from './run.ts';

/** What a run has not shown, although it found no problem: too little was sent, charged, killed or replayed. */
export function gapsIn(result: MoneyResult, { workers }: { readonly workers?: number | undefined }): readonly string[] {
  const gaps: string[] = [];
  const { faults, actions, exact, charges, lost, requests, replayedTwice, apiNano, apiSpent, calm } = result;
  const { ledgerNano, counter, openLeases, killsBeforeNote } = result;
  const kills = faults.kill + faults['kill worker'] + faults['kill point'];
  // The upstream refuses `refuse` and charges nothing for it.
  for (const action of ACTIONS)
    if (action !== 'refuse' && !actions.has(action)) gaps.push(`no request was charged for "${action}"`);
  if (kills === 0) gaps.push('no process was killed');
  if (workers !== undefined && kills > 8 && faults['kill worker'] === 0) gaps.push('no worker was killed');
  if (kills > 8 && lost === 0) gaps.push('no request was lost with its process');
  if (kills > 30 && replayedTwice === 0) gaps.push('no spool was replayed twice');
  if (requests < 2 * kills) gaps.push(`${requests} requests were answered beside ${kills} kills`);
  // Three in five of the scripted charges are exact where no process is killed.
  if (exact < charges / 4) gaps.push(`${exact} of ${charges} charges are exact, fewer than a quarter`);
  if (exact < 20) gaps.push(`${exact} charges are exact`);
  for (const { what, billedNano } of calm)
    if (billedNano === 0) gaps.push(`nothing was charged in the calm time with ${what} charges`);
  if (apiNano !== ledgerNano) gaps.push(`the usage of the admin API is ${apiNano} nano-USD, its rows ${ledgerNano}`);
  if (apiSpent !== ledgerNano) gaps.push(`the budget in the admin API has spent ${apiSpent}, its rows ${ledgerNano}`);
  // A process that dies between the grant of its first lease and the note of it leaves the lease: its rest is as good as spent.
  if (openLeases > killsBeforeNote + Math.max(1, kills / 10))
    gaps.push(`${openLeases} leases were not given back after ${kills} kills`);
  if (counter?.spent !== ledgerNano || counter.leased !== 0 || (openLeases === 0 && counter.unreconciled !== 0))
    gaps.push(`the budget in the store is ${JSON.stringify(counter)}, the ledger ${ledgerNano}`);
  return gaps;
}
