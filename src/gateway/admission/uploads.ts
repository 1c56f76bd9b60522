import type { ServerResponse } from 'node:http';
import type { Exchange } from '../../plugin/index.ts';

/** A request whose body is being read. */
export interface Upload {
  readonly exchange: Pick<Exchange, 'startedAt'>;
  readonly res: ServerResponse;
}

/**
 * A body of 48 MiB takes less at 400 Mbit/s. A shorter time would drop ordinary uploads whenever the gateway is full, and each of
 * their retries with them.
 */
export const SLOW_MS = 1000;

/** Requests whose bodies are half read, the oldest first. Bounded by the requests under way. */
export class Uploads<T extends Upload> {
  readonly #reading = new Set<T>();

  add(upload: T): void {
    this.#reading.add(upload);
  }

  delete(upload: T): void {
    this.#reading.delete(upload);
  }

  /** Those that take longer than `SLOW_MS`. Bodies that are there by now are sorted out here: most are before anything looks for them. */
  *slow(now: number): Generator<T> {
    for (const upload of this.#reading) {
      if (upload.res.req.complete) this.#reading.delete(upload);
      else if (now - upload.exchange.startedAt < SLOW_MS) return;
      else yield upload;
    }
  }
}
