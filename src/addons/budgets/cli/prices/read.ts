import { join } from 'node:path';
import { formatDiagnostics } from '../../../../core/settings/source/diagnostic.ts';
import { PRICE_TABLE_FILE } from '../../../../core/settings/source/find-files.ts';
import { loadSettings, type Settings } from '../../../../core/settings/read/load.ts';
import type { Environment } from '../../../../core/settings/values/references.ts';
import type { Output } from '../../../../core/commands/terminal/output.ts';

const OWN = ['prices.yaml', PRICE_TABLE_FILE];

export interface PricesOptions extends Output {
  readonly dir: string;
  readonly env: Environment;
  /** UTC: `2026-11-23`. */
  readonly day: string;
}

/** The settings, if prices.yaml and what it names have no mistake; else prints the mistakes and returns the exit code. */
export async function readPrices({ dir, env, err }: PricesOptions): Promise<Settings | 1 | 2> {
  const loaded = await loadSettings(dir, { env, fakeMissing: true });
  const { settings } = loaded;
  const own = loaded.diagnostics.filter(({ file }) => !settings || OWN.some((name) => file === join(dir, name)));
  if (own.length > 0) err(formatDiagnostics(own, 'pretty'));
  if (settings && own.every(({ severity }) => severity === 'warning')) return settings;
  return loaded.folderExists ? 1 : 2;
}
