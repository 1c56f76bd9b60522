import { randomBytes } from 'node:crypto';
import type { Clock } from '../../../plugin/index.ts';
import { MAX_NAMES, type Ledger, type LedgerRow } from '../../../core/ports/ledger.ts';
import { StateFailure } from '../../../core/ports/failures.ts';
import type { StateStore } from '../../../core/ports/store.ts';
import type { StoreRules } from '../../../core/ports/store-rules.ts';
import type { TableStep } from '../../../core/ports/table-steps.ts';
import { nameOfAddress } from '../settings/address.ts';
import { ConnectionPool, type ServerOptions } from '../connect/connections.ts';
import { listen } from '../connect/listener.ts';
import { migrate, missingSteps } from '../tables/migrations.ts';
import { auditOf } from './audit.ts';
import { countersOf } from './counters.ts';
import { entitiesOf, useKeys } from './entities.ts';
import { bootsOf, claimsOf, outboxOf } from './fleet.ts';
import { appendDay } from './ledger/append.ts';
import { DAY_MS } from './ledger/columns.ts';
import { dropDays, foldOldest, forgetSums, ledgerDays, tidyLedger } from './ledger/days.ts';
import { LedgerNames } from './ledger/names.ts';
import { ledgerRollups, ledgerRows } from './ledger/read.ts';
import { RecentRows } from './ledger/recent-rows.ts';
import type { StoreTools } from '../connect/store-tools.ts';
import { refuseHalf } from './move-mark.ts';
import { Versions } from './versions.ts';
import { MAX_ANSWERS, type Idempotency, type KeptAnswer } from '../../../core/ports/idempotency.ts';

const APPENDING = 2;
const READING = 2;
/** Connections of a gateway beside `connections`: the listener is one. */
export const EXTRA_CONNECTIONS = APPENDING + READING + 1;
const STATEMENT_MS = 5_000;
const ANSWER_MS = 2_000;
/** A report of a year, and the sums of a day. */
const READ_MS = 60_000;
/** A command has more time than a gateway: nothing waits for it. */
export const COMMAND_PATIENCE = 10;
const TIDY_MS = 10_000;
const CARETAKER_MS = 30_000;

export interface PostgresOptions extends ServerOptions {
  /** ConnectionPool for counters and entities; there are five others. */
  readonly connections: number;
  /** False: writes of others are found by looks alone. */
  readonly listen: boolean;
  readonly keys: string;
  readonly rules: StoreRules;
  readonly clock: Clock;
  readonly maxNames?: number | undefined;
  /** Injected by tests, in place of the clock of the database. */
  readonly now?: (() => number) | undefined;
  readonly steps?: readonly TableStep[] | undefined;
}

/** Opens the store and brings its tables to this release. It heals itself: each call takes a connection, and opens one where it needs. */
export async function openPostgresStore(options: PostgresOptions): Promise<StateStore> {
  const tools = toolsOf(options);
  try {
    // A step may take longer than any call, and another gateway may be at it.
    await migrate(tools.reads, options);
    await refuseHalf(tools);
    await useKeys(tools);
  } catch (error) {
    await closeAll(tools);
    throw error;
  }
  const { clock } = options;
  const versions = new Versions({
    clock,
    connections: tools.connections,
    listen: options.listen ? (written) => listen({ ...options, clock }, written) : undefined,
  });
  const ledger = ledgerOf(tools, clock);
  const stopTidying = tidyLater(tools, clock, () => ledger.sendAgain());
  return {
    ...readPortsOf(tools),
    entities: entitiesOf(tools, versions),
    counters: countersOf(tools),
    ledger,
    audit: auditOf(tools),
    idempotency: idempotencyOf(tools),
    boots: bootsOf(tools),
    claims: claimsOf(tools),
    outbox: outboxOf(tools),
    backup: () => Promise.reject(new StateFailure('invalid', 'the tools of PostgreSQL copy the store')),
    async close() {
      stopTidying();
      versions.close();
      await closeAll(tools);
    },
  };
}

/** For commands: reads a store that gateways may use. Rejects with `not_found` where there is none. */
export async function readPostgresStore(given: PostgresOptions) {
  const options = { patience: COMMAND_PATIENCE, ...given };
  const tools = toolsOf(options);
  try {
    const missing = await missingSteps(tools.reads, options);
    if (missing[0]?.number === 1)
      throw new StateFailure(
        'not_found',
        `${nameOfAddress(options.address)} has no store in the schema ${options.schema}`,
      );
    if (missing.length > 0)
      throw new StateFailure(
        'invalid',
        `the tables of the state store are older than this release: run \`gatehouse state migrate\``,
      );
  } catch (error) {
    await closeAll(tools);
    throw error;
  }
  return { ...readPortsOf(tools), close: () => closeAll(tools) };
}

