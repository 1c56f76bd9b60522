import { LEASE_MS } from '../../core/ports/counters.ts';
import { StateFailure } from '../../core/ports/failures.ts';
import type { ExamineTools } from '../../core/process/add-on-parts.ts';
import { error, ok, warning, type Finding } from '../../core/process/finding.ts';
import type { TableStep } from '../../core/ports/table-steps.ts';
import { ConnectionPool } from './connect/connections.ts';
import { optionsOf, POSTGRES, type PostgresEntry } from './driver.ts';
import { EXTRA_CONNECTIONS, type PostgresOptions } from './store/state-store.ts';
import { missingSteps } from './tables/migrations.ts';

const CHECK = 'PostgreSQL';
/** Expiry of keys and periods of budgets follow the clock of each gateway. */
const MOST_APART_MS = 2_000;

interface Server {
  readonly version: string;
  readonly max: number;
  readonly now: number;
  readonly inRecovery: boolean;
  /** The user may make the tables, or write to them if they are there. */
  readonly mayWrite: boolean;
}

/** Findings on the server of the state store. Never rejects. */
export async function examineStore(
  entry: PostgresEntry,
  { clock, timeoutMs }: ExamineTools,
): Promise<readonly Finding[]> {
  let pool: ConnectionPool | undefined;
  try {
    const options = await optionsOf(entry, { clock, keys: '' });
    pool = new ConnectionPool({
      ...options,
      size: 1,
      statementMs: 1_000,
      answerMs: 1_000,
      patience: timeoutMs / 1_000,
    });
    const schema = pool.literal(options.schema);
    // The first answer comes after the connection was made.
    await pool.one('SELECT 1');
    const began = clock.wall();
    const [server] = await pool.one<Server>(
      `SELECT current_setting('server_version') AS version, current_setting('max_connections')::integer AS max,
         (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now, pg_is_in_recovery() AS "inRecovery",
         CASE WHEN to_regclass('entity') IS NOT NULL THEN has_table_privilege('entity', 'INSERT')
           WHEN to_regnamespace(${schema}) IS NOT NULL THEN has_schema_privilege(${schema}, 'CREATE')
           ELSE has_database_privilege(current_database(), 'CREATE') END AS "mayWrite"`,
    );
    // The answer is of some moment between the two.
    const half = (clock.wall() - began) / 2;
    const apart = Math.round(server!.now - began - half);
    const missing = await missingSteps(pool, options);
    return [
      reached(server!, options, POSTGRES.nameOf(entry)),
      tablesOf(missing, options),
      connectionsOf(server!, options, await gatewaysOn(pool, missing.length)),
      Math.abs(apart) - half <= MOST_APART_MS
        ? ok(`${CHECK} clock`, `${apart} ms from the one of this machine`)
        : warning(
            `${CHECK} clock`,
            `${apart} ms from the one of this machine: keys expire and budgets begin at other times on each gateway`,
          ),
    ];
  } catch (failure) {
    if (!(failure instanceof StateFailure)) throw failure;
    return [error(CHECK, failure.message)];
  } finally {
    await pool?.close();
  }
}

function reached({ version, inRecovery, mayWrite }: Server, options: PostgresOptions, name: string): Finding {
  const { address, ca, schema } = options;
  if (inRecovery)
    return error(CHECK, `${name} is a standby, which takes no writes: \`url\` has to lead to the primary`);
  if (!mayWrite)
    return error(
      CHECK,
      `${name}: the user of \`url\` may not write to the schema ${schema}: let it own that, or the database`,
    );
  const tls =
    address.isLoopback && ca === undefined ? 'without TLS on a loopback address' : 'over TLS, its certificate is valid';
  return ok(CHECK, `${name} answers, release ${version}, ${tls}`);
}

function tablesOf(missing: readonly TableStep[], { schema }: PostgresOptions): Finding {
  const check = `${CHECK} tables`;
  if (missing.length === 0) return ok(check, 'they are those of this release');
  if (missing[0]!.number === 1) return ok(check, `the schema ${schema} has none yet: the first start makes them`);
  const steps = `${missing.length} steps are missing`;
  return warning(check, `${steps}: the next start, or \`gatehouse state migrate\`, adds them`);
}

/** Gateways that have been seen; a first start has made no tables yet. */
async function gatewaysOn(pool: ConnectionPool, missing: number): Promise<number> {
  if (missing > 0) return 1;
  const [found] = await pool.one<{ count: number }>(
    `SELECT count(*) AS count FROM boot WHERE shown_at > store_now() - ${LEASE_MS}`,
  );
  return Math.max(1, found!.count);
}

/** The other half is for a rolling update, which doubles the gateways, and for people. */
function connectionsOf({ max }: Server, { connections }: PostgresOptions, gateways: number): Finding {
  const each = connections + EXTRA_CONNECTIONS;
  const most = Math.floor(max / 2 / each);
  const check = `${CHECK} connections`;
  const needed = `${gateways} × ${each} connections`;
  return gateways <= most
    ? ok(check, `${needed} of max_connections ${max}: enough for ${most} gateways`)
    : warning(
        check,
        `${needed} are more than half of max_connections (${max}): raise it, or put pgbouncer in front with \`listen: false\``,
      );
}
