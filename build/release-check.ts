/**
 * `npm run release:check`: fails when a day in data/models.json has come that no source had confirmed when the table was read. A
 * price that was announced, or promised until a day, must be looked up again then. It is no test: tests do not depend on the day.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface DatedRow {
  readonly id: string;
  readonly on: readonly string[];
  readonly p: readonly { readonly from?: string }[];
  readonly until_at_least?: string;
  /** The day on which the prices were looked up last. */
  readonly confirmed?: string;
}

interface DatedTable {
  readonly as_of: string;
  readonly models: readonly DatedRow[];
}

/** What has to be confirmed, a line for each row. */
export function dueRows({ as_of: asOf, models }: DatedTable, today: string): readonly string[] {
  return models.flatMap(({ id, on, p, until_at_least: until, confirmed = '' }) => {
    // What the sources say of days before they were read is what they saw.
    const begun = p.flatMap(({ from = '' }) => (from > asOf && from > confirmed && from <= today ? [from] : []));
    const ended = until !== undefined && until < today && until >= confirmed ? [until] : [];
    return [
      ...begun.map((day) => `${id} at ${on.join(', ')}: other prices were announced from ${day}`),
      ...ended.map((day) => `${id} at ${on.join(', ')}: its price was promised until ${day}`),
    ];
  });
}

if (import.meta.main) {
  const source = readFileSync(join(import.meta.dirname, '../data/models.json'), 'utf8');
  const due = dueRows(JSON.parse(source) as DatedTable, new Date().toISOString().slice(0, 10));
  for (const line of due) process.stderr.write(`${line}\n`);
  if (due.length > 0) {
    process.stderr.write(
      'Look these prices up, correct data/models.json, and set `confirmed` of each row to the day of that.\n',
    );
    process.exitCode = 1;
  }
}
