import type { Logger } from 'pino';
import type { AlertKind } from '../../core/kernel/alert-kinds.ts';
import type { Clock } from '../../plugin/index.ts';
import type { FiredAlerts } from './fired-alerts.ts';
import type { AlertFamilies } from './metrics.ts';
import { signedHeaders, signingKey } from '../../core/kernel/webhook-signature.ts';
import type { WebhookSettings } from './settings/compile-alerts.ts';
import type { Upstream } from '../../core/upstream/types.ts';
import { version } from '../../core/kernel/version.ts';
import { messageOf } from '../../core/kernel/outside/thrown.ts';

/** Pauses before the tries after the first: six tries within an hour. */
export const PAUSES_MS: readonly number[] = [15_000, 60_000, 4 * 60_000, 14 * 60_000, 40 * 60_000];
export const TRY_MS = 10_000;
/** Tries at the same time: one slow answer does not hold up the next event. */
const MAX_RUNNING = 4;
const MAX_QUEUED = 1000;
/** At the end of the process, the events that are left get one more try within this time. */
const LAST_MS = 2000;
const MAX_ANSWER = 16 * 1024;

export interface WebhookTools {
  readonly clock: Clock;
  readonly log: Pick<Logger, 'error' | 'warn'>;
  readonly families: AlertFamilies;
  readonly exchange: Upstream['exchange'];
  readonly fired: Pick<FiredAlerts, 'tried' | 'lost'>;
}

export interface WebhookEvent {
  readonly id: string;
  readonly body: string;
}

interface Delivery {
  readonly event: WebhookEvent;
  tries: number;
  stopTimer: (() => void) | undefined;
}

type LostBy = 'tries' | 'queue_full' | 'removed' | 'shutdown';

/** Delivers events to one webhook, and those that no state store takes from memory. Nothing waits for it. */
export class Webhook {
  readonly #tools: WebhookTools;
  readonly #keep: (event: WebhookEvent, to: string) => Promise<boolean>;
  #settings: WebhookSettings;
  readonly #jobs = new Set<Delivery>();
  readonly #ready: Delivery[] = [];
  #running = 0;
  #stored = 0;
  #closed = false;

  /** @param keep puts an event into the state store, from where it is delivered. False: the store does not take it */
  constructor(
    settings: WebhookSettings,
    tools: WebhookTools,
    keep: (event: WebhookEvent, to: string) => Promise<boolean>,
  ) {
    this.#settings = settings;
    this.#tools = tools;
    this.#keep = keep;
    const { webhookTries, webhookQueue } = tools.families;
    webhookQueue.set({ webhook: settings.id }, 0);
    for (const result of ['success', 'failure']) webhookTries.declare({ webhook: settings.id, result });
  }

  get id(): string {
    return this.#settings.id;
  }

  apply(settings: WebhookSettings): void {
    this.#settings = settings;
  }

  takes(nodes: readonly string[], kind: AlertKind): boolean {
    const { kinds, nodes: wanted } = this.#settings;
    return kinds.has(kind) && (!wanted || nodes.some((node) => wanted.has(node)));
  }

