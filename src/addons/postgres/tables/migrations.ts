import { StateFailure } from '../../../core/ports/failures.ts';
import { checksum, missingOf, type AppliedStep, type TableStep } from '../../../core/ports/table-steps.ts';
import type { ConnectionPool, Transaction } from '../connect/connections.ts';
import { CREDIT_TABLES } from './credit-tables.ts';
import { FIRST_FUNCTIONS } from './first-functions.ts';
import { FIRST_TABLES } from './first-tables.ts';
import { LEDGER_LABELS } from './ledger-labels.ts';
import { TIGHT_TAKES, TIGHT_TAKES_OF_ANY_CLOCK } from './tight-takes.ts';

export const STEPS: readonly TableStep[] = [
  { number: 1, name: 'first tables', sql: FIRST_TABLES + FIRST_FUNCTIONS },
  { number: 2, name: 'standing credit', sql: CREDIT_TABLES },
  { number: 3, name: 'takes near caps', sql: TIGHT_TAKES },
  { number: 4, name: 'takes while the clock is back', sql: TIGHT_TAKES_OF_ANY_CLOCK },
  { number: 5, name: 'labels of the ledger', sql: LEDGER_LABELS },
];

/** DETACH PARTITION CONCURRENTLY begins with it. */
const LEAST_VERSION = 140_000;
/** Another gateway may be at a step. */
const LOCK_MS = 5_000;
const STEP_MS = 600_000;

interface Migrations {
  readonly schema: string;
  /** Injected by tests. */
  readonly steps?: readonly TableStep[] | undefined;
}

/** The steps that the store lacks. Throws as `missingOf`. */
export const missingSteps = async (
  connections: ConnectionPool,
  { schema, steps = STEPS }: Migrations,
): Promise<readonly TableStep[]> =>
  connections.transaction(async (tx) => missingOf(await appliedIn(tx, schema), steps));

/** Applies the missing steps, each in a transaction of its own under a lock: several gateways may start at once. */
export async function migrate(connections: ConnectionPool, { schema, steps = STEPS }: Migrations): Promise<void> {
  const first = await missingSteps(connections, { schema, steps });
  for (let left = first.length; left > 0;)
    left = await connections.transaction(async (tx) => {
      await tx.script(`SET LOCAL lock_timeout = ${LOCK_MS}; SET LOCAL statement_timeout = ${STEP_MS}`);
      await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', `gatehouse tables ${schema}`);
      const [step, ...others] = missingOf(await appliedIn(tx, schema), steps);
      if (!step) return 0;
      await apply(tx, step, connections.literal(schema));
      return others.length;
    });
}

async function apply(tx: Transaction, step: TableStep, schema: string): Promise<void> {
  const [{ version } = { version: 0 }] = await tx.query<{ version: number }>(
    `SELECT current_setting('server_version_num')::integer AS version`,
  );
  if (version < LEAST_VERSION)
    throw new StateFailure('invalid', `the state store needs PostgreSQL 14 or later, and the server has ${version}`);
  await tx.script(
    `DO $do$ BEGIN
       -- IF NOT EXISTS asks for the privilege to create one, even where the schema is there.
       IF to_regnamespace(quote_ident(${schema})) IS NULL THEN EXECUTE format('CREATE SCHEMA %I', ${schema}); END IF;
     END $do$;
     CREATE TABLE IF NOT EXISTS migration (number integer PRIMARY KEY, name text NOT NULL, sha256 text NOT NULL,
       at timestamptz NOT NULL DEFAULT clock_timestamp());
     ${step.sql}`,
  );
  await tx.query(
    'INSERT INTO migration (number, name, sha256) VALUES ($1, $2, $3)',
    step.number,
    step.name,
    checksum(step),
  );
}

async function appliedIn(tx: Transaction, schema: string): Promise<AppliedStep[]> {
  const [found] = await tx.query<{ has: boolean }>(
    `SELECT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname = $1 AND c.relname = 'migration') AS has`,
    schema,
  );
  return found?.has !== true ? [] : tx.query<AppliedStep>('SELECT number, sha256 FROM migration ORDER BY number');
}
