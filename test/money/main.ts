import { parseArgs } from 'node:util';
import { usdText } from '../../src/prices/money.ts';
import { runMoney } from './run.ts';

/**
 * `npm run test:money`: a gateway under faults beside a scripted upstream that bills. Its processes are killed, ended and started again
 * while clients send, leave in the middle of streams and are refused; spools that were replayed come back. At the end the ledger is
 * compared with the bill: each charge is in it to the nano-USD, or as a marked row (an estimate, or the reserve of a request whose
 * process was killed).
 *
 *   npm run test:money -- --minutes 30               one process
 *   npm run test:money -- --minutes 30 --workers 2   two workers, which are killed too
 *   npm run test:money -- --faults 200 --seed 7      so many random moments
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    faults: { type: 'string' },
    workers: { type: 'string' },
    seed: { type: 'string', default: '4711' },
    /** Milliseconds between two faults, at most. */
    pause: { type: 'string', default: '4000' },
  },
});

async function main(): Promise<boolean> {
  const faults = values.faults === undefined ? undefined : Number(values.faults);
  const result = await runMoney({
    faults,
    ms: faults === undefined ? Number(values.minutes) * 60_000 : undefined,
    workers: values.workers === undefined ? undefined : Number(values.workers),
    seed: Number(values.seed),
    pauseMs: Number(values.pause),
    say: (line) => console.log(line),
  });
  const usd = (nano: number): string => `${usdText(nano)} USD`;
  const { counter } = result;
  console.log(
    `${result.requests} requests answered; faults: ${JSON.stringify(result.faults)}; ${result.replayedTwice} spools replayed twice`,
  );
  console.log(`${result.charges} charges, ${result.rows} rows`);
  console.log(`exact: ${result.exact} rows, ${usd(result.exactNano)}, each equal to its charge`);
  console.log(
    `marked: ${result.estimated} estimates and ${result.lost} reserves, ${usd(result.markedNano)}, for ${result.markedCharges} charges of ${usd(result.markedChargesNano)}`,
  );
  console.log(
    `ledger ${usd(result.ledgerNano)}; budget: spent ${usd(counter?.spent ?? 0)}, leased ${counter?.leased}, unreconciled ${counter?.unreconciled}`,
  );
  const problems = [...result.problems];
  if (counter?.spent !== result.ledgerNano || counter.leased !== 0 || counter.unreconciled !== 0)
    problems.push('the budget does not equal the ledger');
  if (result.exact < result.charges / 2) problems.push('fewer than half of the charges are exact');
  for (const problem of problems.slice(0, 20)) console.log(`PROBLEM ${problem}`);
  console.log(problems.length === 0 ? 'the ledger equals the bill' : `${problems.length} problems`);
  return problems.length === 0;
}

process.exitCode = (await main()) ? 0 : 1;
