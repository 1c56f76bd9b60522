import { lstat, readlink } from 'node:fs/promises';
import { basename, join, parse, resolve } from 'node:path';
import type { RecordedFiles } from './recorded-files.ts';

/** What to watch: real folders, and which names in each matter. */
export type WatchedPlaces = ReadonlyMap<string, (name: string) => boolean>;

/** As many as Linux follows before it says ELOOP. */
const MAX_LINKS = 40;

/**
 * Every place where a change can give one of these files another content: the folder it really stands in, and the folder of
 * each symbolic link on the way there. So the swap of a ConfigMap (`server.yaml → ..data/server.yaml`, `..data → ..2026_…`) is
 * seen where it happens, at `..data`, and so is a release that is put in place by one link above all settings. Of what is not
 * there, the place where it would appear.
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
    // What befalls the folder itself is told under its own name.
    add(real, basename(real));
  }
  return new Map(
    [...names].map(([folder, known]) => [folder, (name) => known.has(name) || (listed.has(folder) && matters(name))]),
  );
}

/** Walks a path as the system does. Returns where it really leads; undefined when something on the way is not there. */
async function follow(path: string, add: (folder: string, name: string) => void): Promise<string | undefined> {
  const { root } = parse(path);
  let at = root;
  let rest = segments(path.slice(root.length));
  for (let links = 0; rest.length > 0;) {
    const [name = '', ...after] = rest;
    const here = join(at, name);
    const kind = await kindOf(here);
    // Of plain folders on the way nothing is watched: only what they hold can be swapped.
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
