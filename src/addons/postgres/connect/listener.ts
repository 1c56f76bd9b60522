import type { Client } from 'pg';
import type { Clock } from '../../../plugin/index.ts';
import { clientConfig, plainClient, type ServerOptions } from './connections.ts';

const AGAIN_MS = 1_000;
/** A connection whose packets vanish says nothing: an answer to a query now and then shows that it lives. */
const PROBE_MS = 10_000;
const ANSWER_MS = 2_000;

interface ListenerSetup extends ServerOptions {
  readonly clock: Pick<Clock, 'after'>;
}

/**
 * A connection of its own for notifications, which need a session. It is opened again when it ends, by one loop. @param written called with
 * each number that a writer sends. Returns a function that ends it.
 */
export function listen(setup: ListenerSetup, written: (version: number) => void): () => void {
  const listener = new Listener(setup, written);
  listener.start();
  return () => listener.close();
}

class Listener {
  readonly #setup: ListenerSetup;
  readonly #written: (version: number) => void;
  #client: Client | undefined;
  #stopTimer = (): void => {};
  #isClosed = false;

  constructor(setup: ListenerSetup, written: (version: number) => void) {
    this.#setup = setup;
    this.#written = written;
  }

  start(): void {
    void this.#run();
  }

  close(): void {
    this.#isClosed = true;
    this.#stopTimer();
    this.#end();
  }

  /** The one loop: connects, listens, probes, and begins again when any of these fails. Never rejects. */
  async #run(): Promise<void> {
    let wait = AGAIN_MS;
    try {
      if (!this.#client) await this.#connect();
      await this.#client?.query('SELECT 1');
      wait = PROBE_MS;
    } catch {
      this.#end();
    }
    if (this.#isClosed) this.#end();
    else this.#stopTimer = this.#setup.clock.after(wait, () => void this.#run());
  }

  async #connect(): Promise<void> {
    const client = new (plainClient(this.#setup))({ ...clientConfig(this.#setup), query_timeout: ANSWER_MS });
    this.#client = client;
    client.on('error', () => {
      if (this.#client === client) this.#end();
    });
    client.on('notification', ({ payload }) => {
      const version = Number(payload);
      if (Number.isSafeInteger(version)) this.#written(version);
    });
    await client.connect();
    await client.query(`LISTEN ${client.escapeIdentifier(`gatehouse_${this.#setup.schema}`)}`);
  }

  #end(): void {
    const client = this.#client;
    this.#client = undefined;
    // A connection that hangs never answers to its end.
    client?.end().catch(() => {});
  }
}
