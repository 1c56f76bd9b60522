import type { Logger } from 'pino';
import type { Clock } from '../../plugin/index.ts';
import type { StoreHandle } from './store-handle.ts';

const LOOK_MS = 3_600_000;

export interface AuditHeadSetup {
  readonly clock: Pick<Clock, 'after'>;
  readonly log: Pick<Logger, 'info' | 'error'>;
  readonly state: StoreHandle;
}

/**
 * Writes the hash of the last audit row to the log at the start and each hour in which there are new rows. The chain of hashes does not show
 * that its last rows were removed; a hash that is kept elsewhere does.
 */
export class AuditHead {
  readonly #setup: AuditHeadSetup;
  #last = 0;
  #isStopped = false;
  #stopTimer = (): void => {};

  constructor(setup: AuditHeadSetup) {
    this.#setup = setup;
  }

  start(): void {
    void this.#look().finally(() => {
      if (!this.#isStopped) this.#stopTimer = this.#setup.clock.after(LOOK_MS, () => this.start());
    });
  }

  stop(): void {
    this.#isStopped = true;
    this.#stopTimer();
  }

  /** Never rejects. */
  async #look(): Promise<void> {
    const { log, state } = this.#setup;
    try {
      const [row] = (await state.store?.audit.rows({ limit: 1 })) ?? [];
      if (!row || row.seq === this.#last) return;
      this.#last = row.seq;
      log.info({ seq: row.seq, hash: row.hash }, 'the last row of the audit');
    } catch (err) {
      log.error({ err }, 'the last row of the audit could not be read');
    }
  }
}
