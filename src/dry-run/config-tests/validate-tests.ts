import { diskFiles, type SettingsFiles } from '../../settings/source/files.ts';
import type { LoadResult, Settings } from '../../settings/read/load.ts';
import { checkTests } from './check-tests.ts';
import { namesIn } from './names.ts';
import { readTests } from './read-tests.ts';

/** A pass of `gatehouse validate`: reads the tests next to the settings without running them. */
export async function validateTests(
  settings: Settings,
  loaded: LoadResult,
  files: SettingsFiles = diskFiles,
): Promise<void> {
  const tests = await readTests(loaded.folder, files);
  const names = await namesIn(settings, files);
  loaded.add([...tests.diagnostics, ...tests.files.flatMap((file) => checkTests(file, names))]);
}
