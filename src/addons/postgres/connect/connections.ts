import type { Client, ClientConfig, Pool, PoolClient } from 'pg';
import { nameOfAddress, type DatabaseAddress } from '../settings/address.ts';
import { StateFailure } from '../../../core/ports/failures.ts';
import { endsConnection, failureOf, isRepeatable } from './failures.ts';
import type { Pg } from './load-pg.ts';
import { CopyIn } from './copy-in.ts';
import { checkMessages } from './message-check.ts';

const CONNECT_MS = 1_000;
const CLOSE_MS = 2_000;
const KEEP_ALIVE_MS = 10_000;
/** How often a call is made that ended in a deadlock or a serialization failure. */
const MAX_TRIES = 4;

export interface ServerOptions {
  readonly pg: Pg;
  readonly address: DatabaseAddress;
  /** PEM of the authority that signed the server's certificate. Undefined: those of Node. */
  readonly ca: string | undefined;
  readonly schema: string;
  /** Injected by tests: how many times as long a connection or an answer may take, on a machine that others use. Default: 1. */
  readonly patience?: number | undefined;
}

interface ConnectionsOptions extends ServerOptions {
  readonly size: number;
  /** Time after which the server ends a statement. */
  readonly statementMs: number;
  /** Time after which an answer is waited for no longer, and the connection is given up. */
  readonly answerMs: number;
}

/** The options of a connection. None comes from the environment: `pg` would take PGOPTIONS, PGPASSWORD, PGSSLMODE and the like. */
export function clientConfig({ address, ca, patience = 1 }: ServerOptions): ClientConfig {
  const { host, port, user, password, database, isLoopback } = address;
  const options: ClientConfig = {
    host,
    port,
    user,
    // A function: an empty text would let `pg` read PGPASSWORD and ~/.pgpass.
    password: () => password,
    database,
    application_name: 'gatehouse',
    ssl: isLoopback && ca === undefined ? false : { rejectUnauthorized: true, ...(ca !== undefined && { ca }) },
    sslnegotiation: 'postgres',
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    connectionTimeoutMillis: CONNECT_MS * patience,
  };
  return options;
}

/** A client that sends no parameter but user and database: pgbouncer refuses others, and `pg` would send PGOPTIONS. It checks what it gets. */
export function plainClient({ pg }: Pick<ServerOptions, 'pg'>): typeof Client {
  return class PlainClient extends pg.Client {
    constructor(config?: string | ClientConfig) {
      super(config);
      checkMessages(this);
    }

    getStartupConf(): object {
      const { user, database } = this;
      return { user, database, application_name: 'gatehouse' };
    }
  };
}

export class Transaction {
  readonly #client: PoolClient;

  constructor(client: PoolClient) {
    this.#client = client;
  }

  async query<Row extends object>(sql: string, ...values: unknown[]): Promise<Row[]> {
    const { rows } = await this.#client.query<Row>(sql, values);
    return rows;
  }

  async change(sql: string, ...values: unknown[]): Promise<number> {
    return (await this.#client.query(sql, values)).rowCount ?? 0;
  }

  /** Several statements without values, in one round trip. */
  async script(sql: string): Promise<void> {
    await this.#client.query(sql);
  }

  /** @param text rows in the text format of COPY */
  copy(sql: string, text: string): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#client.query(new CopyIn(sql, text, (error) => (error ? reject(error) : resolve())));
    return promise;
  }
}

/**
 * Some connections to the server. Each call is a transaction, and what it sets ends with it: behind pgbouncer in transaction mode, the next
 * transaction of a connection may run in another session. Every wait has a limit, and every failure is a `StateFailure`.
 */
export class ConnectionPool {
  readonly #pg: Pg;
  readonly #pool: Pool;
  readonly #where: string;
  readonly #begin: string;
  /** Connections that have broken, and those that could not be opened: the next one may reach another server. */
  breaks = 0;
  #closing: Promise<void> | undefined;

