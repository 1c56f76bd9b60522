import type { Clock } from '../../plugin/index.ts';
import { diskFiles, type SettingsFiles } from './files.ts';
import { loadSettings, type LoadResult } from '../read/load.ts';
import { RecordedFiles } from './recorded-files.ts';
import type { Environment } from '../read/resolve-references.ts';

export interface SettledLoad {
  readonly loaded: LoadResult;
  /** What it read, those of a load that failed among them. */
  readonly files: RecordedFiles;
}

export interface SettledOptions {
  readonly env: Environment;
  readonly clock: Clock;
  /** Default: the disk. */
  readonly files?: SettingsFiles;
  /** The load whose settings serve now; what it found and is gone must be gone for longer than a rename takes. */
  readonly before?: RecordedFiles;
  /** How long to wait before another look. */
  readonly pauseMs: number;
}

/** So often files that change while they are read are read anew. */
const MAX_TRIES = 5;

/**
 * Loads one state of the files: never half of a deployment, never the gap in which an editor or Kubernetes has taken the old
 * file away and not put the new one in its place.
 */
export async function loadSettled(folder: string, options: SettledOptions): Promise<SettledLoad> {
  const { env, clock, before, pauseMs } = options;
  let missed = false;
  for (let tries = 1; ; tries += 1) {
    const files = new RecordedFiles(options.files ?? diskFiles);
    const loaded = await loadSettings(folder, { env, files, now: clock.wall() });
    const missing = await files.misses(before);
    // The last look of all: what has come back since the load is a change.
    const steady = await files.stillTrue();
    // What is missing gets one more look; missing twice is missing.
    if (steady && (missed || !missing)) return { loaded, files };
    missed = steady;
    if (tries === MAX_TRIES) {
      loaded.reporter('')({ path: [], message: `the settings kept changing while they were read, ${tries} times` });
      return { loaded, files };
    }
    await new Promise<void>((resolve) => void clock.after(pauseMs, resolve));
  }
}
