import { createHash } from 'node:crypto';
import { StateFailure } from '../../../core/ports/failures.ts';
import type { ConnectionPool, Transaction } from '../connect/connections.ts';
import { CREDIT_TABLES } from './credit-tables.ts';
import { FIRST_FUNCTIONS } from './first-functions.ts';
import { FIRST_TABLES } from './first-tables.ts';
import { TIGHT_TAKES } from './tight-takes.ts';

export interface TableStep {
  /** From 1, without gaps. */
  readonly number: number;
  readonly name: string;
  readonly sql: string;
}

/**
 * The tables, step by step. A step that has been released is never edited: stores remember its checksum. Steps only add until two releases
 * later, so that one release before and after serve side by side. Statements name their columns, so that they stay valid then.
 */
export const STEPS: readonly TableStep[] = [
  { number: 1, name: 'first tables', sql: FIRST_TABLES + FIRST_FUNCTIONS },
  { number: 2, name: 'standing credit', sql: CREDIT_TABLES },
  { number: 3, name: 'takes near caps', sql: TIGHT_TAKES },
];

/** DETACH PARTITION CONCURRENTLY begins with it. */
const LEAST_VERSION = 140_000;
/** Another gateway may be at a step. */
const LOCK_MS = 5_000;
const STEP_MS = 600_000;

interface AppliedStep {
  readonly number: number;
  readonly sha256: string;
}

const checksum = ({ sql }: TableStep): string => createHash('sha256').update(sql).digest('hex');

interface Migrations {
  readonly schema: string;
  /** Injected by tests. */
  readonly steps?: readonly TableStep[] | undefined;
}

/** The steps that the store lacks. Rejects a store of a later release, and one that has other steps. */
export async function missingSteps(
  connections: ConnectionPool,
  { schema, steps = STEPS }: Migrations,
): Promise<TableStep[]> {
  return connections.transaction(async (tx) => missing(await appliedIn(tx, schema), steps));
}

/** Applies the missing steps, each in a transaction of its own under a lock: several gateways may start at once. */
export async function migrate(connections: ConnectionPool, { schema, steps = STEPS }: Migrations): Promise<void> {
  const first = await missingSteps(connections, { schema, steps });
  for (let left = first.length; left > 0;)
    left = await connections.transaction(async (tx) => {
      await tx.script(`SET LOCAL lock_timeout = ${LOCK_MS}; SET LOCAL statement_timeout = ${STEP_MS}`);
      await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', `gatehouse tables ${schema}`);
      const [step, ...others] = missing(await appliedIn(tx, schema), steps);
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
  if (found?.has !== true) return [];
  return tx.query<AppliedStep>('SELECT number, sha256 FROM migration ORDER BY number');
}

function missing(applied: readonly AppliedStep[], steps: readonly TableStep[]): TableStep[] {
  for (const { number, sha256 } of applied) {
    const known = steps[number - 1];
    if (!known)
      throw new StateFailure(
        'newer_store',
        `a later release has written the store: it has step ${number} of its tables, this release knows ${steps.length}`,
      );
    if (checksum(known) !== sha256)
      throw new StateFailure(
        'damaged',
        `step ${number} of the tables ("${known.name}") is not the one that this release knows`,
      );
  }
  return steps.slice(applied.length);
}
