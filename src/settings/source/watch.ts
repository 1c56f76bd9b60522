import { watch } from 'node:fs';
import type { Clock } from '../../plugin/index.ts';
import type { RecordedFiles } from './recorded-files.ts';
import { watchedPlaces } from './watched-places.ts';

/** Watches one folder. `onChange` is told the name of what changed in it, or null where the system does not say. May throw. */
export type WatchFolder = (
  folder: string,
  on: { readonly change: (name: string | null) => void; readonly error: (error: unknown) => void },
) => { close(): void };

/** The system's own: inotify on Linux. Does not keep the process alive. */
export const watchFolder: WatchFolder = (folder, on) => {
  const watcher = watch(folder, { persistent: false }, (_event, name) => on.change(name));
  watcher.on('error', on.error);
  return watcher;
};

/** Files that are never quiet have their changes told after so many times the debounce, counted from the first one. */
const MAX_DEBOUNCES = 10;

export interface WatchSetup {
  readonly clock: Clock;
  readonly watchFolder: WatchFolder;
  /** The files have changed and been quiet since, or have gone on changing for too long to wait. */
  readonly onChange: () => void;
  /** A folder cannot be watched; told once, until it can be again. */
  readonly onBlind: (folder: string, error: unknown) => void;
}

/** Watches the files of a load until it is told of the next one. */
export class SettingsWatch {
  readonly #setup: WatchSetup;
  readonly #blind = new Set<string>();
  #watchers: { close(): void }[] = [];
  #debounceMs = 0;
  #stopWaiting: (() => void) | undefined;
  /** When the first change came that has not been told. */
  #pendingSince: number | undefined;
  /** Goes up with every `follow` and `stop`: what an older one still has under way is void. */
  #round = 0;

  constructor(setup: WatchSetup) {
    this.#setup = setup;
  }

  /** Watches what this load has read from now on, and nothing else. */
  async follow(files: RecordedFiles, debounceMs: number): Promise<void> {
    const round = (this.#round += 1);
    this.#debounceMs = debounceMs;
    const places = await watchedPlaces(files);
    if (round !== this.#round) return;
    // The new ones before the old ones go: no moment in between goes unseen.
    const old = this.#watchers;
    this.#watchers = [...places].flatMap(([folder, matters]) => this.#open(folder, matters) ?? []);
    for (const watcher of old) watcher.close();
    // What changed after it was read and before it was watched.
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
          // The load that follows watches anew: perhaps the folder was only put in place anew.
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

  /** Deployments come as many events: the last one counts, unless there is no end of them. */
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
