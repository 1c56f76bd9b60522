import type { Clock } from '../../../plugin/index.ts';
import type { Version } from '../../../core/ports/entities.ts';
import type { ConnectionPool } from '../connect/connections.ts';

/** Time between two looks at the version; random by a fifth, so that the gateways of a fleet do not ask at once. */
const LOOK_MS = 1_000;
const SPREAD = 0.2;

interface VersionsSetup {
  readonly clock: Pick<Clock, 'after'>;
  readonly connections: ConnectionPool;
  /** Begins to listen to writes. Returns a function that ends it. Undefined: the looks find them alone. */
  readonly listen: ((written: (version: Version) => void) => () => void) | undefined;
}

/** Tells watchers that the version of the store has changed: by a notification of the server and, because one may be lost, by looks. */
export class Versions {
  readonly #setup: VersionsSetup;
  readonly #watchers = new Set<(version: Version) => void>();
  #last: Version | undefined;
  #epoch: string | undefined;
  #stop: (() => void)[] = [];
  #isClosed = false;

  constructor(setup: VersionsSetup) {
    this.#setup = setup;
  }

  watch(hint: (version: Version) => void): () => void {
    this.#watchers.add(hint);
    if (this.#watchers.size === 1 && this.#stop.length === 0) this.#start();
    return () => void this.#watchers.delete(hint);
  }

  hint(version: Version): void {
    if (this.#last === undefined || version > this.#last) this.#tell(version);
  }

  close(): void {
    this.#isClosed = true;
    this.#watchers.clear();
    for (const stop of this.#stop) stop();
  }

  #start(): void {
    const { listen } = this.#setup;
    this.#stop = [() => {}, listen?.((version) => this.hint(version)) ?? (() => {})];
    this.#lookLater();
  }

  #lookLater(): void {
    if (this.#isClosed) return;
    const wait = LOOK_MS * (1 - SPREAD + 2 * SPREAD * Math.random());
    this.#stop[0] = this.#setup.clock.after(wait, () => void this.#look().finally(() => this.#lookLater()));
  }

  /** Never rejects: the caller that loads finds out that the store does not answer. */
  async #look(): Promise<void> {
    const [found] = await this.#setup.connections
      .one<{ value: Version; epoch: string }>(
        `SELECT value, (SELECT id FROM epoch ORDER BY at DESC LIMIT 1) AS epoch FROM sequence WHERE name = 'version'`,
      )
      .catch(() => []);
    if (!found) return;
    const isOther = this.#epoch !== undefined && this.#epoch !== found.epoch;
    this.#epoch = found.epoch;
    // An earlier version is news too: a failover lost commits, or a backup was restored.
    if (isOther || found.value !== this.#last) this.#tell(found.value);
  }

  #tell(version: Version): void {
    this.#last = version;
    for (const watcher of this.#watchers) watcher(version);
  }
}
