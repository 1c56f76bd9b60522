import type { CatalogFile, ModelAlias } from '../../../../schemas/types.generated.ts';
import { AliasNames, targetOf } from '../../catalog/aliases.ts';
import type { Target } from '../../kernel/index.ts';

/** `@slug/model` of a name that is an alias of a model. */
export interface AliasedModels {
  get(name: string): string | undefined;
}

export const NO_ALIASES: AliasedModels = new Map<string, string>();

type WithAliases = Pick<CatalogFile, 'aliases'>;
const known = new WeakMap<WithAliases, AliasNames<ModelAlias>>();

export function aliasNamesOf(file: WithAliases): AliasNames<ModelAlias> {
  let names = known.get(file);
  if (!names) known.set(file, (names = new AliasNames(Object.entries(file.aliases ?? {}))));
  return names;
}

export function aliasedModels(file: WithAliases): AliasedModels {
  const names = aliasNamesOf(file);
  return {
    get(name) {
      const { alias, rest } = names.find(name) ?? {};
      return alias?.target === undefined ? undefined : targetOf(alias.target, rest);
    },
  };
}
type WithModel = Pick<Target, 'provider' | 'defaultParams' | 'overrideParams' | 'overrideLevels'>;

/**
 * The target with the models that aliases in its parameters stand for, so that checks, lists and requests see them. At an entry that
 * the alias does not lead to, the name is a model of that entry: an alias may have the name of a model elsewhere.
 */
export function withAliasedModels<T extends WithModel>(target: T, models: AliasedModels): T & Pick<Target, 'aliases'> {
  const [override, byDefault] = [target.overrideParams, target.defaultParams].map((params) =>
    aliasIn(params, target.provider, models),
  );
  if (!override && !byDefault) return target;
  return {
    ...target,
    aliases: new Map([override, byDefault].flatMap((used) => (used ? [[used.model, used.name]] : []))),
    ...(override && {
      overrideParams: { ...target.overrideParams, model: override.model },
      overrideLevels: [...target.overrideLevels, { model: override.model }],
    }),
    ...(byDefault && { defaultParams: { ...target.defaultParams, model: byDefault.model } }),
  };
}

function aliasIn(params: Target['overrideParams'], provider: string | undefined, models: AliasedModels) {
  const name = params?.['model'];
  const model = typeof name === 'string' ? models.get(name) : undefined;
  if (typeof name !== 'string' || model === undefined) return undefined;
  return provider === undefined || model.startsWith(`${provider}/`) ? { name, model } : undefined;
}
