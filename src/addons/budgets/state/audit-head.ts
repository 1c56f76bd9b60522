import type { Logger } from 'pino';
import type { Clock } from '../../../plugin/index.ts';
import type { KnownRow } from '../../../core/ports/audit.ts';
import type { StoreHandle } from '../../../core/ports/store-handle.ts';

const LOOK_MS = 3_600_000;

interface AuditHeadSetup {
  readonly clock: Pick<Clock, 'after'>;
  readonly log: Pick<Logger, 'info' | 'error'>;
  readonly state: StoreHandle;
}

/** Logs the hash of the last audit row at the start and hourly: only a hash kept elsewhere shows removed rows. */
export class AuditHead {
  readonly #setup: AuditHeadSetup;
  #last: KnownRow | undefined;
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
      const audit = state.store?.audit;
      if (!audit) return;
      const [row] = await audit.rows({ limit: 1 });
      const known = this.#last;
      const before =
        known && row && row.seq > known.seq ? (await audit.rows({ before: known.seq + 1, limit: 1 }))[0] : row;
      if (known && !isKept(known, row, before))
        log.error(known, 'rows of the audit were removed: this one was the last, and is gone or has another hash');
      if (!row || (row.seq === known?.seq && row.hash === known.hash)) return;
      this.#last = { seq: row.seq, hash: row.hash };
      log.info(this.#last, 'the last row of the audit');
    } catch (err) {
      log.error({ err }, 'the last row of the audit could not be read');
    }
  }
}

/** @param before the last row up to the known one. Without it, the known one was dropped with all older rows, as retention does. */
function isKept(known: KnownRow, last: KnownRow | undefined, before: KnownRow | undefined): boolean {
  if (!last || last.seq < known.seq) return false;
  return before === undefined || (before.seq === known.seq && before.hash === known.hash);
}
