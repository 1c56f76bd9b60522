import { Pool, type Dispatcher } from 'undici';

export interface LoadResult {
  readonly requests: number;
  readonly failures: number;
  /** Milliseconds, sorted. */
  readonly latencies: readonly number[];
}

class Call implements Dispatcher.DispatchHandler {
  readonly #done: (ok: boolean) => void;
  #status = 0;
  constructor(done: (ok: boolean) => void) {
    this.#done = done;
  }
  onRequestStart(): void {}
  onResponseStart(_: Dispatcher.DispatchController, status: number): void {
    this.#status = status;
  }
  onResponseData(): void {}
  onResponseEnd(): void {
    this.#done(this.#status === 200);
  }
  onResponseError(): void {
    this.#done(false);
  }
}

/** A closed loop: `concurrency` callers, each sending its next request when the last is answered, `total` requests in all. */
export async function load(
  target: { url: string; path: string; headers: Record<string, string>; body: string },
  concurrency: number,
  total: number,
): Promise<LoadResult> {
  const pool = new Pool(target.url, { connections: concurrency, pipelining: 1 });
  const latencies: number[] = [];
  let sent = 0;
  let failures = 0;
  const caller = async (): Promise<void> => {
    while (sent < total) {
      sent += 1;
      const from = performance.now();
      const ok = await new Promise<boolean>((resolve) => {
        pool.dispatch(
          { path: target.path, method: 'POST', headers: target.headers, body: target.body },
          new Call(resolve),
        );
      });
      latencies.push(performance.now() - from);
      if (!ok) failures += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, caller));
  await pool.close();
  return { requests: latencies.length, failures, latencies: latencies.sort((a, b) => a - b) };
}
