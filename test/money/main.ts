import { parseArgs } from 'node:util';
import { usdText } from '../../src/core/ports/money.ts';
import { gapsIn } from './gaps.ts';
import { killPoints } from './kill-points.ts';
import { runMoney } from './run.ts';

/**
 * `npm run test:money`: a gateway under faults beside a scripted upstream that bills. First no process dies: bill, ledger, admin API, budget
 * and the metric for Prometheus are equal to the nano-USD. Then its processes are killed, ended and started again while clients send, leave
 * in the middle of streams and are refused; spools that were replayed come back. At the end the ledger, as the admin API shows it, is
 * compared with the bill: each charge is in it to the nano-USD, or as a marked row (an estimate, or the reserve of a request whose
 * process was killed). A run that shows too little fails as well.
 *
 *   npm run test:money -- --minutes 30               one process
 *   npm run test:money -- --minutes 30 --workers 2   two workers, which are killed too
 *   npm run test:money -- --faults 200 --seed 7      so many random moments
 *   npm run test:money -- --points 200               so many chosen steps of reserve, send, settle, spool and append
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    faults: { type: 'string' },
    points: { type: 'string' },
    workers: { type: 'string' },
    seed: { type: 'string', default: '4711' },
    /** Milliseconds between two faults, at most. */
    pause: { type: 'string', default: '4000' },
    /** Seconds of each of the two parts in which no process dies. */
    calm: { type: 'string', default: '15' },
    clients: { type: 'string', default: '6' },
    /** Milliseconds between two requests of a client, at most. */
    'client-pause': { type: 'string', default: '30' },
  },
});

const MOST_MINUTES = 30;

function numberOf(name: keyof typeof values): number {
  const value = Number(values[name]);
  if (!(value >= 0)) throw new Error(`--${name} is a number`);
  return value;
}

async function main(): Promise<boolean> {
  const workers = values.workers === undefined ? undefined : numberOf('workers');
  const points = values.points === undefined ? undefined : killPoints(numberOf('points'), numberOf('seed'));
  if (numberOf('minutes') > MOST_MINUTES) throw new Error(`--minutes is at most ${MOST_MINUTES}`);
  const result = await runMoney({
    calmMs: numberOf('calm') * 1000,
    faults: values.faults === undefined ? undefined : numberOf('faults'),
    ms: values.faults === undefined ? numberOf('minutes') * 60_000 : undefined,
    points,
    workers,
    seed: numberOf('seed'),
    pauseMs: numberOf('pause'),
    clients: numberOf('clients'),
    clientPauseMs: numberOf('client-pause'),
    say: (line) => console.log(line),
  });
  const usd = (nano: number): string => `${usdText(nano)} USD`;
  console.log(
    `${result.requests} requests answered; faults: ${JSON.stringify(result.faults)}; ${result.replayedTwice} spools replayed twice`,
  );
  console.log(
    `${result.charges} charges of ${usd(result.billedNano)}, ${result.rows} rows of ${usd(result.ledgerNano)}`,
  );
  console.log(`exact: ${result.exact} rows, ${usd(result.exactNano)}, each equal to its charge`);
  console.log(
    `marked: ${result.estimated} estimates and ${result.lost} reserves, ${usd(result.markedNano)}, for ${result.markedCharges} charges of ${usd(result.markedChargesNano)}`,
  );
  console.log(`admin API: usage ${usd(result.apiNano)}, budget ${usd(result.apiSpent)}`);
  for (const { what, billedNano, rowsNano, usageNano, budgetSpent, metricNano } of result.calm)
    console.log(
      `while no process died, with ${what} charges: billed ${usd(billedNano)}, rows ${usd(rowsNano)}, usage ${usd(usageNano)}, budget ${usd(budgetSpent)}, Prometheus ${usd(metricNano)}`,
    );
  const problems = [...result.problems, ...gapsIn(result, { workers })];
  for (const problem of problems.slice(0, 20)) console.log(`PROBLEM ${problem}`);
  console.log(problems.length === 0 ? 'the ledger equals the bill' : `${problems.length} problems`);
  return problems.length === 0;
}

process.exitCode = (await main()) ? 0 : 1;
