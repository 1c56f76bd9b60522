import { createHash, randomUUID } from 'node:crypto';
import type { AlertTree } from '../../core/tenants/tree.ts';
import type { Alert, AlertDelivery, AlertDesk, AlertMark, AlertSink } from '../../core/ports/alert.ts';
import type { AlertKind } from '../../core/kernel/alert-kinds.ts';
import type { AlertSettings, WebhookSettings } from './settings/compile-alerts.ts';
import type { CounterPorts } from '../../core/ports/store.ts';
import { SpendWatch } from './spend-watch.ts';
import { messageOf } from '../../core/kernel/outside/thrown.ts';
import type { Fleet } from '../../core/ports/fleet.ts';
import type { Counters } from '../../core/ports/counters.ts';
import { oneAtATime } from '../../core/process/one-at-a-time.ts';
import { FiredAlerts } from './fired-alerts.ts';
import { OutboxDelivery } from './outbox-delivery.ts';
import { TRY_MS, Webhook, type WebhookEvent, type WebhookTools } from './webhook.ts';

/** Most alerts that wait for the store, which knows whether another process has raised them, and takes their events. */
const MAX_WAITING = 10_000;
/** Calls of the store at a time: the last ones of a burst would wait for a connection until they fail. */
const AT_ONCE = 4;
/** Names of alerts that this process has raised and does not raise again; with more, all are forgotten. */
const MAX_RAISED = 10_000;

const MAX_TESTS = 5;
const MINUTE_MS = 60_000;

const MESSAGES: Readonly<Record<AlertKind, string>> = {
  budget: 'a budget has reached an alert',
  exhausted: 'a budget refuses requests',
  anomaly: 'the spending of an hour is an anomaly',
  unknown_price: 'requests have no known price',
  lost_lease: 'a process ended with room of budgets that it had not reported; it counts as spent',
  key_expiry: 'a key is about to expire',
  backup_failure: 'the state store could not be backed up',
  rolled_back: 'the state store went back to an earlier version',
};

export type ProcessAlerts = Pick<Alerts, 'raise' | 'apply' | 'useStored' | 'start' | 'close'>;

/** Raises alerts once for all processes, and hands them to the webhooks. The process that counts for all others has it. */
export class Alerts implements AlertSink, AlertDesk {
  readonly #setup: WebhookTools;
  readonly #fired = new FiredAlerts();
  #tests: readonly number[] = [];
  readonly #webhooks = new Map<string, Webhook>();
  readonly #raised = new Map<string, true>();
  readonly #spend: SpendWatch;
  readonly #stored: OutboxDelivery;
  #settings: AlertSettings | undefined;
  #inStore: readonly WebhookSettings[] = [];
  #tree: AlertTree = { around: () => [] };
  #ports: () => CounterPorts | undefined = () => undefined;
  #fleet: Fleet | undefined;
  readonly #waiting: Alert[] = [];
  readonly #raiseAll = oneAtATime(async () => {
    while (this.#waiting.length > 0)
      await Promise.all(this.#waiting.splice(0, AT_ONCE).map((alert) => this.#raise(alert)));
  });

