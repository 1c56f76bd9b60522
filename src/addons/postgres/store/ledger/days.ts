import type { StoreTools } from '../../connect/store-tools.ts';
import type { Transaction } from '../../connect/connections.ts';
import { bounded, DAY_MS, DIMENSIONS, SUMMED } from './columns.ts';
import { openDay } from './append.ts';

const DAYS_AHEAD = 3;
/** Appends that are added to the sums in one transaction. */
const MOST_DELTAS = 20_000;
const DETACH_TRIES = 3;

const CELL_COLUMNS = ['start', ...DIMENSIONS, ...SUMMED].join(', ');
const DIGEST = `sha256(convert_to(jsonb_build_array(${DIMENSIONS.join(', ')})::text, 'UTF8'))`;
const ADDED_UP = SUMMED.map((sum) => bounded(`sum(${sum})`)).join(', ');
const INTO_SUMS = (start: string, from: string): string =>
  `INSERT INTO ledger_sum (${CELL_COLUMNS}, digest)
   SELECT ${start}, ${DIMENSIONS.join(', ')}, ${ADDED_UP}, ${DIGEST} FROM ${from} GROUP BY 1, ${DIMENSIONS.join(', ')}
   ORDER BY 1, ${2 + DIMENSIONS.length + SUMMED.length}
   ON CONFLICT (start, digest) DO UPDATE SET
     ${SUMMED.map((sum) => `${sum} = ${bounded(`ledger_sum.${sum}::numeric + excluded.${sum}`)}`).join(', ')}`;

/** Several gateways may do it at once: a row that one has taken is not there for the others. */
const FOLD_DELTAS = `WITH taken AS (DELETE FROM ledger_delta WHERE id IN (
    SELECT id FROM ledger_delta ORDER BY id LIMIT ${MOST_DELTAS} FOR UPDATE SKIP LOCKED) RETURNING ${CELL_COLUMNS}),
  summed AS (${INTO_SUMS('start', 'taken')} RETURNING 1) SELECT count(*)::integer AS number FROM taken`;
const FOLD_DAY = (start: number): string =>
  `WITH hours AS (DELETE FROM ledger_sum WHERE start >= ${start} AND start < ${start + DAY_MS} RETURNING ${CELL_COLUMNS})
   ${INTO_SUMS(`${start}::bigint`, 'hours')}`;

/** Adds the sums of appends to those of their hours, and makes the tables of the next days. For one gateway at a time, every ten seconds. */
export async function tidyLedger(tools: StoreTools, today: number): Promise<void> {
  for (let more = true; more;) {
    const [folded] = await tools.reads.one<{ number: number }>(FOLD_DELTAS);
    more = folded!.number === MOST_DELTAS;
  }
  for (let day = today; day <= today + DAYS_AHEAD; day += 1) await openDay(tools, day);
}

/** All sums of appends: what follows in the same transaction finds every sum in one place. */
async function foldAll(tx: Transaction): Promise<void> {
  // No append adds one meanwhile.
  await tx.script('LOCK TABLE ledger_delta IN SHARE ROW EXCLUSIVE MODE');
  for (;;) {
    const [folded] = await tx.query<{ number: number }>(FOLD_DELTAS);
    if (folded!.number < MOST_DELTAS) return;
  }
}

/** Each day is a table of its own: it goes as a whole, and the disk has its room again. */
export async function dropDays(tools: StoreTools, before: string): Promise<number> {
  const first = dayNumber(tools, before);
  const days = (await ledgerDays(tools)).filter((day) => day < before);
  const isNew = await tools.reads.transaction(async (tx) => {
    const moved = await tx.change(`UPDATE sequence SET value = $1 WHERE name = 'ledger dropped' AND value < $1`, first);
    if (moved === 0) return false;
    await foldAll(tx);
    const starts = await tx.query<{ day: number }>(
      `SELECT DISTINCT start / ${DAY_MS} AS day FROM ledger_sum WHERE start < $1 AND start % ${DAY_MS} <> 0`,
      first * DAY_MS,
    );
    for (const { day } of starts) await tx.script(FOLD_DAY(day * DAY_MS));
    return true;
  });
  await removeTables(tools, first);
  return isNew ? days.length : 0;
}

