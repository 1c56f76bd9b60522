import { relative } from 'node:path';
import type { Clock } from '../../plugin/index.ts';
import { diskFiles, type SettingsFiles, type FileRead, type FolderRead } from '../../core/settings/source/files.ts';
import { mayBeSettingsOrTests, RecordedFiles } from '../../core/settings/source/recorded-files.ts';
import { SettingsWatch, type WatchFolder } from '../../core/settings/source/watch.ts';

interface TestWatch {
  readonly clock: Clock;
  readonly watchFolder: WatchFolder;
  /** Runs everything once. Must call `onRead` when all files have been read, before any case runs. */
  readonly round: (files: SettingsFiles, onRead: () => void) => Promise<void>;
  readonly stopped: Promise<unknown>;
  /** Called before each round except the first, with the changed paths. */
  readonly onChange: (paths: readonly string[]) => void;
  readonly onWaiting: () => void;
  readonly onBlind: (folder: string, error: unknown) => void;
}

/** Editors save in several steps. */
const DEBOUNCE_MS = 150;

/**
 * Runs again whenever a file changes that was read: settings, tests, and referenced files. Resolves when it is stopped.
 */
export async function watchTests(setup: TestWatch): Promise<void> {
  const { clock, watchFolder, stopped, round, onBlind } = setup;
  let wake = Promise.withResolvers<void>();
  const watch = new SettingsWatch({ clock, watchFolder, onChange: () => wake.resolve(), onBlind });
  let isStopped = false;
  const end = stopped.then(() => void (isStopped = true));
  /** Returns false when it was stopped before a change. */
  const nextChange = async (files: RecordedFiles): Promise<boolean> => {
    await Promise.race([wake.promise, end]);
    if (isStopped) return false;
    // Reset first, so that a change during the comparison counts as another change.
    wake = Promise.withResolvers();
    // Saved without a change: no new round.
    return (await files.stillTrue()) ? nextChange(files) : true;
  };
  let before: RecordedFiles | undefined;
  try {
    for (;;) {
      const files = new RecordedFiles(diskFiles, mayBeSettingsOrTests);
      const last = before;
      await round(new OnceFiles(files), () => last && setup.onChange(changes(files, last)));
      if (isStopped) return;
      before = files;
      await watch.follow(files, DEBOUNCE_MS);
      setup.onWaiting();
      if (!(await nextChange(files))) return;
    }
  } finally {
    watch.stop();
  }
}

const changes = (files: RecordedFiles, before: RecordedFiles): readonly string[] =>
  files.changesSince(before).map((path) => relative('', path) || path);

/** Reads every file once, so that all cases of a run use the same settings even if files are saved meanwhile. */
export class OnceFiles implements SettingsFiles {
  readonly #files: SettingsFiles;
  readonly #read = new Map<string, Promise<FileRead>>();
  readonly #listed = new Map<string, Promise<FolderRead>>();

  constructor(files: SettingsFiles) {
    this.#files = files;
  }

  read(path: string): Promise<FileRead> {
    return kept(this.#read, path, () => this.#files.read(path));
  }

  list(folder: string): Promise<FolderRead> {
    return kept(this.#listed, folder, () => this.#files.list(folder));
  }
}

function kept<T>(map: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  let found = map.get(key);
  if (!found) map.set(key, (found = make()));
  return found;
}
