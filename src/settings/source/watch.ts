import { watch } from 'node:fs';
import type { Clock } from '../../plugin/index.ts';
import type { RecordedFiles } from './recorded-files.ts';
import { watchedPlaces } from './watched-places.ts';

/** Watches one folder. `on.change` receives the name of the changed entry, or null where the system gives none. May throw. */
export type WatchFolder = (
  folder: string,
  on: { readonly change: (name: string | null) => void; readonly error: (error: unknown) => void },
) => { close(): void };

/** The system's file watcher: inotify on Linux. Does not keep the process alive. */
export const watchFolder: WatchFolder = (folder, on) => {
  const watcher = watch(folder, { persistent: false }, (_event, name) => on.change(name));
  watcher.on('error', on.error);
  return watcher;
};

/** Files that keep changing are reported after this many debounce times, counted from the first change. */
const MAX_DEBOUNCES = 10;

export interface WatchSetup {
  readonly clock: Clock;
  readonly watchFolder: WatchFolder;
  /** The files have changed and then stayed unchanged for the debounce time, or have kept changing for too long. */
  readonly onChange: () => void;
  /** A folder cannot be watched. Called once per folder until it can be watched again. */
  readonly onBlind: (folder: string, error: unknown) => void;
}

/** Watches the files of one load until `follow` is called for the next. */
export class SettingsWatch {
  readonly #setup: WatchSetup;
  readonly #blind = new Set<string>();
  #watchers: { close(): void }[] = [];
  #debounceMs = 0;
  #stopWaiting: (() => void) | undefined;
  /** Time of the first change that has not been reported. */
  #pendingSince: number | undefined;
  /** Incremented by every `follow` and `stop`: pending work of an earlier round is void. */
  #round = 0;

  constructor(setup: WatchSetup) {
    this.#setup = setup;
  }

  /** From now on watches the files of this load only. */
  async follow(files: RecordedFiles, debounceMs: number): Promise<void> {
    const round = (this.#round += 1);
    this.#debounceMs = debounceMs;
    const places = await watchedPlaces(files);
    if (round !== this.#round) return;
    // New watchers open before the old ones close, so that no change in between is missed.
    const old = this.#watchers;
    this.#watchers = [...places].flatMap(([folder, matters]) => this.#open(folder, matters) ?? []);
    for (const watcher of old) watcher.close();
    // A file may have changed after it was read and before it was watched.
    if (!(await files.stillTrue()) && round === this.#round) this.#changed();
  }

  stop(): void {
    this.#round += 1;
    this.#stopWaiting?.();
    this.#stopWaiting = undefined;
    this.#pendingSince = undefined;
    for (const watcher of this.#watchers.splice(0)) watcher.close();
  }

  #open(folder: string, matters: (name: string) => boolean): { close(): void } | undefined {
    try {
      const watcher = this.#setup.watchFolder(folder, {
        change: (name) => {
          if (name === null || matters(name)) this.#changed();
        },
        error: (error) => {
          this.#cannotSee(folder, error);
          // The next load opens new watchers: the folder may only have been replaced.
          this.#changed();
        },
      });
      this.#blind.delete(folder);
      return watcher;
    } catch (error) {
      this.#cannotSee(folder, error);
      return undefined;
    }
  }

  #cannotSee(folder: string, error: unknown): void {
    if (this.#blind.has(folder)) return;
    this.#blind.add(folder);
    this.#setup.onBlind(folder, error);
  }

  /** A deployment causes many events: reports after the last one, or after MAX_DEBOUNCES if they do not end. */
  #changed(): void {
    const { clock } = this.#setup;
    this.#pendingSince ??= clock.now();
    const latest = this.#pendingSince + MAX_DEBOUNCES * this.#debounceMs;
    this.#stopWaiting?.();
    this.#stopWaiting = clock.after(Math.max(0, Math.min(this.#debounceMs, latest - clock.now())), () => {
      this.#stopWaiting = undefined;
      this.#pendingSince = undefined;
      this.#setup.onChange();
    });
  }
}
