import type { GatewayFile, Target } from '../../schemas/types.generated.ts';
import type { Settings } from '../settings/load.ts';

/** What cases may name. */
export interface Names {
  readonly configIds: readonly string[];
  readonly keyIds: readonly string[];
  /** `@slug` of every catalog entry. */
  readonly slugs: readonly string[];
  /** Paths and names of the targets of a config. */
  readonly targetsOf: (configId: string) => readonly string[];
}

export function namesIn({ catalog, keys, gateway }: Settings): Names {
  return {
    configIds: [...gateway.keys()],
    keyIds: keys.keys.map(({ id }) => id),
    slugs: catalog.providers.map(({ slug }) => `@${slug}`),
    targetsOf: (configId) => {
      const config = gateway.get(configId);
      return config ? targetNames(config, 'config') : [];
    },
  };
}

/** Groups are never asked: only what is in them. */
function targetNames(file: GatewayFile | Target, path: string): readonly string[] {
  if (file.targets) return file.targets.flatMap((target, index) => targetNames(target, `${path}.targets[${index}]`));
  return file.name === undefined ? [path] : [path, file.name];
}
