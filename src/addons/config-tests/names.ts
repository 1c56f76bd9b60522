import type { GatewayFile, Target } from '../../../schemas/types.generated.ts';
import { headerPrefixes } from '../../core/settings/compile/server-settings.ts';
import type { SettingsFiles } from '../../core/settings/source/files.ts';
import type { Settings } from '../../core/settings/read/load.ts';

export interface Names {
  readonly configIds: readonly string[];
  readonly keyIds: readonly string[];
  /** `@slug` of every catalog entry. */
  readonly slugs: readonly string[];
  /** Variables that the settings' files refer to. */
  readonly variables: readonly string[];
  readonly configHeaders: readonly string[];
  readonly targetsOf: (configId: string) => readonly string[];
}

export async function namesIn(settings: Settings, files: SettingsFiles): Promise<Names> {
  const { server, catalog, keys, gateway } = settings;
  return {
    configIds: [...gateway.keys()],
    keyIds: keys.keys.map(({ id }) => id),
    slugs: catalog.providers.map(({ slug }) => `@${slug}`),
    variables: await variablesIn(settings.files, files),
    configHeaders: headerPrefixes(server).map((prefix) => `${prefix}config`.toLowerCase()),
    targetsOf: (configId) => {
      const config = gateway.get(configId);
      return config ? targetNames(config, 'config') : [];
    },
  };
}

/** Variables in the settings files only. Referenced files may be secrets and are not read. */
async function variablesIn(paths: readonly string[], files: SettingsFiles): Promise<readonly string[]> {
  const read = await Promise.all(paths.filter((path) => /\.ya?ml$/i.test(path)).map((path) => files.read(path)));
  const names = read.flatMap((file) =>
    'text' in file ? [...file.text.matchAll(/\$\{env:(\w+)/g)].map(([, name]) => name!) : [],
  );
  return [...new Set(names)];
}

/** Groups themselves are never tried, only their targets. */
function targetNames(file: GatewayFile | Target, path: string): readonly string[] {
  if (file.targets) return file.targets.flatMap((target, index) => targetNames(target, `${path}.targets[${index}]`));
  return file.name === undefined ? [path] : [path, file.name];
}
