import type { Logger } from 'pino';
import type { Clock } from '../../../plugin/index.ts';
import type { RetentionDays } from '../settings/state.ts';
import type { Ledger } from '../../../core/ports/ledger.ts';
import type { StateStore } from '../../../core/ports/store.ts';
import type { StoreHandle } from '../../../core/ports/store-handle.ts';

const DAY_MS = 86_400_000;
/** Pause after the start, and between two days that are dropped or folded: the store has other work. */
const PACE_MS = 10_000;
/** Pause after a look that found nothing to do. */
const LOOK_MS = 3_600_000;

interface RetentionSetup {
  readonly clock: Clock;
  readonly log: Pick<Logger, 'info' | 'error'>;
  readonly state: StoreHandle;
  readonly days: RetentionDays;
}

const SYSTEM = { id: 'gatehouse', role: 'system' } as const;

/** Drops the days of the ledger whose time is over, one at a time, folds the hours of others, and drops old rows of the audit. */
export class Retention {
  readonly #setup: RetentionSetup;
  #stopTimer = (): void => {};
  #stopped = false;

  constructor(setup: RetentionSetup) {
    this.#setup = setup;
  }

  start(): void {
    this.#lookAfter(PACE_MS);
  }

  stop(): void {
    this.#stopped = true;
    this.#stopTimer();
  }

  #lookAfter(ms: number): void {
    if (this.#stopped) return;
    this.#stopTimer = this.#setup.clock.after(ms, () => {
      void this.#look().then((hasMore) => this.#lookAfter(hasMore ? PACE_MS : LOOK_MS));
    });
  }

  async #look(): Promise<boolean> {
    const { state, log } = this.#setup;
    const { store } = state;
    if (!store) return false;
    try {
      return (
        (await this.#dropOldest(store.ledger)) || (await this.#foldOldest(store)) || (await this.#dropAudit(store))
      );
    } catch (err) {
      log.error({ err }, 'old days of the ledger or of the audit could not be dropped');
      return false;
    }
  }

  async #dropOldest(ledger: Ledger): Promise<boolean> {
    const [oldest] = await ledger.days();
    if (oldest === undefined || oldest >= this.#firstOf('ledger')) return false;
    await ledger.dropBefore(dayOf(Date.parse(oldest) + DAY_MS));
    this.#setup.log.info({ day: oldest }, 'the rows of a day of the ledger were dropped');
    return true;
  }

  async #foldOldest({ ledger }: StateStore): Promise<boolean> {
    await ledger.forgetSums(this.#firstOf('sums'));
    return ledger.foldOldest(this.#firstOf('hours'));
  }

  /** By whole days: each removal adds a row. */
  async #dropAudit({ audit }: StateStore): Promise<boolean> {
    const dropped = await audit.dropBefore(Date.parse(this.#firstOf('audit')), SYSTEM);
    if (dropped > 0) this.#setup.log.info({ rows: dropped }, 'old rows of the audit were dropped');
    return false;
  }

  #firstOf(what: keyof RetentionDays): string {
    const { clock, days } = this.#setup;
    return dayOf(clock.wall() - days[what] * DAY_MS);
  }
}

/** UTC. Before 1970 nothing was kept. */
const dayOf = (at: number): string => new Date(Math.max(0, at)).toISOString().slice(0, 10);
