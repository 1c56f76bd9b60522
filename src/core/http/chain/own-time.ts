import type { Clock } from '../../../plugin/index.ts';
import type { Middleware } from '../../kernel/index.ts';
import type { Guard } from './instance.ts';

/** All requests of the process wait while a plugin computes. */
const BLOCKED_MS = 50;

/** Time that is reported already, of all plugins: what a plugin calls may be the code of another one. */
let reported = 0;

/** Measures the time that an external plugin holds the event loop. */
export class OwnTime {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #onBlocked: (ms: number) => void;
  /** Time of the rest of the chain within the current measurement. */
  #others = 0;
  #from: number | undefined;
  #before = 0;

  constructor(clock: Pick<Clock, 'now'>, onBlocked: (ms: number) => void) {
    this.#clock = clock;
    this.#onBlocked = onBlocked;
  }

  /** Runs the plugin's code, up to its first pause. */
  measure<T>(own: () => T): T {
    const [from, before] = [this.#clock.now(), reported];
    this.#others = 0;
    try {
      return own();
    } finally {
      this.#end(from, before);
    }
  }

  /** Runs code of others that the plugin calls. */
  leaveOut<T>(others: () => T): T {
    const from = this.#clock.now();
    try {
      return others();
    } finally {
      this.#others += this.#clock.now() - from;
    }
  }

  /** Begins a measurement, which `stop` ends. */
  begin(): void {
    [this.#from, this.#before] = [this.#clock.now(), reported];
    this.#others = 0;
  }

  stop(): void {
    if (this.#from !== undefined) this.#end(this.#from, this.#before);
    this.#from = undefined;
  }

  #end(from: number, before: number): void {
    const ms = this.#clock.now() - from - Math.max(this.#others, reported - before);
    if (ms <= BLOCKED_MS) return;
    reported += ms;
    this.#onBlocked(ms);
  }
}

/** The middleware of an external plugin, which is named when it holds the event loop. Nothing else stands between it and the plugin. */
export const timed =
  (plugin: string, middleware: Middleware, { clock, onFault }: Guard): Middleware =>
  (ctx, next) => {
    const time = new OwnTime(clock, (ms) =>
      onFault({ kind: 'blocked', plugin, requestId: ctx.exchange.id, error: undefined, ms }),
    );
    const timedNext = (): Promise<void> => {
      const done = time.leaveOut(next);
      const begin = (): void => time.begin();
      done.then(begin, begin);
      // Behind the plugin's own `await`, which it begins when `next` has returned: what runs in between is the plugin's code.
      queueMicrotask(() => {
        const stop = (): void => time.stop();
        done.then(stop, stop);
      });
      return done;
    };
    return time.measure(() => middleware(ctx, timedNext));
  };
