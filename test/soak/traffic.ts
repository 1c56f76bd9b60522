import { Pool, type Dispatcher } from 'undici';

/** One request as it goes out. */
export interface Sent {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
  /** For the table of answers. */
  readonly name: string;
}

export interface Outcome {
  readonly name: string;
  /** HTTP status; 0: the connection failed. */
  readonly status: number;
  readonly ms: number;
}

class Call implements Dispatcher.DispatchHandler {
  readonly #done: (status: number) => void;
  #status = 0;
  constructor(done: (status: number) => void) {
    this.#done = done;
  }
  onRequestStart(): void {}
  onResponseStart(_: Dispatcher.DispatchController, status: number): void {
    this.#status = status;
  }
  onResponseData(): void {}
  onResponseEnd(): void {
    this.#done(this.#status);
  }
  onResponseError(): void {
    this.#done(0);
  }
}

/**
 * An open loop: requests leave at a fixed rate, whether those before them are answered or not, so a server that stalls is
 * measured for as long as it stalls.
 */
export class Traffic {
  readonly outcomes: Outcome[] = [];
  readonly #pool: Pool;
  readonly #next: () => Sent;
  readonly #everyMs: number;
  #timer: NodeJS.Timeout | undefined;
  #underWay = 0;

  constructor(url: string, perSecond: number, next: () => Sent) {
    this.#pool = new Pool(url, { connections: 256, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
    this.#next = next;
    this.#everyMs = 1000 / perSecond;
  }

  start(): void {
    const from = performance.now();
    let sent = 0;
    const step = (): void => {
      // Timers come late on a busy machine: what is due by now leaves now.
      for (; sent * this.#everyMs <= performance.now() - from; sent += 1) this.#send();
      this.#timer = setTimeout(step, this.#everyMs / 4);
    };
    step();
  }

  /** Resolves when the last request is answered, or has waited for `limitMs`. */
  async stop(limitMs: number): Promise<void> {
    clearTimeout(this.#timer);
    const until = performance.now() + limitMs;
    while (this.#underWay > 0 && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 20));
    for (let left = this.#underWay; left > 0; left -= 1)
      this.outcomes.push({ name: 'no answer', status: 0, ms: limitMs });
    await this.#pool.destroy();
  }

  #send(): void {
    const { path, headers, body, name } = this.#next();
    const from = performance.now();
    this.#underWay += 1;
    const done = (status: number): void => {
      this.#underWay -= 1;
      this.outcomes.push({ name, status, ms: performance.now() - from });
    };
    this.#pool.dispatch({ path, method: 'POST', headers, body }, new Call(done));
  }
}

/** Milliseconds below which this share of the outcomes was answered. */
export function percentile(outcomes: readonly Outcome[], share: number): number {
  const sorted = outcomes.map(({ ms }) => ms).toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
