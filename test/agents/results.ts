import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The last run of a cell. The file is committed: the pages of docs/agents are written from it. */
export interface Result {
  readonly agent: string;
  readonly upstream: string;
  readonly case: string;
  /** Version of the agent that ran. */
  readonly version: string;
  /** Day of the run. */
  readonly date: string;
  /** Absent for a cell that passed. */
  readonly fault?: string;
}

const FILE = join(import.meta.dirname, 'results.json');

export function readResults(): readonly Result[] {
  return JSON.parse(readFileSync(FILE, 'utf8')) as Result[];
}

const keyOf = ({ agent, upstream, case: row }: Result): string => `${agent} ${upstream} ${row}`;

/** Puts new results in the place of older ones of the same cells. */
export function writeResults(more: readonly Result[]): void {
  const all = new Map([...readResults(), ...more].map((result) => [keyOf(result), result]));
  const lines = [...all.values()].map((result) => `  ${JSON.stringify(result)}`).toSorted();
  // Renamed: another run never reads half a file.
  const whole = `${FILE}.${process.pid}`;
  writeFileSync(whole, `[\n${lines.join(',\n')}\n]\n`);
  renameSync(whole, FILE);
}
