import type { ServerResponse } from 'node:http';
import type { Exchange } from '../../plugin/index.ts';

/** A request whose body is being read. */
export interface Upload {
  readonly exchange: Pick<Exchange, 'startedAt'>;
  readonly res: ServerResponse;
}

/**
 * An upload older than this is slow. A body of 48 MiB takes less at 400 Mbit/s. A shorter time would drop ordinary
 * uploads whenever the gateway is full, and each of their retries too.
 */
export const SLOW_MS = 1000;

/** Requests whose bodies are being read, the oldest first. Bounded by the requests in flight. */
export class Uploads<T extends Upload> {
  readonly #reading = new Set<T>();

  add(upload: T): void {
    this.#reading.add(upload);
  }

  delete(upload: T): void {
    this.#reading.delete(upload);
  }

  /**
   * Uploads older than `SLOW_MS`. This is also where completed bodies are removed: most complete before anything looks
   * for slow ones.
   */
  *slow(now: number): Generator<T> {
    for (const upload of this.#reading) {
      if (upload.res.req.complete) this.#reading.delete(upload);
      else if (now - upload.exchange.startedAt < SLOW_MS) return;
      else yield upload;
    }
  }
}
