import { Secret, type Clock } from '../../../plugin/index.ts';
import { diskFiles, type SettingsFiles } from '../source/files.ts';
import { loadSettings, type LoadResult, type Settings } from './load.ts';
import { privateDigest, RecordedFiles } from '../source/recorded-files.ts';
import type { Environment } from '../values/references.ts';

export interface SettledLoad {
  readonly loaded: LoadResult;
  /** The files that it read, also after a failed load. */
  readonly files: RecordedFiles;
}

interface SettledOptions {
  readonly env: Environment;
  readonly clock: Clock;
  /** Default: the disk. */
  readonly files?: SettingsFiles;
  /** The load of the current settings. One of its files counts as removed only if it stays missing longer than a rename takes. */
  readonly before?: RecordedFiles;
  readonly pauseMs: number;
}

/** How often files are read that keep changing meanwhile. */
const MAX_TRIES = 5;

/** Never half of a deployment, nor the gap in which an editor or Kubernetes replaces a file. */
export async function loadSettled(folder: string, options: SettledOptions): Promise<SettledLoad> {
  const { env, clock, before, pauseMs } = options;
  let missed = false;
  for (let tries = 1; ; tries += 1) {
    const files = new RecordedFiles(options.files ?? diskFiles);
    const loaded = await loadSettings(folder, { env, files, now: clock.wall() });
    const missing = await files.misses(before);
    // Checked last: a file that came back since the load is a change.
    const steady = await files.stillTrue();
    // A missing file is looked for once more; missing twice, it counts as missing.
    if (steady && (missed || !missing)) return { loaded, files };
    missed = steady;
    if (tries === MAX_TRIES) {
      loaded.reporter('')({ path: [], message: `the settings kept changing while they were read, ${tries} times` });
      return { loaded, files };
    }
    await new Promise<void>((resolve) => void clock.after(pauseMs, resolve));
  }
}

/** Equal when two loads of files have the same content, secrets included. Only comments may differ. */
export function fingerprint(settings: Settings): string {
  const { server, catalog, written, gateway, tls, outbound, hash, files } = settings;
  const content = reveal([server, catalog, written.keys, [...gateway], tls, outbound]);
  return privateDigest(JSON.stringify([hash, files, content]));
}

/** Replaces each Secret with its value: a Secret serializes as its source, whatever its value. */
function reveal(value: unknown): unknown {
  if (value instanceof Secret) return { secret: value.reveal() };
  if (Array.isArray(value)) return value.map(reveal);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, reveal(inner)]));
}
