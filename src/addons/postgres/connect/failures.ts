import { StateFailure, type StateFailureCode } from '../../../core/ports/failures.ts';

/** SQLSTATE, or its class of two characters (https://www.postgresql.org/docs/15/errcodes-appendix.html). Any other failure may pass. */
const CODES: Readonly<Record<string, StateFailureCode>> = {
  '22': 'invalid', // a value that its column does not hold
  '42501': 'invalid', // insufficient_privilege
  '42': 'damaged', // a table, column or function is missing
  '23505': 'conflict', // unique_violation
  GH002: 'full',
  XX: 'damaged',
};

export const DAY_DROPPED = 'GH001';
/** No partition of the ledger for a day: check_violation. */
export const NO_PARTITION = '23514';
export const UNIQUE_VIOLATION = '23505';

const REPEATABLE: ReadonlySet<string> = new Set(['40001', '40P01']);

/** SQLSTATE of the server. Undefined: the failure is another one, such as a broken connection. */
export const sqlStateOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && /^[0-9A-Z]{5}$/.test(error.code)
    ? error.code
    : undefined;

/** A deadlock, or a serialization failure: the same call again may succeed. */
export const isRepeatable = (error: unknown): boolean => REPEATABLE.has(sqlStateOf(error) ?? '');

/**
 * The connection is of no use after this failure: it broke, its answer is overdue, or its server became a standby, which refuses writes
 * (25006) while the address leads to the new primary.
 */
export function endsConnection(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state === undefined || state === '25006' || state.startsWith('08') || state.startsWith('57P');
}

/** A failure with the SQLSTATE of the server, if it was one. */
class ServerFailure extends StateFailure {
  readonly sqlState: string | undefined;

  constructor(code: StateFailureCode, message: string, sqlState: string | undefined) {
    super(code, message);
    this.sqlState = sqlState;
  }
}

export const isServerFailure = (error: unknown, sqlState: string): boolean =>
  error instanceof ServerFailure && error.sqlState === sqlState;

/** @param where the server, for operators. The failure has no cause: details of the server quote values of rows. */
export function failureOf(error: unknown, where: string): StateFailure {
  if (error instanceof StateFailure) return error;
  const state = sqlStateOf(error);
  const code = CODES[state ?? ''] ?? CODES[state?.slice(0, 2) ?? ''] ?? 'unavailable';
  return new ServerFailure(code, `${where}: ${messageOf(error)}${state ? ` (${state})` : ''}`, state);
}

/** Errors of sockets have the system's code; those of `pg` about connections and timeouts have none. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if (sqlStateOf(error) !== undefined || error.constructor === Error) return error.message;
  if ('code' in error || error instanceof AggregateError) return error.message || codeOf(error);
  // A server that sends what is not of its tables. A parser quotes what it cannot read.
  return `its answer cannot be read (${error.name})`;
}

const codeOf = (error: Error): string => ('code' in error ? String(error.code) : error.name);
