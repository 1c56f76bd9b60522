import { lstat, mkdir, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

/** Writes all files or none: a partial folder would block the next attempt. Returns what went wrong. */
export async function writeNewFiles(dir: string, files: Readonly<Record<string, string>>): Promise<string | undefined> {
  const present = await presentOf(Object.keys(files).map((name) => join(dir, name)));
  if (present.length > 0) return `these files exist: ${present.join(', ')}`;
  const made: { readonly path: string; readonly folder: boolean }[] = [];
  try {
    for (const [name, text] of Object.entries(files)) {
      const path = join(dir, name);
      for (const folder of await makeFolder(dirname(path))) made.push({ path: folder, folder: true });
      // wx: does not overwrite a file that another process creates at this moment.
      await writeFile(path, text, { flag: 'wx' });
      made.push({ path, folder: false });
    }
    return undefined;
  } catch (error) {
    for (const { path, folder } of made.toReversed())
      // A folder that is no longer empty stays.
      await (folder ? rmdir(path).catch(() => {}) : rm(path, { force: true }));
    if (!(error instanceof Error) || !('code' in error)) throw error;
    return error.message;
  }
}

async function presentOf(paths: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(
    // Finds dangling links too: writing would follow them.
    paths.map((path) =>
      lstat(path).then(
        () => path,
        () => undefined,
      ),
    ),
  );
  return found.filter((path) => path !== undefined);
}

/** Creates a folder. Returns the folders that did not exist, the outermost first. */
async function makeFolder(folder: string): Promise<readonly string[]> {
  const first = await mkdir(folder, { recursive: true });
  if (first === undefined) return [];
  const made = [resolve(folder)];
  while (made[0] !== resolve(first)) made.unshift(dirname(made[0]!));
  return made;
}
