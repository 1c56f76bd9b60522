import type { Logger } from 'pino';
import type { Clock } from '../../../plugin/index.ts';
import type { AuditEvent } from '../../../core/ports/audit.ts';
import type { Fleet } from '../../../core/ports/fleet.ts';
import type { StateStore } from '../../../core/ports/store.ts';
import { oneAtATime } from '../../../core/process/one-at-a-time.ts';
import { parseJson } from '../../../formats/json/object.ts';

const MAX_WAITING = 100;
const AGAIN_MS = 5000;
const BY = { id: 'gateway', role: 'system' } as const;

interface SettingsAuditSetup {
  readonly clock: Pick<Clock, 'after'>;
  readonly log: Pick<Logger, 'error'>;
  readonly state: { readonly store: Pick<StateStore, 'audit' | 'boots'> | undefined };
  readonly fleet: Pick<Fleet, 'gateways' | 'self'>;
}

/**
 * Writes reloads, and starts with other settings than the last row has, to the audit. Rows wait while the store is away. Of several
 * gateways the first one with new settings writes the row: during a rolling update others still start with the old ones.
 */
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
    else this.#waiting.push(this.#eventOf('reload', { config_hash: hash, files }));
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
    this.#stopTimer();
  }

  async #writeStart({ audit, boots }: Pick<StateStore, 'audit' | 'boots'>, hash: string): Promise<void> {
    const before = (await audit.rows({ kind: 'settings', limit: 1 }))[0]?.after;
    if (hashIn(before) === hash) return;
    const { fleet } = this.#setup;
    const { id } = fleet.self();
    const others = fleet.gateways > 1 ? await boots.live() : [];
    if (others.some((other) => other.id !== id && other.configHash === hash)) return;
    await audit.add(this.#eventOf('start', { config_hash: hash }, before), BY);
  }

  /** With the name of the gateway where there are several. */
  #eventOf(action: string, after: object, before?: string): AuditEvent {
    const { fleet } = this.#setup;
    return eventOf(action, fleet.gateways > 1 ? { ...after, replica: fleet.self().host } : after, before);
  }

  /** Never rejects. */
  async #write(): Promise<void> {
    const { state, log } = this.#setup;
    this.#stopTimer();
    try {
      const { store } = state;
      const audit = store?.audit;
      if (store && this.#started !== undefined) {
        await this.#writeStart(store, this.#started);
        this.#started = undefined;
      }
      if (audit) for (let next; (next = this.#waiting[0]); this.#waiting.shift()) await audit.add(next, BY);
    } catch (err) {
      log.error({ err }, 'a change of the settings is not in the audit yet');
    }
    if ((this.#started !== undefined || this.#waiting.length > 0) && !this.#isStopped)
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
  // The audit keeps the digest of a text that is too long, which is no JSON.
  return (Object(parseJson(text ?? '{}')) as { readonly config_hash?: unknown }).config_hash;
}
