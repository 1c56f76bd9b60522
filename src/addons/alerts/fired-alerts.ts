import type { AlertDelivery, FiredAlert } from '../../core/ports/alert.ts';

const MOST = 200;
const MOST_NODES = 50;

type Fired = Omit<FiredAlert, 'deliveries'>;

/** The latest alerts of this process, with what became of them at each webhook. */
export class FiredAlerts {
  /** By id, the earliest first. */
  readonly #fired = new Map<string, Fired & { readonly deliveries: Map<string, AlertDelivery> }>();

  /** An alert that is raised again keeps its id. */
  add(alert: Fired, webhooks: readonly string[]): void {
    const waiting = webhooks.map((webhook) => [webhook, { webhook, state: 'waiting', tries: 0 } as const] as const);
    this.#fired.delete(alert.id);
    this.#fired.set(alert.id, { ...alert, nodes: alert.nodes.slice(0, MOST_NODES), deliveries: new Map(waiting) });
    const [first] = this.#fired.keys();
    if (this.#fired.size > MOST && first !== undefined) this.#fired.delete(first);
  }

  /** @param problem undefined: it was delivered */
  tried(id: string, webhook: string, problem: string | undefined): void {
    const { deliveries } = this.#fired.get(id) ?? {};
    const tries = (deliveries?.get(webhook)?.tries ?? 0) + 1;
    const state = problem === undefined ? 'delivered' : 'waiting';
    deliveries?.set(webhook, { webhook, state, tries, ...(problem !== undefined && { problem }) });
  }

  lost(id: string, webhook: string): void {
    const { deliveries } = this.#fired.get(id) ?? {};
    deliveries?.set(webhook, { webhook, tries: 0, ...deliveries.get(webhook), state: 'lost' });
  }

  list(): readonly FiredAlert[] {
    return [...this.#fired.values()].map((one) => ({ ...one, deliveries: [...one.deliveries.values()] })).toReversed();
  }
}