  constructor(setup: Omit<WebhookTools, 'fired'>) {
    this.#setup = { ...setup, fired: this.#fired };
    const { clock, log } = setup;
    this.#stored = new OutboxDelivery({
      clock,
      log,
      outbox: () => this.#ports()?.outbox,
      webhooks: this.#webhooks,
      mayHaveOthers: () => this.#fleet !== undefined && (this.#fleet.gateways > 1 || this.#ports() === undefined),
    });
    this.#spend = new SpendWatch({ clock, alerts: this, onFailure: (err) => log.error({ err }, ANOMALIES_UNKNOWN) });
  }

  apply(settings: AlertSettings): void {
    this.#settings = settings;
    this.#useAll();
  }

  useStored(webhooks: readonly WebhookSettings[]): void {
    this.#inStore = webhooks;
    this.#useAll();
  }

  #useAll(): void {
    const { webhooks: own = [], anomalies } = this.#settings ?? {};
    // The next load of the settings refuses an id that both have.
    const taken = new Set(own.map(({ id }) => id));
    const webhooks = [...own, ...this.#inStore.filter(({ id }) => !taken.has(id))];
    const ids = new Set(webhooks.map(({ id }) => id));
    for (const [id, webhook] of this.#webhooks) {
      if (ids.has(id)) continue;
      this.#webhooks.delete(id);
      webhook.remove();
      void this.#stored.removed(webhook);
    }
    for (const webhook of webhooks) {
      const known = this.#webhooks.get(webhook.id);
      if (known) known.apply(webhook);
      else this.#webhooks.set(webhook.id, new Webhook(webhook, this.#setup, this.#keep));
    }
    this.#spend.apply(webhooks.some(({ kinds }) => kinds.has('anomaly')) ? anomalies : undefined);
    this.#stored.start();
  }

  /**
   * @param ports where the processes of the gateway count; undefined while they cannot
   * @param tree in force
   * @param fleet undefined: there is no store, and no other gateway
   */
  start(ports: () => CounterPorts | undefined, tree: AlertTree, fleet?: Fleet): void {
    this.#ports = ports;
    this.#tree = tree;
    this.#fleet = fleet;
    fleet?.onGateways(() => this.#stored.start());
    this.#spend.start(() => (fleet?.isCaretaker === false ? undefined : ports()?.ledger));
    this.#stored.start();
  }

  readonly #keep = (event: WebhookEvent, to: string): Promise<boolean> => this.#stored.add(event, [to]);

  raise(alert: Alert): void {
    if (this.#waiting.length >= MAX_WAITING)
      return this.#setup.log.error({ alert: alert.kind }, 'too many alerts at once');
    this.#waiting.push(alert);
    void this.#raiseAll();
  }

  async #raise(alert: Alert): Promise<void> {
    if (!alert.once || (await this.#isFirst(alert.once))) await this.#publish(alert);
  }

  fired(): ReturnType<AlertDesk['fired']> {
    return this.#fired.list();
  }

  test(id: string): ReturnType<AlertDesk['test']> {
    const { clock } = this.#setup;
    const webhook = this.#webhooks.get(id);
    if (!webhook) return 'unknown';
    const now = clock.now();
    this.#tests = this.#tests.filter((at) => now - at < MINUTE_MS);
    if (this.#tests.length >= MAX_TESTS) return 'too_many';
    this.#tests = [...this.#tests, now];
    return this.#test(webhook);
  }

  async #test(webhook: Webhook): Promise<AlertDelivery> {
    const at = new Date(this.#setup.clock.wall()).toISOString();
    const event = { id: randomUUID(), type: 'test', at, nodes: [], text: TESTED, data: {} };
    const problem = await webhook.post({ id: event.id, body: JSON.stringify(event) }, TRY_MS);
    return {
      webhook: webhook.id,
      state: problem === undefined ? 'delivered' : 'lost',
      tries: 1,
      ...(problem !== undefined && { problem: webhook.inClear(problem) }),
    };
  }

  async close(): Promise<void> {
    this.#spend.stop();
    await this.#stored.stop();
    await Promise.all([...this.#webhooks.values()].map((webhook) => webhook.close()));
  }

  /**
   * Never rejects: while the store does not answer, this process raises the alert once by itself. After a lost answer it cannot know whether
   * it is the first, and raises too: the event of an alert has the same id in each process, so that receivers find a repeated one.
   */
  async #isFirst({ counter, bits }: AlertMark): Promise<boolean> {
    const name = `${counter.period} ${counter.node} ${bits.at(-1)}`;
    if (this.#raised.has(name)) return false;
    if (this.#raised.size >= MAX_RAISED) this.#raised.clear();
    this.#raised.set(name, true);
    const counters = this.#ports()?.counters;
    if (!counters) return true;
    try {
      return await notified(counters, { counter, bits });
    } catch (error) {
      const { log } = this.#setup;
      log.warn({ counter: counter.node, reason: messageOf(error) }, 'an alert is asked about again');
      await notified(counters, { counter, bits }).catch((again: unknown) =>
        log.error({ counter: counter.node, reason: messageOf(again) }, 'other processes may raise the same alert'),
      );
      return true;
    }
  }

  /** Never rejects. */
  async #publish({ kind, nodes, text, data, once }: Alert): Promise<void> {
    const { log, families, clock } = this.#setup;
    const around = new Set(nodes.flatMap((node) => [node, ...this.#tree.around(node)]));
    const event = {
      id: once ? idOf(once) : randomUUID(),
      type: kind,
      at: new Date(clock.wall()).toISOString(),
      nodes: [...around],
      text,
      data,
    };
    log.warn({ alert: kind, event_id: event.id, ...data }, MESSAGES[kind]);
    families.alerts.add({ kind });
    if (kind === 'budget') families.budgetWarnings.add({ budget: String(data.budget), percent: String(data.percent) });
    const sent = { id: event.id, body: JSON.stringify(event) };
    const webhooks = [...this.#webhooks.values()].filter((webhook) => webhook.takes(event.nodes, kind));
    const to = webhooks.map(({ id }) => id);
    this.#fired.add({ id: event.id, kind, at: event.at, nodes: event.nodes, text }, to);
    if (!(await this.#stored.add(sent, to))) for (const webhook of webhooks) webhook.send(sent);
  }
}

/** Whether this is the first to set the last of the bits. */
async function notified(counters: Pick<Counters, 'notify'>, { counter, bits }: AlertMark): Promise<boolean> {
  let isFirst = false;
  for (const bit of bits) isFirst = await counters.notify(counter, bit);
  return isFirst;
}

/** A UUID of version 8 (RFC 9562) of the mark. */
function idOf({ counter: { node, period }, bits }: AlertMark): string {
  const hex = createHash('sha256')
    .update(JSON.stringify([node, period, bits.at(-1)]))
    .digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

const TESTED = 'An operator tests this webhook. Nothing has happened.';
const ANOMALIES_UNKNOWN = 'the ledger could not be asked for anomalies of spending';
