import type { Logger } from 'pino';
import type { Clock } from '../../plugin/index.ts';
import type { Ledger } from '../../state/ledger.ts';
import type { AnsweringStore } from './counted.ts';

const DAY_MS = 86_400_000;
/** After the start, and between two days that are dropped: the store has other work. */
const PACE_MS = 10_000;
/** Between two looks that found nothing to drop. */
const LOOK_MS = 3_600_000;

export interface RetentionSetup {
  readonly clock: Clock;
  readonly log: Pick<Logger, 'info' | 'error'>;
  readonly state: AnsweringStore;
  readonly ledgerDays: number;
}

/** Drops the days of the ledger whose time is over, one at a time. Their sums by day stay. */
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
      void this.#look().then((hasDropped) => this.#lookAfter(hasDropped ? PACE_MS : LOOK_MS));
    });
  }

  async #look(): Promise<boolean> {
    const { state, log } = this.#setup;
    const ledger = state.store?.ledger;
    if (!ledger) return false;
    try {
      return await this.#dropOldest(ledger);
    } catch (err) {
      log.error({ err }, 'old days of the ledger could not be dropped');
      return false;
    }
  }

  async #dropOldest(ledger: Ledger): Promise<boolean> {
    const { clock, log, ledgerDays } = this.#setup;
    const [oldest] = await ledger.days();
    const first = dayOf(clock.wall() - ledgerDays * DAY_MS);
    if (oldest === undefined || oldest >= first) return false;
    await ledger.dropBefore(dayOf(Date.parse(oldest) + DAY_MS));
    log.info({ day: oldest }, 'the rows of a day of the ledger were dropped');
    return true;
  }
}

/** UTC. */
const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);
