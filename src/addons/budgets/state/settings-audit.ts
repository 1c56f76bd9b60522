import type { Logger } from 'pino';
import type { Clock } from '../../../plugin/index.ts';
import type { AuditEvent } from '../../../core/ports/audit.ts';
import type { StateStore } from '../../../core/ports/store.ts';
import { oneAtATime } from '../../../core/process/one-at-a-time.ts';

/** Rows that wait for the store. */
const MAX_WAITING = 100;
const AGAIN_MS = 5000;
const BY = { id: 'gateway', role: 'system' } as const;

interface SettingsAuditSetup {
  readonly clock: Pick<Clock, 'after'>;
  readonly log: Pick<Logger, 'error'>;
  readonly state: { readonly store: Pick<StateStore, 'audit'> | undefined };
}

/** Writes reloads, and starts with other settings than the last row has, to the audit. Rows wait while the store is away. */
export class SettingsAudit {
  readonly #setup: SettingsAuditSetup;
  /** The hash of the settings of the start, until it has been compared with the last row. */
  #started: string | undefined;
  readonly #waiting: AuditEvent[] = [];
  readonly #run = oneAtATime(() => this.#write());
  #running: Promise<void> = Promise.resolve();
  #isStopped = false;
  #stopTimer = (): void => {};

  constructor(setup: SettingsAuditSetup) {
    this.#setup = setup;
  }

  started(hash: string): void {
    this.#started = hash;
    this.#running = this.#run();
  }

  /** @param files those that have changed */
  reloaded(hash: string, files: readonly string[]): void {
    if (this.#waiting.length >= MAX_WAITING)
      this.#setup.log.error({ config_hash: hash }, 'a reload of the settings is not in the audit');
    else this.#waiting.push(eventOf('reload', { config_hash: hash, files }));
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
    this.#stopTimer();
  }

  /** Never rejects. */
  async #write(): Promise<void> {
    const { state, log } = this.#setup;
    this.#stopTimer();
    try {
      const audit = state.store?.audit;
      if (audit && this.#started !== undefined) {
        const before = (await audit.rows({ kind: 'settings', limit: 1 }))[0]?.after;
        const after = { config_hash: this.#started };
        if (hashIn(before) !== this.#started) await audit.add(eventOf('start', after, before), BY);
        this.#started = undefined;
      }
      if (audit) for (let next; (next = this.#waiting[0]); this.#waiting.shift()) await audit.add(next, BY);
    } catch (err) {
      log.error({ err }, 'a change of the settings is not in the audit yet');
    }
    const isDone = this.#started === undefined && this.#waiting.length === 0;
    if (!isDone && !this.#isStopped)
      this.#stopTimer = this.#setup.clock.after(AGAIN_MS, () => {
        this.#running = this.#run();
      });
  }
}

const eventOf = (action: string, after: object, before?: string): AuditEvent => ({
  action,
  kind: 'settings',
  id: 'files',
  ...(before !== undefined && { before: JSON.stringify({ config_hash: hashIn(before) }) }),
  after: JSON.stringify(after),
});

function hashIn(text: string | undefined): unknown {
  try {
    return (Object(JSON.parse(text ?? '{}')) as { readonly config_hash?: unknown }).config_hash;
  } catch {
    // The audit keeps the digest of a text that is too long.
    return undefined;
  }
}
