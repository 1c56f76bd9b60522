import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { FOLDERS_OF, PARTS } from '../../build/full-parts.ts';

/**
 * The names of the suites that run whole, by the variable TEST_FULL: `1` is all of them. `npm test` sets it to those whose files have
 * changed (build/full-parts.ts), `npm run test:full` to 1.
 */
const FULL: ReadonlySet<string> = new Set(
  process.env['TEST_FULL'] === '1'
    ? [...Object.keys(PARTS), 'properties', 'agreement', 'console']
    : process.env['TEST_FULL']?.split(','),
);

export const isFull = (suite: string): boolean => FULL.has(suite);

/** A tenth, but as many as a rare shape needs to appear: of generators that choose among thirty, 50 values miss one in five runs. */
const GATE_SHARE = 10;
const GATE_LEAST = 50;

/** How often a property is tried: `full` times in `npm run test:full`, fewer times in `npm test`. */
export const runs = (full: number): number =>
  isFull('properties') ? full : Math.min(full, Math.max(GATE_LEAST, Math.ceil(full / GATE_SHARE)));

/** Every fourth of the cases of a table, another quarter for each row, so that each column is met. All of them where the suite runs whole. */
export const oneInFour = <Case>(suite: string, row: number, cases: readonly Case[]): readonly Case[] =>
  isFull(suite) || cases.length < 4 ? cases : cases.filter((_, index) => index % 4 === row % 4);

const ROOT = join(import.meta.dirname, '../..');

/** Changes with each commit, so that four commits in a row meet about two thirds of the files, and ten nearly all. */
export function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], {
      cwd: ROOT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch {
    // The sources of a tarball have no history.
    return '';
  }
}

/** Test files of the suites that are not due (FOLDERS_OF), but one in four. Who names files at a desk gets them all. */
export function leftOut(): readonly string[] {
  if (process.env['TEST_FULL'] === undefined) return [];
  const rare = Object.entries(FOLDERS_OF).filter(([suite]) => !isFull(suite));
  if (rare.length === 0) return [];
  const salt = commit();
  return globSync('{src,test}/**/*.test.ts', { cwd: ROOT }).filter(
    (file) =>
      rare.some(([, pattern]) => pattern.test(file)) &&
      createHash('sha256').update(`${salt}${file}`).digest().readUInt8() % 4 !== 0,
  );
}
