import { formatDiagnostics } from '../../../../core/settings/source/diagnostic.ts';
import { type StateSettings, compileState } from '../../settings/state.ts';
import { loadSettings, type LoadResult, type Settings } from '../../../../core/settings/read/load.ts';
import type { Environment } from '../../../../core/settings/values/references.ts';
import { StateFailure } from '../../../../core/ports/failures.ts';
import {
  driverOf,
  type DriverTools,
  type StoreDriver,
  type StoreEntry,
  type StoreForReading,
} from '../../../../core/ports/store-driver.ts';
import { systemClock } from '../../../../core/kernel/system-clock.ts';
import { MAX_CHANGES, type Actor, type PutChange } from '../../../../core/ports/entities.ts';
import type { StateStore } from '../../../../core/ports/store.ts';
import type { Output } from '../../../../core/commands/terminal/output.ts';

export interface StateOptions extends Output {
  readonly dir: string;
  readonly env: Environment;
}

export interface FoundStore {
  readonly loaded: LoadResult;
  readonly settings: Settings;
  readonly state: StateSettings;
  readonly driver: StoreDriver;
  /** Names the store for people. */
  readonly name: string;
}

export type ExitCode = 0 | 1;

export const ACTOR: Actor = { id: 'gatehouse-cli', role: 'operator' };

/** Exit code 0 or 1: the command's own; 1: errors in the settings, or the store refuses; 2: no folder, or no store in files. */
export async function onStore(
  { dir, env, err }: StateOptions,
  command: (found: FoundStore) => ExitCode | Promise<ExitCode>,
): Promise<0 | 1 | 2> {
  const loaded = await loadSettings(dir, { env });
  const { settings } = loaded;
  const errors = loaded.diagnostics.filter(({ severity }) => severity === 'error');
  if (errors.length > 0 || !settings) {
    err(formatDiagnostics(errors, 'pretty'));
    return loaded.folderExists ? 1 : 2;
  }
  const state = compileState(settings.server.state);
  const driver = state && driverOf(state.store);
  if (!driver || driver.use === 'process') {
    err('gatehouse: server.yaml has no `state.store` that outlives the gateway\n');
    return 2;
  }
  try {
    return await command({ loaded, settings, state, driver, name: driver.nameOf(state.store) });
  } catch (error) {
    if (!(error instanceof StateFailure)) throw error;
    err(`gatehouse: ${error.message}\n`);
    return 1;
  }
}

export const onOpenStore = (
  options: StateOptions,
  command: (store: StateStore, found: FoundStore) => Promise<ExitCode>,
): Promise<0 | 1 | 2> => onStore(options, (found) => withStore(found, command));

export async function withStore(
  found: FoundStore,
  command: (store: StateStore, found: FoundStore) => Promise<ExitCode>,
): Promise<ExitCode> {
  const store = await found.driver.open(found.state.store, toolsOf(found));
  try {
    return await command(store, found);
  } finally {
    await store.close();
  }
}

export async function writeAll({ entities }: StateStore, changes: readonly PutChange[]): Promise<void> {
  for (let from = 0; from < changes.length; from += MAX_CHANGES)
    await entities.write(changes.slice(from, from + MAX_CHANGES), ACTOR);
}

export async function withReader<Result>(
  found: Pick<FoundStore, 'driver' | 'state'>,
  read: (store: StoreForReading) => Promise<Result>,
  entry: StoreEntry = found.state.store,
): Promise<Result> {
  const store = await found.driver.read(entry, toolsOf(found));
  try {
    return await read(store);
  } finally {
    await store.close();
  }
}

const toolsOf = ({ state }: Pick<FoundStore, 'state'>): DriverTools => ({
  clock: systemClock,
  keys: state.encryptionKeys?.reveal() ?? '',
});
