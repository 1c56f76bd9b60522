import { nearest, portkeyHint, type Exchange } from '../kernel/index.ts';
import { quote } from '../providers/model-name.ts';
import type { Access } from './access.ts';
import { isWildcard } from './alias-names.ts';
import type { Alias } from './aliases.ts';
import type { Catalog } from './catalog.ts';
import { parseModelIdentifier } from './model-identifier.ts';

interface Asking {
  readonly exchange: Exchange;
  readonly access: Access;
}

/** For a model that names no provider: the alias that was meant, and headers of Portkey that name one. Empty: neither. */
export function hintForModel(
  model: string,
  { exchange, access }: Asking,
  { aliases }: Pick<Catalog, 'aliases'>,
): string {
  const { caller, request } = exchange;
  const mayUse = ({ name, target = '', config }: Alias): boolean => {
    if (access.allowsAlias(name)) return true;
    if (config !== undefined) return !caller?.configs || caller.configs.includes(config);
    const { slug, model: meant } = parseModelIdentifier(target);
    return access.allowsProvider(`@${slug}`) && access.allowsModel(`@${slug}`, meant);
  };
  const listed = aliases.all.filter((alias) => !alias.hidden && !isWildcard(alias.name) && mayUse(alias));
  const alias = nearest(
    model,
    listed.map(({ name }) => name),
  );
  return `${alias === undefined ? '' : ` Did you mean ${quote(alias)}?`}${portkeyHint(request)}`;
}