/** Tables of dropped days, those that an ended process left among them. */
async function removeTables(tools: StoreTools, first: number): Promise<void> {
  const { reads } = tools;
  for (const parent of ['ledger', 'ledger_name'])
    for (let tries = 1; tries <= DETACH_TRIES; tries += 1) {
      const old = await reads.one<{ name: string; parent: string | null; isPending: boolean | null }>(
        `SELECT format('%I.%I', n.nspname, c.relname) AS name, CASE WHEN p.oid IS NOT NULL THEN format('%I.%I', n.nspname, p.relname) END AS parent,
           i.inhdetachpending AS "isPending"
         FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_inherits i ON i.inhrelid = c.oid
         LEFT JOIN pg_class p ON p.oid = i.inhparent
         WHERE n.nspname = current_schema() AND c.relkind = 'r' AND c.relname ~ '^${parent}_[0-9]+$'
           AND substring(c.relname FROM '[0-9]+$')::integer < ${first} ORDER BY c.relname`,
      );
      if (old.length === 0) break;
      for (const { name, parent: attached, isPending } of old) {
        // Outside of a transaction. Appends and reads of other days go on meanwhile.
        if (attached !== null && isPending !== null)
          await reads.bare(
            `ALTER TABLE ${attached} DETACH PARTITION ${name} ${isPending ? 'FINALIZE' : 'CONCURRENTLY'}`,
          );
        await reads.one(`DROP TABLE IF EXISTS ${name}`);
      }
    }
}

/** Sums up the oldest day that still has hours. */
export async function foldOldest(tools: StoreTools, before: string): Promise<boolean> {
  const first = dayNumber(tools, before);
  return tools.reads.transaction(async (tx) => {
    await tx.query(`SELECT value FROM sequence WHERE name = 'ledger folded' FOR UPDATE`);
    await foldAll(tx);
    const [oldest] = await tx.query<{ day: number }>(
      `SELECT start / ${DAY_MS} AS day FROM ledger_sum WHERE start < $1
         AND start >= ${DAY_MS} * (SELECT max(value) FROM sequence WHERE name IN ('ledger folded', 'ledger dropped'))
       ORDER BY start LIMIT 1`,
      first * DAY_MS,
    );
    if (!oldest) return false;
    await tx.script(FOLD_DAY(oldest.day * DAY_MS));
    await tx.query(`UPDATE sequence SET value = $1 WHERE name = 'ledger folded'`, oldest.day + 1);
    return true;
  });
}

export function forgetSums(tools: StoreTools, before: string): Promise<number> {
  const first = dayNumber(tools, before);
  return tools.reads.transaction((tx) =>
    tx.change(
      `DELETE FROM ledger_sum WHERE start < ${DAY_MS} * least($1, (SELECT value FROM sequence WHERE name = 'ledger dropped'))`,
      first,
    ),
  );
}

export async function ledgerDays({ reads, rules }: StoreTools): Promise<string[]> {
  const found = await reads.one<{ day: number }>(
    `SELECT d.day FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
       CROSS JOIN LATERAL (SELECT substring(c.relname FROM '[0-9]+$')::integer AS day) AS d
     WHERE i.inhparent = 'ledger'::regclass AND NOT i.inhdetachpending
       AND d.day >= (SELECT value FROM sequence WHERE name = 'ledger dropped')
       AND EXISTS (SELECT FROM ledger l WHERE l.day = d.day) ORDER BY d.day`,
  );
  return found.map(({ day }) => rules.ledger.dayOf(day * DAY_MS));
}

const dayNumber = ({ rules }: StoreTools, day: string): number => rules.ledger.startOfDay(day) / DAY_MS;
