import { networkOf } from '../../../core/kernel/network-of.ts';
import type { Clock } from '../../../plugin/index.ts';

const MAX_FAILURES = 10;
const WINDOW_MS = 60_000;
/** Networks that are counted. The one that began longest ago is forgotten first. */
const MAX_NETWORKS = 1_000;

/** Wrong tokens by network of the client: a bound of what guessing costs the gateway, its log and its audit. */
export class Failures {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #windows = new Map<string, { readonly from: number; count: number }>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  isBlocked(address: string): boolean {
    const window = this.#windows.get(networkOf(address));
    return window !== undefined && window.count >= MAX_FAILURES && this.#clock.now() - window.from < WINDOW_MS;
  }

  count(address: string): void {
    const network = networkOf(address);
    const now = this.#clock.now();
    const window = this.#windows.get(network);
    if (window && now - window.from < WINDOW_MS) {
      window.count += 1;
      return;
    }
    this.#windows.delete(network);
    this.#windows.set(network, { from: now, count: 1 });
    if (this.#windows.size > MAX_NETWORKS) this.#windows.delete(this.#windows.keys().next().value ?? '');
  }
}
