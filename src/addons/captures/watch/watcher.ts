import type { Exchange } from '../../../core/kernel/index.ts';
import type { Taps } from '../../../core/kernel/taps.ts';
import { boundRecord } from '../../../core/record/bounded-record.ts';
import { recordJson } from '../../../core/record/json.ts';
import { recordOf } from '../../../core/record/make-record.ts';
import { mayHaveState, recordFilter, type RecordQuery } from '../../../core/record/record-query.ts';
import type { Clock, ReplyEnd } from '../../../plugin/index.ts';
import { TooManyCredentials } from './redaction.ts';
import { SeenExchange } from './seen-exchange.ts';

/** The requests that a process watches for. Plain values: it goes to workers. */
export interface Watched {
  readonly id: string;
  readonly query: Omit<RecordQuery, 'limit'>;
  /** Requests that this process takes at most. */
  readonly requests: number;
  /** For how long. */
  readonly ms: number;
}

/** A request that fits some captures. Plain: it goes to the process that has the listener for operators. */
export interface Caught {
  readonly captures: readonly string[];
  /** A `CapturedExchange` as JSON. Undefined: it is too large. */
  readonly line: string | undefined;
}

/** Requests that are watched at a time, and the bytes of all of them: further ones count as too large. */
const MAX_WATCHED = 256;
const MAX_BYTES = 32 * 1024 * 1024;

interface Running extends Watched {
  left: number;
  readonly begun: number;
  readonly fits: ReturnType<typeof recordFilter>;
  readonly stop: () => void;
}

interface WatcherSetup {
  readonly clock: Clock;
  readonly taps: Taps;
  readonly secrets: () => readonly string[];
  readonly caught: (caught: Caught) => void;
}

/** Watches the requests of this process while a capture runs. Without one it has nothing, and no request calls it. */
export class Watcher {
  readonly #setup: WatcherSetup;
  readonly #running = new Map<string, Running>();
  readonly #seen = new Map<Exchange, SeenExchange>();
  #bytes = 0;

  constructor(setup: WatcherSetup) {
    this.#setup = setup;
  }

  /** Requests under way of which it has bytes. */
  get size(): number {
    return this.#seen.size;
  }

  begin(watched: Watched): void {
    const { clock, taps } = this.#setup;
    const { id, query, requests, ms } = watched;
    const stop = clock.after(ms, () => this.end(id));
    const fits = recordFilter({ ...query, limit: 1 });
    this.#running.set(id, { ...watched, left: requests, begun: clock.now(), fits, stop });
    taps.calling = (exchange, attempt, call, record) => this.#of(exchange).calling(attempt, call, record);
    taps.replying = (exchange, reply) => this.#of(exchange).replying(reply);
  }

  /** Ends one capture. After the last one, what was seen so far is dropped, and requests are no longer watched. */
  end(id: string): void {
    this.#running.get(id)?.stop();
    this.#running.delete(id);
    if (this.#running.size > 0) return;
    const { taps } = this.#setup;
    taps.calling = taps.replying = undefined;
    // Those that still run go on without being seen.
    for (const seen of this.#seen.values()) seen.drop();
    this.#seen.clear();
    this.#bytes = 0;
  }

  endAll(): void {
    for (const id of this.#running.keys()) this.end(id);
  }

  #of(exchange: Exchange): SeenExchange {
    const known = this.#seen.get(exchange);
    if (known) return known;
    const seen = new SeenExchange(exchange, this.#setup.clock.now, this.#room);
    if (this.#seen.size >= MAX_WATCHED) seen.drop();
    this.#seen.set(exchange, seen);
    exchange.onEnd((end) => this.#ended(seen, end));
    return seen;
  }

  readonly #room = (bytes: number): boolean => {
    this.#bytes += bytes;
    return this.#bytes <= MAX_BYTES;
  };

  #ended(seen: SeenExchange, end: ReplyEnd): void {
    // The last capture may have ended meanwhile.
    if (!this.#seen.delete(seen.exchange)) return;
    this.#bytes -= seen.bytes;
    const { clock, secrets, caught } = this.#setup;
    const { exchange } = seen;
    const endedAt = clock.now();
    const receivedAt = clock.wall() - (endedAt - exchange.startedAt);
    const record = recordOf(exchange, end, { endedAt, receivedAt });
    const json = recordJson(boundRecord(record));
    const fitting = [...this.#running.values()].filter(
      // Of a request that began before, the first calls are not known.
      ({ begun, query, fits }) =>
        exchange.startedAt >= begun && mayHaveState(record.state, query.state) && (!fits || fits(json)),
    );
    if (fitting.length === 0) return;
    const line = seen.isTooLarge ? undefined : lineOf(() => seen.describe(secrets(), record));
    caught({ captures: fitting.map(({ id }) => id), line });
    for (const one of fitting) {
      if (line !== undefined) one.left -= 1;
      if (one.left <= 0) this.end(one.id);
    }
  }
}

/** Undefined: it cannot be redacted in a short time. */
function lineOf(describe: () => object): string | undefined {
  try {
    return JSON.stringify(describe());
  } catch (error) {
    if (error instanceof TooManyCredentials) return undefined;
    throw error;
  }
}
