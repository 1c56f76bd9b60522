import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { isFull } from '../support/effort.ts';
import { postgresMissing, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { DAYS, NANO, ROWS, startMoving, type Moving } from './moving.ts';

const missing = postgresMissing();
/** The first day has no rows any more, but its sums. */
const ROWS_LEFT = 1_000_000;
const BATCHES = ROWS_LEFT / ROWS / (DAYS - 1);
const SCHEMA = 'many';
/** MiB of the heap of the process, of which its code takes a third. Node collects a heap without a bound late. */
const HEAP = 192;

/** Runs the command in a process of its own. @param isCut a second after the first day is there, amid the next one, the process is killed */
async function move({ configs, env }: Moving, isCut: boolean) {
  const flags = [`--max-old-space-size=${HEAP}`, '--disable-warning=ExperimentalWarning'];
  const args = [...flags, packageFile('src/cli/main.ts'), 'state', 'migrate'];
  const from = performance.now();
  const child = spawn(process.execPath, [...args, '--to', 'postgres', '--configs', configs], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let peakMiB = 0;
  const watch = setInterval(() => {
    try {
      const kib = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1];
      peakMiB = Math.max(peakMiB, Number(kib ?? 0) / 1024);
    } catch {
      // It has ended.
    }
  }, 100);
  let out = '';
  child.stdout.on('data', (piece: Buffer) => (out += piece.toString()));
  if (isCut) child.stdout.once('data', () => setTimeout(() => child.kill('SIGKILL'), 1000));
  const ended = await new Promise((end) => child.once('close', (code, signal) => end(signal ?? code)));
  clearInterval(watch);
  return { ended, out, seconds: (performance.now() - from) / 1000, peakMiB };
}

describe.skipIf(missing !== undefined)(
  `a ledger of a million rows${missing === undefined ? '' : ` (${missing})`}`,
  () => {
    let server: TestPostgres;
    beforeAll(async () => void (server = await startPostgres()), 300_000);
    afterAll(() => server?.end());

    it.runIf(isFull('fleet'))(
      'moves to PostgreSQL with equal sums and an intact audit, although the command was killed on its way',
      async () => {
        const moving = startMoving(server.url(), { schema: SCHEMA }, undefined, BATCHES);
        try {
          const cut = await move(moving, true);
          expect(cut.ended).toBe('SIGKILL');
          const { ended, out, seconds, peakMiB } = await move(moving, false);
          console.log(
            `cut after ${cut.seconds.toFixed(0)} s, the rest in ${seconds.toFixed(0)} s, at most ${peakMiB.toFixed(0)} MiB`,
          );
          expect(ended).toBe(0);
          expect(out).toContain(`ledger: ${((ROWS * BATCHES * DAYS * NANO) / 1e9).toFixed(9)} USD\n`);
          const client = new pg.Client(server.url());
          await client.connect();
          const { rows } = await client.query(
            `SELECT count(*) AS count, count(DISTINCT (req, att, kind)) AS names, sum(nano) AS nano FROM ${SCHEMA}.ledger`,
          );
          await client.end();
          const nano = String(ROWS_LEFT * NANO);
          expect(rows).toEqual([{ count: String(ROWS_LEFT), names: String(ROWS_LEFT), nano }]);
        } finally {
          moving.end();
        }
      },
      25 * 60_000,
    );
  },
);
