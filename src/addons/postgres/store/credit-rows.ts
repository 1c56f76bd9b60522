import {
  CREDIT_PARTS,
  type Boot,
  type CounterRef,
  type CounterState,
  type CreditUse,
  type Tightness,
} from '../../../core/ports/counters.ts';
import type { CreditBoot, CreditTables, TightCounter } from '../../../core/ports/store-rules.ts';

/** The rows of standing credit that `credit_load` has read. */
export interface LoadedCredit {
  readonly lastChange: number;
  readonly tight: readonly (CounterRef & { readonly tight: Tightness })[];
  readonly uses?: readonly CreditBoot[];
  /** A process of a release lives that does not heed the credit of others. */
  readonly isMixed?: boolean;
  /** Of other counters, the first ones after the number that was asked for. */
  readonly changes?: readonly TightCounter[];
}

/** The call needs the lock of standing credit, which comes before those of counters: it has to begin anew. */
export class LockComesFirst extends Error {}

interface CreditRowsSetup {
  readonly loaded: LoadedCredit;
  readonly now: number;
  readonly isLocked: boolean;
  readonly counters: () => Iterable<CounterState>;
  readonly save: (changed: object) => void;
}

export class CreditRows implements CreditTables {
  readonly #setup: CreditRowsSetup;
  readonly #uses: Map<Boot['id'], CreditBoot>;
  #lastChange: number;

  constructor(setup: CreditRowsSetup) {
    const { loaded, now } = setup;
    this.#setup = setup;
    this.#uses = new Map((loaded.uses ?? []).map((use) => [use.id, use]));
    // It stands for those that grant whatever a cap leaves: no part is left for others.
    if (loaded.isMixed)
      this.#uses.set('', { id: '', parts: CREDIT_PARTS, knows: Number.MAX_SAFE_INTEGER, seenAt: now });
    this.#lastChange = loaded.lastChange;
  }

  /** @throws LockComesFirst */
  lock(): void {
    if (!this.#setup.isLocked) throw new LockComesFirst();
  }

  boots(): readonly CreditBoot[] {
    return [...this.#uses.values()];
  }

  /** A process that has saved its time is seen now. */
  seen(boot: Boot['id']): void {
    const use = this.#uses.get(boot);
    if (use) this.#uses.set(boot, { ...use, seenAt: this.#setup.now });
  }

  saveUse(id: Boot['id'], use: CreditUse | undefined): void {
    const { save, now } = this.#setup;
    if (use) this.#uses.set(id, { id, ...use, seenAt: now });
    else this.#uses.delete(id);
    save({ use: { id, ...use } });
  }

  lastChange(): number {
    return this.#lastChange;
  }

  saveLastChange(change: number): void {
    this.#lastChange = change;
    this.#setup.save({ change });
  }

  changedAfter(change: number, most: number): readonly TightCounter[] {
    const { loaded, counters } = this.#setup;
    return [...(loaded.changes ?? []), ...counters()]
      .filter(({ tight }) => tight && tight.change > change)
      .toSorted((one, other) => one.tight!.change - other.tight!.change)
      .slice(0, most);
  }
}
