import { basename } from 'node:path';
import type { Logger } from 'pino';
import type { Clock } from '../../../plugin/index.ts';
import type { Boot } from '../../../core/ports/counters.ts';
import { spoolsIn } from '../store/spool/read-spool.ts';
import { spoolName } from '../store/spool/spool.ts';
import type { StoreHandle } from '../../../core/ports/store-handle.ts';
import { isAlive, replaySpool, type Replayed } from './spool-replay.ts';

/** Pause after a failure of the store, and before a spool is looked at again whose process may live. */
const AGAIN_MS = 1000;
/** The system may have given the id of the process to another one: after so long a spool is replayed all the same. */
const ALIVE_MS = 60_000;

export interface SpoolsSetup {
  readonly folder: string;
  readonly state: StoreHandle;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn' | 'error'>;
  readonly onReplayed: (replayed: Replayed) => void;
}

/** The spools of processes that have ended. The owner of the folder writes them to the store, one after the other, while it serves. */
export class Spools {
  readonly #setup: SpoolsSetup;
  readonly #waiting = new Map<string, number>();
  #running: Promise<void> | undefined;
  #closed = false;

  constructor(setup: SpoolsSetup) {
    this.#setup = setup;
  }

  /** All spools that are there now, except that of this process. */
  start(own: Boot['id']): void {
    this.#take((name) => !name.endsWith(own));
  }

  ended(pid: number): void {
    this.#take((name) => name.startsWith(spoolName(pid, '')));
  }

  /** Resolves when no spool is being written. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  #take(isEnded: (name: string) => boolean): void {
    const { folder, clock, log } = this.#setup;
    try {
      for (const path of spoolsIn(folder)) if (isEnded(basename(path))) this.#waiting.set(path, clock.now());
    } catch (err) {
      log.error({ err }, 'the spools of ended processes cannot be read');
    }
    this.#run();
  }

  #run(): void {
    if (this.#running || this.#closed || this.#waiting.size === 0) return;
    this.#running = this.#replayAll().finally(() => {
      this.#running = undefined;
      if (this.#waiting.size > 0) this.#setup.clock.after(AGAIN_MS, () => this.#run());
    });
  }

  async #replayAll(): Promise<void> {
    const { state, clock, log, onReplayed } = this.#setup;
    for (const [path, since] of this.#waiting) {
      const { store } = state;
      if (!store || this.#closed) return;
      try {
        if (clock.now() - since < ALIVE_MS && (await isAlive(path))) continue;
        const replayed = await replaySpool(path, store);
        this.#waiting.delete(path);
        onReplayed(replayed);
        log.warn(
          { spool: basename(path), lost: replayed.lost },
          'a process had ended before the state store had everything; it has now',
        );
      } catch (err) {
        log.error(
          { err, spool: basename(path) },
          'the spool of an ended process cannot be written to the state store; another try follows',
        );
        return;
      }
    }
  }
}
