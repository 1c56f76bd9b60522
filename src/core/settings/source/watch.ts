import { watch } from 'node:fs';
import type { Clock } from '../../../plugin/index.ts';
import { lstat, readlink } from 'node:fs/promises';
import { basename, join, parse, resolve } from 'node:path';
import type { RecordedFiles } from './recorded-files.ts';

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

interface WatchSetup {
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

  /** From now on watches the files of this load only. @param more paths of files that the load has not read itself */
  async follow(files: RecordedFiles, debounceMs: number, more: readonly string[] = []): Promise<void> {
    const round = (this.#round += 1);
    this.#debounceMs = debounceMs;
    const { folders, matters } = files;
    const places = await watchedPlaces({ paths: [...files.paths, ...more], folders, matters });
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

/** The real folders to watch, each with a filter for the relevant names in it. */
type WatchedPlaces = ReadonlyMap<string, (name: string) => boolean>;

/** The number of links that Linux follows before it fails with ELOOP. */
const MAX_LINKS = 40;

/**
 * Every folder in which a change can alter one of these files: the real folder of the file, and the folder of each symbolic
 * link on the path. So the swap of a ConfigMap (`server.yaml → ..data/server.yaml`, `..data → ..2026_…`) is noticed where it
 * happens, at `..data`, and so is a release that is switched by one link above all settings. For a missing file it is the
 * folder in which the file would appear.
 */
export async function watchedPlaces({
  paths,
  folders,
  matters,
}: Pick<RecordedFiles, 'paths' | 'folders' | 'matters'>): Promise<WatchedPlaces> {
  const names = new Map<string, Set<string>>();
  const listed = new Set<string>();
  const add = (folder: string, name: string): void => {
    const known = names.get(folder);
    if (known) known.add(name);
    else names.set(folder, new Set([name]));
  };
  for (const path of paths) await follow(resolve(path), add);
  for (const path of folders) {
    const real = await follow(resolve(path), add);
    if (real === undefined) continue;
    listed.add(real);
    // An event about the folder itself carries the folder's own name.
    add(real, basename(real));
  }
  return new Map(
    [...names].map(([folder, known]) => [folder, (name) => known.has(name) || (listed.has(folder) && matters(name))]),
  );
}

/** Resolves a path as the system does. Returns the real path; undefined when a part of it does not exist. */
async function follow(path: string, add: (folder: string, name: string) => void): Promise<string | undefined> {
  const { root } = parse(path);
  let at = root;
  let rest = segments(path.slice(root.length));
  for (let links = 0; rest.length > 0;) {
    const [name = '', ...after] = rest;
    const here = join(at, name);
    const kind = await kindOf(here);
    // A plain folder on the way needs no watch of its own: a swap happens at a link or at the last segment.
    if (kind !== 'other' || after.length === 0) add(at, name);
    if (kind === 'missing') return undefined;
    if (kind === 'link') {
      if ((links += 1) > MAX_LINKS) return undefined;
      const target = await readlink(here).catch(() => undefined);
      if (target === undefined) return undefined;
      rest = [...segments(resolve(at, target).slice(root.length)), ...after];
      at = root;
    } else {
      at = here;
      rest = after;
    }
  }
  return at;
}

const segments = (path: string): string[] => path.split(/[\\/]/).filter((segment) => segment !== '');

async function kindOf(path: string): Promise<'link' | 'other' | 'missing'> {
  try {
    return (await lstat(path)).isSymbolicLink() ? 'link' : 'other';
  } catch {
    return 'missing';
  }
}
