import { refOfNode, type AlertSink } from '../../core/ports/alert.ts';
import { NODE_KINDS, type NodeKind } from '../../core/tenants/tree.ts';
import type { Clock } from '../../plugin/index.ts';
import { usdText } from '../../core/ports/money.ts';
import type { AlertSettings, AnomalyRule } from './settings/compile-alerts.ts';
import { OTHER_NAME, type Ledger } from '../../core/ports/ledger.ts';

const HOUR_MS = 3_600_000;
const DAY_HOURS = 24;
const LOOK_MS = 5 * 60_000;
/** The most nodes of one kind whose earlier hours one look reads: those that spent the most. */
const MAX_NODES = 100;
const NANO_PER_USD = 1e9;

interface SpendWatchSetup {
  readonly clock: Clock;
  readonly alerts: AlertSink;
  readonly onFailure: (error: unknown) => void;
}

interface Look {
  readonly ledger: Pick<Ledger, 'rollups'>;
  readonly rule: AlertSettings['anomalies'];
  readonly hour: number;
}

interface Anomaly {
  readonly hour: number;
  readonly nano: number;
  readonly median: number;
  readonly days: number;
}

/** Looks in the ledger every five minutes whether the spending of the present hour is an anomaly. */
export class SpendWatch {
  readonly #setup: SpendWatchSetup;
  #rule: AlertSettings['anomalies'] | undefined;
  #ledger: () => Pick<Ledger, 'rollups'> | undefined = () => undefined;
  #stopTimer: (() => void) | undefined;
  #isLooking = false;

  constructor(setup: SpendWatchSetup) {
    this.#setup = setup;
  }

  /** @param rule undefined: no webhook takes anomalies */
  apply(rule: AlertSettings['anomalies'] | undefined): void {
    this.#rule = rule;
  }

  start(ledger: () => Pick<Ledger, 'rollups'> | undefined): void {
    this.#ledger = ledger;
    this.#schedule();
  }

  stop(): void {
    this.#stopTimer?.();
    this.#rule = undefined;
  }

  #schedule(): void {
    this.#stopTimer = this.#setup.clock.after(LOOK_MS, () => {
      this.#schedule();
      // A query of a slow store may outlast the pause: a second one does not begin beside it.
      if (this.#isLooking) return;
      this.#isLooking = true;
      void this.#look()
        .catch(this.#setup.onFailure)
        .finally(() => (this.#isLooking = false));
    });
  }

  async #look(): Promise<void> {
    const ledger = this.#ledger();
    const rule = this.#rule;
    if (!ledger || !rule) return;
    const hour = Math.floor(this.#setup.clock.wall() / HOUR_MS) * HOUR_MS;
    // A failure at one kind of node must not stop the watch of the others.
    for (const kind of NODE_KINDS) await this.#lookAt(kind, { ledger, rule, hour }).catch(this.#setup.onFailure);
  }

  async #lookAt(kind: NodeKind, { ledger, rule, hour }: Look): Promise<void> {
    const now = await ledger.rollups({ from: hour, to: hour + HOUR_MS, by: [kind], step: 'all' });
    const dear = now
      .flatMap(({ names, nano }) => {
        const name = names[kind];
        return !name || name === OTHER_NAME || nano < rule.floor ? [] : [{ name, nano }];
      })
      .toSorted((a, b) => b.nano - a.nano)
      .slice(0, MAX_NODES);
    if (dear.length === 0) return;
    const from = hour - rule.days * DAY_HOURS * HOUR_MS;
    const where = { [kind]: dear.map(({ name }) => name) };
    const rows = await ledger.rollups({ from, to: hour, by: [kind], step: 'hour', where });
    const before = Map.groupBy(rows, ({ names }) => names[kind]);
    for (const { name, nano } of dear) {
      const median = anomalyOf(nano, before.get(name)?.map((row) => row.nano) ?? [], rule);
      if (median !== undefined) this.#raise(refOfNode(kind, name), { hour, nano, median, days: rule.days });
    }
  }

  #raise(ref: string, { hour, nano, median, days }: Anomaly): void {
    const start = new Date(hour).toISOString();
    const usual = Math.round(median);
    this.#setup.alerts.raise({
      kind: 'anomaly',
      nodes: [ref],
      text: `${ref.replace(':', ' ')} has spent ${usdText(nano)} USD in the hour from ${start}; the median of its hours is ${usdText(usual)} USD.`,
      data: { node: ref, hour: start, spent: nano / NANO_PER_USD, median: usual / NANO_PER_USD, days },
      once: { counter: { node: `alert anomaly ${ref}`, period: hour }, bits: [0] },
    });
  }
}

/** Fewer hours with spending say nothing about an ordinary one. */
const LEAST_HOURS = 24;

/**
 * Whether an hour spent far more than the hours before it. The median ignores single expensive hours, and hours without spending are
 * left out, so that a node that works by day only is compared with its days.
 * @param before what each hour before spent, in any order
 * @returns the median if the hour is an anomaly
 */
export function anomalyOf(
  spent: number,
  before: readonly number[],
  { factor, floor }: AnomalyRule,
): number | undefined {
  if (spent < floor) return undefined;
  const hours = before.filter((nano) => nano > 0).toSorted((a, b) => a - b);
  if (hours.length < LEAST_HOURS) return undefined;
  const median = (hours[(hours.length - 1) >> 1]! + hours[hours.length >> 1]!) / 2;
  return spent >= factor * median ? median : undefined;
}
