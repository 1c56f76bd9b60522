import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { postgresMissing } from '../support/postgres.ts';
import { nginxMissing } from './nginx.ts';

/**
 * `npm run test:fleet`: all tests of a fleet in their long forms, within 30 minutes. They start PostgreSQL, a standby, pgbouncer, redis-server, nginx
 * and relays on loopback. `npm test` has the short forms: fewer kills, budgets and seeds.
 */
const MOST_MS = 30 * 60_000;
const VITEST = [join('node_modules', 'vitest', 'vitest.mjs'), 'run', '--project'];
const PARTS: readonly (readonly string[])[] = [
  [
    ...VITEST,
    'unit',
    'src/addons/postgres',
    'src/addons/valkey',
    'src/addons/budgets/store',
    'src/addons/budgets/state',
  ],
  [...VITEST, 'crossing', 'test/fleet', 'test/valkey', 'test/governance'],
  [join('test', 'fleet', 'append-rate.ts')],
];

function run(): boolean {
  const missing = postgresMissing(['initdb', 'postgres', 'pg_basebackup', 'pg_ctl', 'pgbouncer']) ?? nginxMissing();
  if (missing !== undefined) console.log(`Some tests are skipped: ${missing}`);
  const from = performance.now();
  const seconds = (): number => Math.round((performance.now() - from) / 1000);
  let isGood = true;
  for (const args of PARTS) {
    const { status, signal } = spawnSync(process.execPath, args, {
      stdio: 'inherit',
      timeout: Math.max(1, Math.round(MOST_MS - seconds() * 1000)),
      // Without `stores`, one file in four of the folders of its tests would run.
      env: { ...process.env, TEST_FULL: 'fleet,governance,stores' },
    });
    if (signal) console.log(`ended after ${MOST_MS / 60_000} minutes`);
    isGood &&= status === 0;
    console.log(`${args.at(-1)}: ${status === 0 ? 'passed' : 'FAILED'}, after ${seconds()} s`);
  }
  console.log(`${isGood ? 'passed' : 'FAILED'}, ${seconds()} s`);
  return isGood;
}

process.exitCode = run() ? 0 : 1;
