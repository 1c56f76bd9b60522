import type { AlertSink } from '../../core/ports/alert.ts';
import type { AlertSettings } from './settings/compile-alerts.ts';
import type { Clock } from '../../plugin/index.ts';
import type { RequestRecord } from '../../core/record/record.ts';

const DAY_MS = 86_400_000;
/** The most alerts of a process in a day: callers choose models. */
const MAX_A_DAY = 100;
const MAX_NAME = 160;

/** Raises an alert for each model whose requests have no known price, once a day. */
export class UnknownPrices {
  readonly #clock: Pick<Clock, 'wall'>;
  readonly #alerts: AlertSink;
  #isWanted = false;
  #day = 0;
  readonly #seen = new Set<string>();

  constructor(clock: Pick<Clock, 'wall'>, alerts: AlertSink) {
    this.#clock = clock;
    this.#alerts = alerts;
  }

  /** Without a webhook that takes these alerts, the metric of unknown costs is enough. @param mayStore the state store may have one */
  apply({ webhooks }: AlertSettings, mayStore = false): void {
    this.#isWanted = mayStore || webhooks.some(({ kinds }) => kinds.has('unknown_price'));
  }

  readonly see = ({ attempts }: Pick<RequestRecord, 'attempts'>): void => {
    if (!this.#isWanted) return;
    for (const { cost, place } of attempts) {
      const reason = cost?.unknown;
      // A reply without counts is no gap of the prices.
      if (reason !== undefined && reason !== 'usage' && place) this.#note(place.provider, place.model, reason);
    }
  };

  #note(entry: string, model: string, reason: string): void {
    const day = Math.floor(this.#clock.wall() / DAY_MS) * DAY_MS;
    if (day !== this.#day) this.#seen.clear();
    this.#day = day;
    const name = `@${entry}/${model}`.slice(0, MAX_NAME);
    if (this.#seen.size >= MAX_A_DAY || this.#seen.has(`${name} ${reason}`)) return;
    this.#seen.add(`${name} ${reason}`);
    this.#alerts.raise({
      kind: 'unknown_price',
      nodes: [],
      text: `Requests for ${name} have no known price (${reason}).`,
      data: { entry, model: model.slice(0, MAX_NAME), reason },
      once: { counter: { node: `alert price ${reason} ${name}`, period: day }, bits: [0] },
    });
  }
}
