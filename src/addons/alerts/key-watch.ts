import { bitsOf, refOfNode, type Alert, type AlertSink } from '../../core/ports/alert.ts';
import type { Clock } from '../../plugin/index.ts';
import { STORED_KINDS } from '../../core/settings/source/stored-objects.ts';
import type { KeyRecord } from '../../core/settings/compile/key-record.ts';
import type { Tenants } from '../../core/settings/compile/tenants.ts';
import type { AlertFamilies } from './metrics.ts';

const LOOK_MS = 60_000;
const DAY_MS = 86_400_000;
/** Keys named in `/readyz?verbose`. */
const NAMED = 20;
/** Alerts of one look; those of the other keys follow with the next looks. */
const MAX_ALERTS = 200;

interface KeyWatchSetup {
  readonly clock: Clock;
  readonly alerts: AlertSink;
  readonly families: AlertFamilies;
  readonly tenants: () => Tenants;
  /** Days before the end of a key, ascending: `alerts.key_expiry` in force. */
  readonly days: () => readonly number[];
}

interface LastAlert {
  readonly at: number;
  readonly days: number;
}

/** Looks at all keys once a minute: which end soon, and which are refused because of something that they name. */
export class KeyWatch {
  readonly #setup: KeyWatchSetup;
  #alerted = new Map<string, LastAlert>();
  #counted = '';
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
    const { families, tenants } = this.#setup;
    const current = tenants();
    const keys = [...current.keys()];
    this.#refused = keys.flatMap(({ id, parts }) => (parts.problem === undefined ? [] : [id]));
    families.keysMisconfigured.set({}, this.#refused.length);
    this.#lookAtEnds(keys);
    const kinds = Map.groupBy(current.stored.objects.values(), ({ kind }) => kind);
    for (const kind of STORED_KINDS) families.stateObjects.set({ kind }, kinds.get(kind)?.length ?? 0);
  }

  #lookAtEnds(keys: readonly KeyRecord[]): void {
    const { clock, alerts } = this.#setup;
    const days = this.#setup.days();
    const now = clock.wall();
    const counts = days.map(() => 0);
    const alerted = new Map<string, LastAlert>();
    let raised = 0;
    for (const { id, parts } of keys) {
      const at = parts.expiresAt;
      if (at <= now || at === Infinity) continue;
      for (const [index, day] of days.entries()) if (at - now <= day * DAY_MS) counts[index]! += 1;
      const reached = days.find((day) => at - now <= day * DAY_MS);
      if (reached === undefined) continue;
      const last = this.#alerted.get(id);
      const isKnown = last?.at === at && last.days <= reached;
      if (!isKnown && raised === MAX_ALERTS) continue;
      alerted.set(id, isKnown ? last : { at, days: reached });
      if (isKnown) continue;
      raised += 1;
      alerts.raise(expiryAlert(id, at, reached, days.toReversed()));
    }
    this.#alerted = alerted;
    this.#count(days, counts);
  }

  #count(days: readonly number[], counts: readonly number[]): void {
    const { keysExpiring } = this.#setup.families;
    // Other days after a reload have other series.
    if (this.#counted !== days.join()) keysExpiring.reset();
    this.#counted = days.join();
    for (const [index, day] of days.entries()) keysExpiring.set({ days: String(day) }, counts[index]!);
  }
}

/**
 * The alert of a key that ends within some days.
 * @param days the least that it has reached @param all before the end of a key, descending
 */
function expiryAlert(id: string, at: number, days: number, all: readonly number[]): Alert {
  const ref = refOfNode('key', id);
  const end = new Date(at).toISOString();
  return {
    kind: 'key_expiry',
    nodes: [ref],
    text: `The key ${id} expires at ${end}, within ${days} ${days === 1 ? 'day' : 'days'}.`,
    data: { key: id, expires_at: end, days },
    // The nearer end replaces the warnings of the days before.
    once: { counter: { node: `alert expiry ${ref}`, period: at }, bits: bitsOf(all).slice(0, all.indexOf(days) + 1) },
  };
}
