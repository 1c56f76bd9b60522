import type { Clock } from '../../../plugin/index.ts';

const WINDOW_MS = 60_000;
/** The key that was first counted longest ago is forgotten first. */
const MAX_KEYS = 1_000;

/** Counts failures by key within a minute: a bound of what they cost the gateway, its log and its audit. */
export class Failures {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #most: number;
  readonly #windows = new Map<string, { readonly from: number; count: number }>();

  constructor(clock: Pick<Clock, 'now'>, most: number) {
    this.#clock = clock;
    this.#most = most;
  }

  isFull(key: string): boolean {
    return (this.#windowOf(key)?.count ?? 0) >= this.#most;
  }

  count(key: string): void {
    const window = this.#windowOf(key);
    if (window) {
      window.count += 1;
      return;
    }
    this.#windows.delete(key);
    this.#windows.set(key, { from: this.#clock.now(), count: 1 });
    if (this.#windows.size > MAX_KEYS) this.#windows.delete(this.#windows.keys().next().value ?? '');
  }

  #windowOf(key: string): { count: number } | undefined {
    const window = this.#windows.get(key);
    return window && this.#clock.now() - window.from < WINDOW_MS ? window : undefined;
  }
}
