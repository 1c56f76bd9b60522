import {
  SEALED_OF_ALERTS,
  type StoredAlert,
  type StoredChanges,
  type StoredObjects,
} from '../../core/settings/source/stored-objects.ts';
import { compileWebhook, type WebhookSettings } from './settings/compile-alerts.ts';
import type { Logger } from 'pino';
import { Secret, type Clock } from '../../plugin/index.ts';
import type { Entities } from '../../core/ports/entities.ts';
import { StateFailure } from '../../core/ports/failures.ts';
import { oneAtATime } from '../../core/process/one-at-a-time.ts';
import { messageOf } from '../../core/kernel/outside/thrown.ts';

/** Pause before the next read of a store that did not answer. */
const AGAIN_MS = 10_000;

interface StoredWebhooksSetup {
  readonly clock: Pick<Clock, 'after'>;
  readonly log: Pick<Logger, 'error'>;
  readonly objects: { readonly now: StoredObjects; onChange(listener: (changes: StoredChanges) => void): void };
  /** Undefined while the store does not answer. */
  readonly entities: () => Pick<Entities, 'unseal'> | undefined;
  readonly use: (webhooks: readonly WebhookSettings[]) => void;
}

/** The webhooks of the state store, read from the store itself: a snapshot on disk has no sealed address or secret. */
export class StoredWebhooks {
  readonly #setup: StoredWebhooksSetup;
  /** By object: the webhook of an unchanged object is not unsealed again. */
  #known = new Map<StoredAlert, WebhookSettings>();
  #isStopped = false;
  #stopTimer = (): void => {};
  readonly #read = oneAtATime(() => this.#readNow());

  constructor(setup: StoredWebhooksSetup) {
    this.#setup = setup;
  }

  start(): Promise<void> {
    this.#setup.objects.onChange(({ changed, gone }) => {
      const isConcerned =
        changed.some(({ kind }) => kind === 'alerts') || gone.some((name) => name.startsWith('alerts/'));
      if (isConcerned) void this.#read();
    });
    return this.#read();
  }

  stop(): void {
    this.#isStopped = true;
    this.#stopTimer();
  }

  /** Never rejects. */
  async #readNow(): Promise<void> {
    this.#stopTimer();
    const { objects, entities, log, use, clock } = this.#setup;
    const wanted = [...objects.now.objects.values()].filter(
      (one): one is StoredAlert => one.kind === 'alerts' && one.problem === undefined,
    );
    const known = new Map<StoredAlert, WebhookSettings>();
    let isWhole = true;
    for (const alert of wanted) {
      const store = entities();
      try {
        if (!store && !this.#known.has(alert)) isWhole = false;
        const webhook = this.#known.get(alert) ?? (store && (await unsealed(alert, store)));
        if (webhook) known.set(alert, webhook);
      } catch (error) {
        isWhole &&= !mayPass(error);
        // Messages of the store name a field and quote no value.
        const reason = messageOf(error);
        log.error({ webhook: alert.id, reason }, 'a webhook of the state store cannot be used');
      }
    }
    if (this.#isStopped) return;
    this.#known = known;
    use([...known.values()]);
    if (!isWhole) this.#stopTimer = clock.after(AGAIN_MS, () => void this.#read());
  }
}

/** An object of an import has no sealed fields until its next write, and a key that cannot open them needs a restart. */
const mayPass = (error: unknown): boolean => error instanceof StateFailure && error.code === 'unavailable';

async function unsealed({ id, value }: StoredAlert, store: Pick<Entities, 'unseal'>): Promise<WebhookSettings> {
  const [url, secret] = await Promise.all(SEALED_OF_ALERTS.map((field) => store.unseal({ kind: 'alerts', id }, field)));
  return compileWebhook({ ...value, id, url: new Secret(url!), secret: new Secret(secret!) });
}
