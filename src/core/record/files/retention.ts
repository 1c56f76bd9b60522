import { readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';

/** The name of a file of records: the time of its beginning, the process, and its number in it. */
export const RECORD_FILE = {
  named: (wallMs: number, process: string, number: number): string =>
    `records-${new Date(wallMs).toISOString().replaceAll(/[-:]/g, '').slice(0, 15)}Z-${process}-${number}.jsonl`,
  pattern: /^records-\d{8}T\d{6}Z-.*\.jsonl$/,
};

/**
 * Removes files of records that are too old, and the oldest until the rest leaves room for another file. Several
 * processes may do this in one folder: a file that is already gone is no error.
 * @param keep the name of the file in use
 * @param free bytes that must be left
 */
export async function removeOldFiles(
  { dir, maxBytes, maxAgeMs }: { readonly dir: string; readonly maxBytes: number; readonly maxAgeMs: number },
  { now, keep, free }: { readonly now: number; readonly keep: string; readonly free: number },
): Promise<void> {
  const names = (await readdir(dir)).filter((name) => RECORD_FILE.pattern.test(name) && name !== keep);
  const found = (await Promise.all(names.map((name) => describe(join(dir, name))))).filter(
    (file) => file !== undefined,
  );
  const latestFirst = found.toSorted((one, other) => other.changedAt - one.changedAt);
  let bytes = free;
  for (const file of latestFirst) {
    bytes += file.bytes;
    if (bytes > maxBytes || now - file.changedAt > maxAgeMs) await unlink(file.path).catch(ignoreMissing);
  }
}

async function describe(
  path: string,
): Promise<{ readonly path: string; readonly bytes: number; readonly changedAt: number } | undefined> {
  const found = await stat(path).catch(ignoreMissing);
  return found && { path, bytes: found.size, changedAt: found.mtimeMs };
}

function ignoreMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  return undefined;
}
