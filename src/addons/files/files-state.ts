import type { Logger } from 'pino';
import type { Clock } from '../../plugin/index.ts';
import type { FileStore, SweptStore } from './file-store.ts';
import { Arrivals } from './arrivals.ts';
import { Uploads } from './uploads.ts';

/** Expired files are invisible at once, so their removal can wait. */
const SWEEP_MS = 10 * 60 * 1000;

interface FilesStateSetup {
  readonly clock: Clock;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  readonly counted: (size: FilesSize) => void;
}

type FilesSize = Pick<SweptStore, 'files' | 'bytes'>;

const NONE: FilesSize = { files: 0, bytes: 0 };

/** The knowledge of a process about stored files besides the store: its own uploads, and when to sweep. Outlives snapshots. */
export class FilesState {
  readonly uploads = new Uploads();
  readonly arrivals = new Arrivals();
  readonly #setup: FilesStateSetup;
  #store: FileStore | undefined;
  #stop: (() => void) | undefined;
  /** Size of the store at the last sweep, with this process's own changes since. */
  #size = NONE;

  constructor(setup: FilesStateSetup) {
    this.#setup = setup;
  }

  /** Called when settings go live. Sweeps at once: a crash may have left unfinished uploads. */
  use(store: FileStore | undefined): void {
    this.stop();
    this.#store = store;
    if (store) void this.#sweep(store);
    else this.#count(NONE);
  }

  /** Called after an upload (1) and after a removal (-1). Other processes count the change with their next sweep. */
  changed(files: 1 | -1, bytes: number): void {
    const { files: before, bytes: bytesBefore } = this.#size;
    this.#count({ files: Math.max(0, before + files), bytes: Math.max(0, bytesBefore + files * bytes) });
  }

  stop(): void {
    this.#stop?.();
    this.#stop = undefined;
    this.#store = undefined;
  }

  #count(size: FilesSize): void {
    this.#size = size;
    this.#setup.counted(size);
  }

  async #sweep(store: FileStore): Promise<void> {
    const { clock, log } = this.#setup;
    try {
      const { removed, files, bytes } = await store.sweep(clock.wall());
      if (this.#store === store) this.#count({ files, bytes });
      if (removed > 0) log.info({ removed }, 'removed expired and unfinished files');
    } catch (err) {
      log.warn({ err }, 'the stored files cannot be swept');
    }
    if (this.#store === store) this.#stop = clock.after(SWEEP_MS, () => void this.#sweep(store));
  }
}
