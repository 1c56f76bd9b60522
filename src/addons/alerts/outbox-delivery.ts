import type { Logger } from 'pino';
import type { Outbox, TakenEvent } from '../../core/ports/outbox.ts';
import { messageOf } from '../../core/kernel/outside/thrown.ts';
import { oneAtATime } from '../../core/process/one-at-a-time.ts';
import type { Clock } from '../../plugin/index.ts';
import { PAUSES_MS, TRY_MS, type Webhook, type WebhookEvent } from './webhook.ts';

/** Pause between two looks for events that other gateways left, and for those that are due again. */
const LOOK_MS = 5_000;
/** Events of one webhook at a time. */
const MOST = 4;
/** No other gateway takes an event while this one tries it. */
const CLAIM_MS = 3 * TRY_MS;

interface OutboxSetup {
  readonly clock: Pick<Clock, 'after'>;
  readonly log: Pick<Logger, 'warn'>;
  /** Undefined: there is no store, or it does not answer. */
  readonly outbox: () => Outbox | undefined;
  readonly webhooks: ReadonlyMap<string, Webhook>;
  /** There may be events that this process has not added: of other gateways, or in a store that does not answer yet. */
  readonly mayHaveOthers: () => boolean;
}

/** Delivers events that are rows of the state store: each is gone when its webhook has it, and outlives the process that has raised it. */
export class OutboxDelivery {
  readonly #setup: OutboxSetup;
  readonly #runs = new Map<string, () => Promise<void>>();
  #isStopped = false;
  #stopTimer: (() => void) | undefined;

  constructor(setup: OutboxSetup) {
    this.#setup = setup;
  }

  /** Looks for events, from now on while there are any or other gateways may leave some. May be called again. */
  start(): void {
    for (const id of this.#setup.webhooks.keys()) this.#run(id);
  }

  #lookLater(): void {
    if (this.#isStopped || this.#stopTimer) return;
    this.#stopTimer = this.#setup.clock.after(LOOK_MS, () => {
      this.#stopTimer = undefined;
      this.start();
    });
  }

  /** The rest stays in the store. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stopTimer?.();
    await Promise.all([...this.#runs.values()].map((run) => run()));
  }

  /** False: the store does not take it. */
  async add(event: WebhookEvent, to: readonly string[]): Promise<boolean> {
    const outbox = this.#setup.outbox();
    if (!outbox || to.length === 0) return outbox !== undefined;
    try {
      await outbox.add(to.map((id) => ({ id: event.id, to: id, body: event.body })));
    } catch (error) {
      this.#setup.log.warn(
        { reason: messageOf(error), event_id: event.id },
        'an alert waits in memory and not in the store',
      );
      return false;
    }
    for (const id of to) this.#run(id);
    return true;
  }

  /** The settings have the webhook no more: its events are lost. */
  async removed(webhook: Webhook): Promise<void> {
    this.#runs.delete(webhook.id);
    await this.#each(webhook.id, async (event, outbox) => {
      await outbox.done([event]);
      webhook.lose(event, event.tries - 1, 'removed', undefined);
    });
  }

  #run(id: string): void {
    let run = this.#runs.get(id);
    if (!run) this.#runs.set(id, (run = oneAtATime(() => this.#deliver(id))));
    void run();
  }

  #deliver(id: string): Promise<void> {
    return this.#each(id, async (event, outbox) => {
      const webhook = this.#setup.webhooks.get(id);
      if (!webhook || this.#isStopped) return outbox.again(event, 1);
      const failure = await webhook.post(event, TRY_MS);
      if (failure === undefined) return outbox.done([event]);
      const pause = PAUSES_MS[event.tries - 1];
      if (pause !== undefined) return outbox.again(event, pause);
      await outbox.done([event]);
      webhook.lose(event, event.tries, 'tries', failure);
    });
  }

  /** Never rejects: another look follows. */
  async #each(id: string, task: (event: TakenEvent, outbox: Outbox) => Promise<void>): Promise<void> {
    try {
      for (let taken = MOST; taken === MOST && !this.#isStopped;) {
        const outbox = this.#setup.outbox();
        const events = (await outbox?.take([id], MOST, CLAIM_MS)) ?? [];
        taken = events.length;
        await Promise.all(events.map((event) => task(event, outbox!)));
      }
      const waiting = (await this.#setup.outbox()?.waiting())?.get(id);
      this.#setup.webhooks.get(id)?.showQueue(waiting ?? 0);
      if (waiting !== undefined || this.#setup.mayHaveOthers()) this.#lookLater();
    } catch (error) {
      this.#lookLater();
      this.#setup.log.warn({ webhook: id, reason: messageOf(error) }, 'the alerts in the store could not be delivered');
    }
  }
}
