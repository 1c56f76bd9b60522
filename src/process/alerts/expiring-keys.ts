import { bitsOf, refOfNode, type AlertSink } from '../../governance/alert.ts';
import type { Clock } from '../../plugin/index.ts';
import type { AlertNodes } from '../../settings/compile/alerts.ts';

const DAY_MS = 86_400_000;
const LOOK_MS = 3_600_000;

/** Looks each hour which keys end soon. */
export class ExpiringKeys {
  readonly #clock: Clock;
  readonly #alerts: AlertSink;
  #days: readonly number[] = [];
  #ending: AlertNodes['ending'] = [];
  #isStarted = false;
  #stopTimer = (): void => {};

  constructor(clock: Clock, alerts: AlertSink) {
    this.#clock = clock;
    this.#alerts = alerts;
  }

  /** @param days before the end of a key, ascending */
  apply(days: readonly number[], ending: AlertNodes['ending']): void {
    this.#days = days;
    this.#ending = ending;
    if (this.#isStarted) this.#look();
  }

  start(): void {
    this.#isStarted = true;
    this.#look();
  }

  stop(): void {
    this.#isStarted = false;
    this.#stopTimer();
  }

  #look(): void {
    this.#stopTimer();
    const now = this.#clock.wall();
    for (const { id, at } of this.#ending) if (at > now) this.#check(id, at, now);
    this.#stopTimer = this.#clock.after(LOOK_MS, () => this.#look());
  }

  #check(id: string, at: number, now: number): void {
    const reached = this.#days.find((days) => at - now <= days * DAY_MS);
    if (reached === undefined) return;
    const ref = refOfNode('key', id);
    const end = new Date(at).toISOString();
    // The nearer end replaces the warnings of the days before.
    const descending = this.#days.toReversed();
    const bits = bitsOf(descending).slice(0, descending.indexOf(reached) + 1);
    this.#alerts.raise({
      kind: 'key_expiry',
      nodes: [ref],
      text: `The key ${id} expires at ${end}, within ${reached} ${reached === 1 ? 'day' : 'days'}.`,
      data: { key: id, expires_at: end, days: reached },
      once: { counter: { node: `alert expiry ${ref}`, period: at }, bits },
    });
  }
}
