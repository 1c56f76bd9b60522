/** Closed loops of few requests, which are much shorter than the times in which a machine with neighbours changes its speed. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool, type Dispatcher } from 'undici';
import { PORT, type Load } from './load.ts';

/** By then the gateway has written the records and lines of the last requests. */
const SETTLE_MS = 15;

export interface Bursts {
  /** Returns the number of requests. Throws if one of them failed. */
  send(): Promise<number>;
  close(): Promise<void>;
}

/** @param count requests of a burst */
export function openBursts({ path, headers, body, connections, port = PORT }: Load, count: number): Bursts {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections, pipelining: 1, keepAliveTimeout: 600_000 });
  const request: Dispatcher.DispatchOptions = {
    path,
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: readFileSync(body),
  };
  const sendOne = (): Promise<void> =>
    new Promise((resolve, reject) => {
      pool.dispatch(request, {
        onRequestStart() {},
        onResponseStart(_, status) {
          if (status !== 200) reject(new Error(`a reply has the status ${status}`));
        },
        onResponseData() {},
        onResponseEnd: () => resolve(),
        onResponseError: (_, error) => reject(error),
      });
    });
  return {
    async send() {
      let left = count;
      const sendNext = async (): Promise<void> => {
        for (; left > 0; await sendOne()) left -= 1;
      };
      await Promise.all(Array.from({ length: connections }, sendNext));
      await sleep(SETTLE_MS);
      return count;
    },
    close: () => pool.close(),
  };
}
