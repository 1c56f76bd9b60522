import { headerPathsJson, renderHeaderPaths } from '../dry-run/explanation/render/header-paths.ts';
import { systemClock } from '../plugin/index.ts';
import { headerPaths } from '../dry-run/explain/header-paths/paths.ts';
import { formatDiagnostics } from '../settings/problems/diagnostic.ts';
import { loadSettings } from '../settings/read/load.ts';
import { pageFor, type ShowOptions } from './output.ts';

export interface ExplainHeadersOptions extends ShowOptions {
  readonly configs: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** `gatehouse explain --headers`. Exit code 0: explained; 1: errors in the settings; 2: the folder does not exist. */
export async function explainHeadersCommand(options: ExplainHeadersOptions): Promise<0 | 1 | 2> {
  const { configs, env, json, out, err } = options;
  const loaded = await loadSettings(configs, { env, fakeMissing: true });
  const reported = await headerPaths({ loaded, clock: systemClock });
  if (reported) {
    out(json ? headerPathsJson(reported) : renderHeaderPaths(reported, pageFor(options)));
    return 0;
  }
  err(formatDiagnostics(loaded.diagnostics, 'pretty'));
  return loaded.folderExists ? 1 : 2;
}