  send(event: WebhookEvent): void {
    const job: Delivery = { event, tries: 0, stopTimer: undefined };
    if (this.#closed) return this.#lose(job, 'shutdown', undefined);
    if (this.#jobs.size >= MAX_QUEUED) return this.#lose(job, 'queue_full', undefined);
    this.#jobs.add(job);
    this.#count();
    this.#ready.push(job);
    this.#run();
  }

  remove(): void {
    this.#closed = true;
    for (const job of this.#jobs) this.#lose(job, 'removed', undefined);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const left = [...this.#jobs].filter(({ stopTimer }) => stopTimer !== undefined);
    for (const { stopTimer } of left) stopTimer?.();
    const waiting = [...left, ...this.#ready.splice(0)];
    const last = Promise.all(waiting.map((job) => this.#try(job, LAST_MS)));
    await Promise.race([last, this.#tools.clock.sleep(waiting.length > 0 || this.#running > 0 ? LAST_MS : 0)]);
    for (const job of this.#jobs) this.#lose(job, 'shutdown', undefined);
  }

  #run(): void {
    while (this.#running < MAX_RUNNING && this.#ready.length > 0) {
      const job = this.#ready.shift()!;
      this.#running += 1;
      void this.#try(job, TRY_MS).finally(() => {
        this.#running -= 1;
        this.#run();
      });
    }
  }

  /** Never rejects. */
  async #try(job: Delivery, timeoutMs: number): Promise<void> {
    const failure = await this.post(job.event, timeoutMs);
    const { clock } = this.#tools;
    // In memory it would be lost with this process: the store may take it by now.
    const isOver = failure === undefined || (await this.#keep(job.event, this.id));
    // The event was dropped meanwhile.
    if (!this.#jobs.has(job)) return;
    job.tries += 1;
    if (isOver) return this.#drop(job);
    const pause = PAUSES_MS[job.tries - 1];
    if (pause === undefined) return this.#lose(job, 'tries', failure);
    if (this.#closed) return this.#lose(job, 'shutdown', failure);
    job.stopTimer = clock.after(pause, () => {
      job.stopTimer = undefined;
      this.#ready.push(job);
      this.#run();
    });
  }

  /** One try, which counts. Never rejects. Returns the reason why the event was not delivered. */
  async post(event: WebhookEvent, timeoutMs: number): Promise<string | undefined> {
    const failure = await this.#post(event, timeoutMs);
    const result = failure === undefined ? 'success' : 'failure';
    this.#tools.families.webhookTries.add({ webhook: this.id, result });
    this.#tools.fired.tried(event.id, this.id, failure === undefined ? undefined : this.inClear(failure));
    return failure;
  }

  /** A reason without the address, which may have a secret in it. */
  inClear(failure: string): string {
    const { href = '', pathname = '', search = '' } = URL.parse(this.#settings.url.reveal()) ?? {};
    const secrets = [href, pathname + search, pathname].filter(({ length }) => length > 1);
    return secrets.reduce((text, secret) => text.replaceAll(secret, '[address]'), failure).slice(0, 500);
  }

  /** The reason why the event was not delivered. A redirect is not followed: it would send the event to a host that the settings do not name. */
  async #post({ id, body }: WebhookEvent, timeoutMs: number): Promise<string | undefined> {
    const { clock, exchange } = this.#tools;
    const { url, secret, allowInsecure } = this.#settings;
    const key = signingKey(secret);
    if (!key) return 'the secret has a wrong form';
    try {
      const { status } = await exchange({
        url: url.reveal(),
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'user-agent': `gatehouse/${version().version}`,
          ...signedHeaders(id, clock.wall(), body, key),
        },
        body,
        maxBytes: MAX_ANSWER,
        connections: MAX_RUNNING,
        allowInsecure,
        timeoutMs,
      });
      return status >= 200 && status < 300 ? undefined : `HTTP ${status}`;
    } catch (error) {
      return messageOf(error);
    }
  }

  #drop(job: Delivery): void {
    this.#jobs.delete(job);
    this.#count();
  }

  #lose(job: Delivery, reason: LostBy, failure: string | undefined): void {
    job.stopTimer?.();
    this.#drop(job);
    this.lose(job.event, job.tries, reason, failure);
  }

  /** The log has the whole event, so that an alert is never lost without a trace. */
  lose(event: WebhookEvent, tries: number, reason: LostBy, failure: string | undefined): void {
    const { id } = this.#settings;
    const { log, families } = this.#tools;
    families.webhookDeadLetters.add({ webhook: id, reason });
    this.#tools.fired.lost(event.id, id);
    log.error(
      {
        webhook: id,
        event: JSON.parse(event.body) as object,
        reason,
        tries,
        ...(failure !== undefined && { failure }),
      },
      'an alert could not be delivered to its webhook',
    );
  }

  /** @param stored events that wait in the state store */
  showQueue(stored: number): void {
    this.#stored = stored;
    this.#count();
  }

  #count(): void {
    this.#tools.families.webhookQueue.set({ webhook: this.#settings.id }, this.#jobs.size + this.#stored);
  }
}
