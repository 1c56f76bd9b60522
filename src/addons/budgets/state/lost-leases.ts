import type { AlertSink } from '../../../core/ports/alert.ts';
import type { Clock } from '../../../plugin/index.ts';
import { nameOfCounter } from '../../../core/tenants/tree.ts';
import { type LostLease } from '../../../core/ports/counters.ts';

/** Time for which one alert is enough: a process may end again and again. */
const PAUSE_MS = 60_000;
const MAX_KEPT = 1000;
const MAX_NAMED = 20;

/** Raises an alert when processes ended with leases of budgets whose use they had not reported. */
export class LostLeases {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #alerts: AlertSink;
  #kept: LostLease[] = [];
  #isPausing = false;

  constructor(clock: Pick<Clock, 'after'>, alerts: AlertSink) {
    this.#clock = clock;
    this.#alerts = alerts;
  }

  note(lost: readonly LostLease[]): void {
    this.#kept = [...this.#kept, ...lost].slice(0, MAX_KEPT);
    if (!this.#isPausing) this.#raise();
  }

  #raise(): void {
    const lost = this.#kept;
    if (lost.length === 0) return;
    this.#kept = [];
    this.#isPausing = true;
    this.#clock.after(PAUSE_MS, () => {
      this.#isPausing = false;
      this.#raise();
    });
    const budgets = [...new Set(lost.map(({ node }) => nameOfCounter(node)))];
    this.#alerts.raise({
      kind: 'lost_lease',
      // A counter begins with the node of its budget.
      nodes: [...new Set(lost.map(({ node }) => node.split(' ', 1)[0]!))].slice(0, MAX_NAMED),
      text: `A process ended with unreported room of ${budgets.length} budgets; it counts as spent until the period ends.`,
      data: { leases: lost.length, budgets: budgets.slice(0, MAX_NAMED) },
      once: undefined,
    });
  }
}
