import {
  LEASE_MS,
  type Boot,
  type CounterRef,
  type Grant,
  type LeaseRequest,
  type TakeResult,
} from '../../../core/ports/counters.ts';
import type { StoreTools } from '../connect/store-tools.ts';

/** With more the first ones are forgotten, whose next take needs two round trips. */
const MAX_COUNTERS = 10_000;

/**
 * Takes near caps: one function of the database instead of the rules here and two round trips, since requests wait for them. It is asked where
 * all counters of the call were tight when this gateway heard of them last.
 */
export class TightTakes {
  readonly #tools: StoreTools;
  readonly #tight = new Set<string>();

  constructor(tools: StoreTools) {
    this.#tools = tools;
  }

  /** Undefined: the rules have to decide it. */
  async take(requests: readonly LeaseRequest[], by: Boot, batch: number): Promise<TakeResult | undefined> {
    if (!this.#areTight(requests)) return undefined;
    const { connections, rules, now } = this.#tools;
    rules.checks.checkTake(requests, by, batch);
    const asks = requests.map(({ path, caps, need, want, covers }, place) => ({
      place,
      ...path[0]!,
      cap: caps[0],
      need,
      want,
      ...(covers?.[0] ?? { lease: 0, total: 0 }),
    }));
    const input = { asks, boot: by.id, by, batch, live: LEASE_MS, ...now() };
    return (await connections.call<TakeResult | null>('take_tight', input)) ?? undefined;
  }

  #areTight(requests: readonly LeaseRequest[]): boolean {
    const names = new Set(requests.map(({ path }) => nameOf(path[0])));
    return (
      names.size > 0 &&
      names.size === requests.length &&
      requests.every(({ path, caps }) => path.length === 1 && caps[0] !== undefined && this.#tight.has(nameOf(path[0])))
    );
  }

  heard(grants: readonly Grant[]): void {
    for (const { leases } of grants)
      for (const { counter } of leases) {
        if (!counter) continue;
        const name = nameOf(counter);
        this.#tight.delete(name);
        if (counter.tight && counter.tight.since > 0) this.#tight.add(name);
      }
    for (const name of this.#tight) {
      if (this.#tight.size <= MAX_COUNTERS) return;
      this.#tight.delete(name);
    }
  }
}

const nameOf = (ref: CounterRef | undefined): string => `${ref?.period} ${ref?.node}`;
