import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { compileState } from '../../settings/state.ts';
import { loadSettings, type LoadResult } from '../../../../core/settings/read/load.ts';
import type { Environment } from '../../../../core/settings/values/references.ts';
import { nameOf, type StoredObjects } from '../../../../core/settings/source/stored-objects.ts';
import { diskFiles } from '../../../../core/settings/source/files.ts';

/** Reads a folder and checks it against its store, if that is on this machine; else without it, or with a warning. */
export async function loadWithStore(dir: string, env: Environment): Promise<LoadResult> {
  const loaded = await loadSettings(dir, { env });
  const folder = loaded.settings && compileState(loaded.settings.server.state)?.folder;
  if (folder === undefined || !existsSync(join(folder, 'state.db'))) return loaded;
  try {
    const objects = await objectsIn(folder);
    return await loadSettings(dir, { env, files: { ...diskFiles, stored: () => objects } });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const message = `the objects of the state store were not checked: ${why}`;
    loaded.reporter('server.yaml')({ path: ['state'], message, severity: 'warning' });
    return loaded;
  }
}

async function objectsIn(folder: string): Promise<StoredObjects> {
  const [{ withReader }, { readEntities }] = await Promise.all([
    import('./read.ts'),
    import('../../settings/read-stored.ts'),
  ]);
  const objects = await readEntities(withReader(folder, (store) => store.load().changed));
  return { known: true, objects: new Map(objects.map((one) => [nameOf(one), one])) };
}
