import type { Logger } from 'pino';
import type { Clock } from '../plugin/index.ts';
import type { FileStore } from '../state/file-store.ts';
import { Uploads } from './uploads.ts';

/** Expired files are invisible at once, so their removal can wait. */
const SWEEP_MS = 10 * 60 * 1000;

interface FilesStateSetup {
  readonly clock: Clock;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

/** What a process knows of stored files besides the store: its own uploads, and when to sweep. Outlives snapshots. */
export class FilesState {
  readonly uploads = new Uploads();
  readonly #setup: FilesStateSetup;
  #store: FileStore | undefined;
  #stop: (() => void) | undefined;

  constructor(setup: FilesStateSetup) {
    this.#setup = setup;
  }

  /** Called when settings go live. Sweeps at once: a crash may have left unfinished uploads. */
  use(store: FileStore | undefined): void {
    this.stop();
    this.#store = store;
    if (store) void this.#sweep(store);
  }

  stop(): void {
    this.#stop?.();
    this.#stop = undefined;
    this.#store = undefined;
  }

  async #sweep(store: FileStore): Promise<void> {
    const { clock, log } = this.#setup;
    try {
      const removed = await store.sweep(clock.wall());
      if (removed > 0) log.info({ removed }, 'removed expired and unfinished files');
    } catch (err) {
      log.warn({ err }, 'the stored files cannot be swept');
    }
    if (this.#store === store) this.#stop = clock.after(SWEEP_MS, () => void this.#sweep(store));
  }
}
