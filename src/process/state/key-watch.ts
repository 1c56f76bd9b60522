import type { Logger } from 'pino';
import type { Clock } from '../../plugin/index.ts';
import type { Metrics } from '../../record/metrics/registry.ts';
import { STORED_KINDS } from '../../settings/read/stored-objects.ts';
import type { Tenants } from '../../settings/compile/tenants.ts';

const LOOK_MS = 60_000;
const DAY_MS = 86_400_000;
/** Days before the end of a key, from the first warning to the last. */
export const EXPIRY_DAYS = [30, 7, 1] as const;
/** Keys named in one line of the log, or in `/readyz?verbose`. */
const NAMED = 20;

export interface KeyWatchSetup {
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
  readonly metrics: Pick<Metrics, 'families'>;
  readonly tenants: () => Tenants;
}

/** Looks at all keys once a minute: which end soon, and which are refused because of something that they name. */
export class KeyWatch {
  readonly #setup: KeyWatchSetup;
  /** The days of the last warning of each key. Bounded by the keys. */
  #warned = new Map<string, number>();
  #refused: readonly string[] = [];
  #stopTimer = (): void => {};

  constructor(setup: KeyWatchSetup) {
    this.#setup = setup;
  }

  start(): void {
    this.look();
    this.#stopTimer = this.#setup.clock.after(LOOK_MS, () => this.start());
  }

  stop(): void {
    this.#stopTimer();
  }

  /** For people, in `/readyz?verbose`: readiness does not depend on it. */
  warnings(): readonly string[] {
    if (this.#refused.length === 0) return [];
    const more = this.#refused.length > NAMED ? ` and ${this.#refused.length - NAMED} more` : '';
    return [`keys refused as misconfigured: ${this.#refused.slice(0, NAMED).join(', ')}${more}`];
  }

  look(): void {
    const { clock, metrics, tenants } = this.#setup;
    const { families } = metrics;
    const now = clock.wall();
    const current = tenants();
    const ending = new Map<number, number>(EXPIRY_DAYS.map((days) => [days, 0]));
    const warned = new Map<string, number>();
    const refused: string[] = [];
    for (const { id, parts } of current.keys()) {
      if (parts.problem !== undefined) refused.push(id);
      const left = parts.expiresAt - now;
      if (left <= 0 || left === Infinity) continue;
      for (const days of EXPIRY_DAYS) if (left <= days * DAY_MS) ending.set(days, ending.get(days)! + 1);
      const due = EXPIRY_DAYS.findLast((days) => left <= days * DAY_MS);
      if (due === undefined) continue;
      warned.set(id, due);
      if ((this.#warned.get(id) ?? Infinity) > due) this.#warn(id, parts.expiresAt, due);
    }
    this.#warned = warned;
    this.#refused = refused;
    for (const [days, count] of ending) families.keysExpiring.set({ days: String(days) }, count);
    families.keysMisconfigured.set({}, refused.length);
    const kinds = Map.groupBy(current.stored.objects.values(), ({ kind }) => kind);
    for (const kind of STORED_KINDS) families.stateObjects.set({ kind }, kinds.get(kind)?.length ?? 0);
  }

  #warn(keyId: string, expiresAt: number, days: number): void {
    const fields = { key_id: keyId, expires_at: new Date(expiresAt).toISOString(), within_days: days };
    this.#setup.log.warn(fields, 'a gateway key expires soon');
  }
}
