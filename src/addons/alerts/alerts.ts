import { randomUUID } from 'node:crypto';
import type { AlertTree } from '../../core/tenants/tree.ts';
import type { Alert, AlertMark, AlertSink } from '../../core/ports/alert.ts';
import type { AlertKind } from '../../core/kernel/alert-kinds.ts';
import type { AlertSettings, WebhookSettings } from './settings/compile-alerts.ts';
import type { CounterPorts } from '../../core/ports/store.ts';
import { SpendWatch } from './spend-watch.ts';
import { Webhook, type WebhookTools } from './webhook.ts';

/** Most alerts with an open question to the store, whether another process has raised them. */
const MAX_DECIDING = 1000;
/** Names of alerts that this process has raised and does not raise again; with more, all are forgotten. */
const MAX_RAISED = 10_000;

const MESSAGES: Readonly<Record<AlertKind, string>> = {
  budget: 'a budget has reached an alert',
  exhausted: 'a budget refuses requests',
  anomaly: 'the spending of an hour is an anomaly',
  unknown_price: 'requests have no known price',
  lost_lease: 'a process ended with room of budgets that it had not reported; it counts as spent',
  key_expiry: 'a key is about to expire',
  backup_failure: 'the state store could not be backed up',
};

/** The alerts of a process. */
export type ProcessAlerts = Pick<Alerts, 'raise' | 'apply' | 'useStored' | 'start' | 'close'>;

/** Raises alerts once for all processes, and hands them to the webhooks. The process that counts for all others has it. */
export class Alerts implements AlertSink {
  readonly #setup: WebhookTools;
  readonly #webhooks = new Map<string, Webhook>();
  readonly #raised = new Map<string, true>();
  readonly #spend: SpendWatch;
  #settings: AlertSettings | undefined;
  #stored: readonly WebhookSettings[] = [];
  #tree: AlertTree = { around: () => [] };
  #ports: () => CounterPorts | undefined = () => undefined;
  #deciding = 0;

  constructor(setup: WebhookTools) {
    this.#setup = setup;
    const { clock, log } = setup;
    this.#spend = new SpendWatch({ clock, alerts: this, onFailure: (err) => log.error({ err }, ANOMALIES_UNKNOWN) });
  }

  apply(settings: AlertSettings): void {
    this.#settings = settings;
    this.#useAll();
  }

  /** The webhooks of the state store, beside those of the settings. */
  useStored(webhooks: readonly WebhookSettings[]): void {
    this.#stored = webhooks;
    this.#useAll();
  }

  #useAll(): void {
    const { webhooks: own = [], anomalies } = this.#settings ?? {};
    // The next load of the settings refuses an id that both have.
    const taken = new Set(own.map(({ id }) => id));
    const webhooks = [...own, ...this.#stored.filter(({ id }) => !taken.has(id))];
    const ids = new Set(webhooks.map(({ id }) => id));
    for (const [id, webhook] of this.#webhooks) {
      if (ids.has(id)) continue;
      this.#webhooks.delete(id);
      webhook.remove();
    }
    for (const webhook of webhooks) {
      const known = this.#webhooks.get(webhook.id);
      if (known) known.apply(webhook);
      else this.#webhooks.set(webhook.id, new Webhook(webhook, this.#setup));
    }
    const isWanted = webhooks.some(({ kinds }) => kinds.has('anomaly'));
    this.#spend.apply(isWanted ? anomalies : undefined);
  }

  /** @param ports where the processes of the gateway count; undefined while they cannot @param tree in force */
  start(ports: () => CounterPorts | undefined, tree: AlertTree): void {
    this.#ports = ports;
    this.#tree = tree;
    this.#spend.start(() => ports()?.ledger);
  }

  raise(alert: Alert): void {
    if (!alert.once) return this.#publish(alert);
    if (this.#deciding >= MAX_DECIDING) return this.#setup.log.error({ alert: alert.kind }, 'too many alerts at once');
    this.#deciding += 1;
    void this.#isFirst(alert.once)
      .then((isFirst) => isFirst && this.#publish(alert))
      .finally(() => (this.#deciding -= 1));
  }

  async close(): Promise<void> {
    this.#spend.stop();
    await Promise.all([...this.#webhooks.values()].map((webhook) => webhook.close()));
  }

  /** Never rejects: while the store does not answer, this process raises the alert once by itself. */
  async #isFirst({ counter, bits }: AlertMark): Promise<boolean> {
    const name = `${counter.period} ${counter.node} ${bits.at(-1)}`;
    if (this.#raised.has(name)) return false;
    if (this.#raised.size >= MAX_RAISED) this.#raised.clear();
    this.#raised.set(name, true);
    const counters = this.#ports()?.counters;
    if (!counters) return true;
    let isFirst = false;
    try {
      for (const bit of bits) isFirst = await counters.notify(counter, bit);
    } catch {
      return true;
    }
    return isFirst;
  }

  #publish({ kind, nodes, text, data }: Alert): void {
    const { log, families, clock } = this.#setup;
    const around = new Set(nodes.flatMap((node) => [node, ...this.#tree.around(node)]));
    const event = {
      id: randomUUID(),
      type: kind,
      at: new Date(clock.wall()).toISOString(),
      nodes: [...around],
      text,
      data,
    };
    log.warn({ alert: kind, event_id: event.id, ...data }, MESSAGES[kind]);
    families.alerts.add({ kind });
    if (kind === 'budget') families.budgetWarnings.add({ budget: String(data.budget), percent: String(data.percent) });
    const body = JSON.stringify(event);
    for (const webhook of this.#webhooks.values())
      if (webhook.takes(event.nodes, kind)) webhook.send({ id: event.id, body });
  }
}

const ANOMALIES_UNKNOWN = 'the ledger could not be asked for anomalies of spending';
