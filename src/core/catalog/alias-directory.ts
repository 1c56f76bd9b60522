import type { AliasDirectory, UsedAlias } from '../kernel/index.ts';
import { accessOf } from './access.ts';
import { targetOf } from './alias-names.ts';
import type { Aliases } from './aliases.ts';

export function createAliasDirectory(aliases: Aliases): AliasDirectory {
  return {
    isEmpty: aliases.isEmpty,
    find(caller, name): UsedAlias | undefined {
      const found = aliases.find(name);
      if (!found) return undefined;
      const { listed, rest, alias } = found;
      const target = alias.target === undefined ? undefined : targetOf(alias.target, rest);
      return { name, listed, target, config: alias.config, granted: accessOf(caller, aliases).allowsAlias(name) };
    },
  };
}
