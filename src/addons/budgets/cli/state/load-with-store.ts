import { compileState, type StateSettings } from '../../settings/state.ts';
import { driverOf } from '../../../../core/ports/store-driver.ts';
import { StateFailure } from '../../../../core/ports/failures.ts';
import { loadSettings, type LoadResult } from '../../../../core/settings/read/load.ts';
import type { Environment } from '../../../../core/settings/values/references.ts';
import { nameOf, type StoredObjects } from '../../../../core/settings/source/stored-objects.ts';
import { diskFiles } from '../../../../core/settings/source/files.ts';

/** Reads a folder and checks it against its store, if there is one yet; else without it, or with a warning. */
export async function loadWithStore(dir: string, env: Environment): Promise<LoadResult> {
  const loaded = await loadSettings(dir, { env });
  const state = loaded.settings && compileState(loaded.settings.server.state);
  if (!state || driverOf(state.store).use === 'process') return loaded;
  try {
    const objects = await objectsIn(state);
    return await loadSettings(dir, { env, files: { ...diskFiles, stored: () => objects } });
  } catch (error) {
    if (error instanceof StateFailure && error.code === 'not_found') return loaded;
    const why = error instanceof Error ? error.message : String(error);
    const message = `the objects of the state store were not checked: ${why}`;
    loaded.reporter('server.yaml')({ path: ['state'], message, severity: 'warning' });
    return loaded;
  }
}

async function objectsIn(state: StateSettings): Promise<StoredObjects> {
  const [{ withReader }, { readEntities }] = await Promise.all([
    import('./read.ts'),
    import('../../settings/read-stored.ts'),
  ]);
  const objects = await withReader({ driver: driverOf(state.store), state }, async (store) =>
    readEntities((await store.entities.load(0)).changed),
  );
  return { known: true, objects: new Map(objects.map((one) => [nameOf(one), one])) };
}