export function toolsOf(options: PostgresOptions): StoreTools {
  const { rules, keys, connections: size, maxNames = MAX_NAMES, now } = options;
  const ring = rules.ring(keys);
  const short = { ...options, statementMs: STATEMENT_MS, answerMs: ANSWER_MS };
  return {
    rules,
    ring,
    chain: rules.auditChain(ring),
    connections: new ConnectionPool({ ...short, size }),
    appends: new ConnectionPool({ ...short, size: APPENDING, answerMs: STATEMENT_MS }),
    reads: new ConnectionPool({ ...options, size: READING, statementMs: READ_MS, answerMs: READ_MS }),
    maxNames,
    now: () => (now ? { now: now() } : {}),
  };
}

const readPortsOf = (tools: StoreTools) => {
  const { load } = entitiesOf(tools, new Versions({ clock: STILL, connections: tools.connections, listen: undefined }));
  return { entities: { load }, counters: countersOf(tools), ledger: ledgerOf(tools), audit: auditOf(tools) };
};

/** Nothing watches: no timer is set. */
const STILL: Pick<Clock, 'after' | 'now'> = { after: () => () => {}, now: () => 0 };

/** `clock` is a still one where nothing runs for long. */
export function ledgerOf(tools: StoreTools, clock: Pick<Clock, 'now'> = STILL): Ledger & Pick<RecentRows, 'sendAgain'> {
  const names = new LedgerNames(tools.appends, tools.maxNames);
  const append = async (rows: readonly LedgerRow[]): Promise<number> => {
    let added = 0;
    for (const ofDay of Map.groupBy(rows, ({ at }) => Math.floor(at / DAY_MS)).values())
      added += await appendDay(tools, names, ofDay);
    return added;
  };
  const recent = new RecentRows({ clock, append, breaks: () => tools.appends.breaks });
  return {
    sendAgain: () => recent.sendAgain(),
    async append(rows) {
      tools.rules.ledger.checkRows(rows);
      await recent.sendAgain();
      const added = await append(rows);
      recent.confirmed(rows);
      return added;
    },
    rollups: (query) => ledgerRollups(tools, query),
    rows: (query) => ledgerRows(tools, query),
    dropBefore: (day) => dropDays(tools, day),
    foldOldest: async (day) => foldOldest(tools, day),
    forgetSums: async (day) => forgetSums(tools, day),
    days: () => ledgerDays(tools),
  };
}

/**
 * One gateway at a time adds up the sums of the ledger and makes its tables. Returns a function that ends it.
 * @param sendAgain of each gateway
 */
function tidyLater(tools: StoreTools, clock: Clock, sendAgain: () => Promise<void>): () => void {
  const wish = { name: 'ledger sums', holder: randomBytes(16).toString('hex'), ms: CARETAKER_MS };
  let stop = (): void => {};
  let isStopped = false;
  const tidy = async (): Promise<void> => {
    await sendAgain();
    const { holder } = await claimsOf(tools).take(wish);
    if (holder === wish.holder) await tidyLedger(tools, Math.floor(clock.wall() / DAY_MS));
  };
  const again = (): void => {
    // The caller that loads the objects finds out that the store does not answer, and logs it.
    if (!isStopped)
      stop = clock.after(
        TIDY_MS,
        () =>
          void tidy()
            .catch(() => {})
            .finally(again),
      );
  };
  again();
  return () => {
    isStopped = true;
    stop();
  };
}

export const closeAll = async ({ connections, appends, reads }: StoreTools): Promise<void> => {
  await Promise.all([connections.close(), appends.close(), reads.close()]);
};

const idempotencyOf = ({ connections, rules, now }: StoreTools): Idempotency => ({
  async find(actor, key) {
    const [found] = await connections.one<KeptAnswer>(
      `SELECT actor, key, sha256, status, body, until FROM idem WHERE actor = ${connections.literal(actor)}
       AND key = ${connections.literal(key)} AND until > ${now().now ?? 'store_now()'}`,
    );
    return found && { ...found };
  },
  async keep(answer) {
    rules.checks.checkAnswer(answer);
    await connections.call('answer_keep', { answer, most: MAX_ANSWERS, ...now() });
  },
});
