import type { AliasDirectory, UsedAlias } from '../plugin/index.ts';
import { accessOf } from './access.ts';
import type { Alias } from './aliases.ts';

export function createAliasDirectory(aliases: ReadonlyMap<string, Alias>): AliasDirectory {
  return {
    isEmpty: aliases.size === 0,
    find(caller, name): UsedAlias | undefined {
      const alias = aliases.get(name);
      if (!alias) return undefined;
      const { target, config } = alias;
      return { name, target, config, granted: accessOf(caller, aliases).allowsAlias(name) };
    },
  };
}