  constructor(options: ConnectionsOptions) {
    const { pg, address, schema, size, statementMs, answerMs, patience = 1 } = options;
    this.#pg = pg;
    this.#where = nameOfAddress(address);
    this.#begin = `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL search_path TO ${pg.escapeIdentifier(schema)};
      SET LOCAL statement_timeout = ${statementMs * patience}; SET LOCAL lock_timeout = ${statementMs * patience};
      SET LOCAL idle_in_transaction_session_timeout = ${statementMs * patience};`;
    this.#pool = new pg.Pool({
      ...clientConfig(options),
      Client: plainClient(options),
      max: size,
      query_timeout: answerMs * patience,
      types: {
        getTypeParser: (oid, format) => (oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format)),
      },
    });
    // Without listeners a connection that breaks ends the process. The next call opens another one.
    this.#pool.on('error', () => (this.breaks += 1));
    this.#pool.on('connect', (client) => client.on('error', () => {}));
  }

  /** Rolls back when `task` rejects. A deadlock repeats the whole task. @param first a statement without values, in the round trip that begins it */
  transaction<Result>(task: (transaction: Transaction) => Promise<Result>, first = ''): Promise<Result> {
    return this.#repeated(async (client) => {
      await client.query(`${this.#begin}${first}`);
      const result = await task(new Transaction(client));
      await client.query('COMMIT');
      return result;
    });
  }

  /**
   * A function that loads rows and locks them, a task over them here, and a function that saves what the task changed: a transaction of two
   * round trips, so that others wait for its rows no longer than one.
   * @param task returns its result and the input of `save`; undefined: nothing is saved
   */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- callers know the rows of their function
  exchange<Loaded, Result>(
    [load, input, save]: readonly [load: string, input: object, save: string],
    task: (loaded: Loaded) => readonly [Result, object | undefined],
  ): Promise<Result> {
    return this.#repeated(async (client) => {
      const loaded = await client.query(`${this.#begin}${this.#select(load, input)}`);
      // A text of several statements has a result for each of them.
      const { rows } = (loaded as unknown as readonly { readonly rows: readonly { readonly result: Loaded }[] }[]).at(
        -1,
      )!;
      const [result, changed] = task(rows[0]!.result);
      await client.query(changed ? `${this.#select(save, changed)};COMMIT` : 'COMMIT');
      return result;
    });
  }

  readonly #select = (name: string, input: object): string =>
    `SELECT ${name}(${this.literal(JSON.stringify(input))}) AS result`;

  /** A transaction of one statement without values, in one round trip. */
  one<Row extends object>(sql: string): Promise<Row[]> {
    return this.#one(sql, (rows: Row[]) => rows);
  }

  /** One function of the tables, a JSON value in and one out, in a transaction of its own and one round trip. */
  call<Result>(name: string, input: object): Promise<Result> {
    return this.#one(this.#select(name, input), ([row]: { result: Result }[]) => row!.result);
  }

  #one<Result>(sql: string, read: (rows: never[]) => Result): Promise<Result> {
    return this.#repeated(async (client) => {
      const results = (await client.query(`${this.#begin}${sql};COMMIT`)) as unknown as { readonly rows: never[] }[];
      return read(results.at(-2)!.rows);
    });
  }

  /** One statement outside of a transaction, for those that refuse one. */
  readonly bare = (sql: string): Promise<void> => this.#repeated(async (client) => void (await client.query(sql)));
  readonly literal = (text: string): string => this.#pg.escapeLiteral(text);

  /** May be called again. ConnectionPool that hang do not hold it. */
  close(): Promise<void> {
    this.#closing ??= Promise.race([this.#pool.end(), new Promise<void>((end) => setTimeout(end, CLOSE_MS).unref())]);
    return this.#closing;
  }

  async #repeated<Result>(task: (client: PoolClient) => Promise<Result>): Promise<Result> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#withClient(task);
      } catch (error) {
        if (!(error instanceof StateFailure) && endsConnection(error)) this.breaks += 1;
        if (tries === MAX_TRIES || !isRepeatable(error)) throw failureOf(error, this.#where);
      }
    }
  }

  async #withClient<Result>(task: (client: PoolClient) => Promise<Result>): Promise<Result> {
    if (this.#closing) throw new StateFailure('unavailable', 'the store is closed');
    const client = await this.#pool.connect();
    try {
      const result = await task(client);
      client.release();
      return result;
    } catch (error) {
      // A refusal of a rule left the transaction open, an error of the server left it aborted.
      const isUsable = error instanceof StateFailure || !endsConnection(error);
      const rolledBack =
        isUsable &&
        (await client.query('ROLLBACK').then(
          () => true,
          () => false,
        ));
      client.release(!rolledBack);
      throw error;
    }
  }
}
