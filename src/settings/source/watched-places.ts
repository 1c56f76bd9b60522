import { lstat, readlink } from 'node:fs/promises';
import { basename, join, parse, resolve } from 'node:path';
import type { RecordedFiles } from './recorded-files.ts';

/** The real folders to watch, each with a filter for the relevant names in it. */
export type WatchedPlaces = ReadonlyMap<string, (name: string) => boolean>;

/** The number of links that Linux follows before it fails with ELOOP. */
const MAX_LINKS = 40;

/**
 * Every folder in which a change can alter one of these files: the real folder of the file, and the folder of each symbolic
 * link on the path. So the swap of a ConfigMap (`server.yaml → ..data/server.yaml`, `..data → ..2026_…`) is noticed where it
 * happens, at `..data`, and so is a release that is switched by one link above all settings. For a missing file it is the
 * folder in which the file would appear.
 */
export async function watchedPlaces({ paths, folders, matters }: RecordedFiles): Promise<WatchedPlaces> {
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
