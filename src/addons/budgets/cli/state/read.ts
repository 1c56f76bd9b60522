import { formatDiagnostics } from '../../../../core/settings/source/diagnostic.ts';
import { type StateSettings, compileState } from '../../settings/state.ts';
import { loadSettings, type LoadResult, type Settings } from '../../../../core/settings/read/load.ts';
import type { Environment } from '../../../../core/settings/values/references.ts';
import { StateFailure } from '../../../../core/ports/failures.ts';
import { StoreReader } from '../../store/sqlite/store-reader.ts';
import type { Output } from '../../../../core/commands/terminal/output.ts';

export interface StateOptions extends Output {
  readonly dir: string;
  readonly env: Environment;
}

/** A store in files, and the settings that name it. */
export interface FoundStore {
  readonly loaded: LoadResult;
  readonly settings: Settings;
  readonly state: StateSettings & { readonly folder: string };
  readonly folder: string;
}

export type ExitCode = 0 | 1;

/**
 * Runs a command on the store of the settings. Exit code 0 to 1: the command's own; 1: errors in the settings, or the store refuses; 2:
 * the folder does not exist, or the settings have no store in files.
 */
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
  const { folder } = state ?? {};
  if (!state || folder === undefined) {
    err(`gatehouse: server.yaml has no \`state.store\` of type sqlite\n`);
    return 2;
  }
  try {
    return await command({ loaded, settings, state: { ...state, folder }, folder });
  } catch (error) {
    if (!(error instanceof StateFailure)) throw error;
    err(`gatehouse: ${error.message}\n`);
    return 1;
  }
}

export function withReader<Result>(folder: string, read: (store: StoreReader) => Result): Result {
  const store = new StoreReader(folder);
  try {
    return read(store);
  } finally {
    store.close();
  }
}
