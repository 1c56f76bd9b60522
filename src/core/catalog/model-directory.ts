import { GatewayError, type ErrorCode } from '../../plugin/index.ts';
import {
  type ConfigDirectory,
  type ListedModel,
  type ModelDirectory,
  type Caller,
  type Route,
  compareModelIds,
} from '../kernel/index.ts';
import { accessOf, type Access } from './access.ts';
import { ListedAliases, type AliasPlace } from './listed-aliases.ts';
import { factsOf } from './listed-facts.ts';
import type { Catalog, CatalogEntry } from './catalog.ts';
import { isLocatable, tasksAt, type CatalogResolver } from './target-resolver.ts';
import { parseModelIdentifier } from './model-identifier.ts';

/** Error codes of a model that does not exist, or not for this caller. */
const NOT_FOUND: ReadonlySet<ErrorCode> = new Set([
  'unknown_provider',
  'ambiguous_provider',
  'provider_required',
  'provider_not_allowed',
  'model_not_allowed',
  'invalid_model',
  'unsupported_task',
  'not_supported',
]);

/** The models that a caller may use: lists those that the settings name, finds every model that the resolver accepts. */
export function createModelDirectory(
  catalog: Catalog,
  configs: Pick<ConfigDirectory, 'ids' | 'get'>,
  resolver: Pick<CatalogResolver, 'find'>,
): ModelDirectory {
  const inSettings = modelsNamedIn(configs);
  const aliases = new ListedAliases(catalog, (id) => placesOf(configs.get(id)?.route, catalog));
  return {
    list({ caller }) {
      const access = accessOf(caller, catalog.aliases);
      const entries = catalog.entries.filter(({ name }) => access.allowsProvider(name));
      const named = inSettings(caller);
      const listed = entries.flatMap((entry) =>
        [...namesOf(entry, entries, named)]
          .filter((model) => isUsable(entry, model, access))
          .map((model) => toListed(entry, entry.name, model)),
      );
      return [...aliases.list(caller), ...listed].toSorted((one, other) => compareModelIds(one.id, other.id));
    },
    find(exchange, id) {
      if (catalog.aliases.find(id)) return aliases.find(exchange.caller, id);
      try {
        const { entry, place, model } = resolver.find(exchange, id);
        return toListed(entry, place, model);
      } catch (error) {
        if (error instanceof GatewayError && NOT_FOUND.has(error.code)) return undefined;
        throw error;
      }
    },
  };
}

/**
 * Model names that the entry lists itself, names that its provider has, and names that configs send to it. A provider's name selects an entry only where the
 * provider has exactly one.
 */
function namesOf(
  entry: CatalogEntry,
  entries: readonly CatalogEntry[],
  named: readonly NamedModel[],
): ReadonlySet<string> {
  const { provider } = entry.provider;
  const alone = entries.filter((other) => other.provider.provider === provider).length === 1;
  const sent = named.filter(({ place }) => place === entry.name || (alone && place === provider));
  const own = entry.provider.ownModels ?? [];
  return new Set([...(entry.models?.literals ?? []), ...own, ...sent.map(({ model }) => model)]);
}

function isUsable(entry: CatalogEntry, model: string, access: Access): boolean {
  return (
    (entry.models?.matches(model) ?? true) &&
    access.allowsModel(entry.name, model) &&
    isLocatable(entry.provider, model)
  );
}

const toListed = ({ provider }: CatalogEntry, place: string | undefined, model: string): ListedModel => ({
  id: place === undefined ? model : `${place}/${model}`,
  name: model,
  provider: provider.provider,
  tasks: tasksAt(provider, model),
  ...factsOf(provider, model),
});

/** A model that the settings name in full, and its provider. */
interface NamedModel {
  /** `@slug`, or the name of a provider. */
  readonly place: string;
  readonly model: string;
}

/** Returns the models that gateway configs name, each with the entry in its own name or else the provider of its target. */
function modelsNamedIn(
  configs: Pick<ConfigDirectory, 'ids' | 'get'>,
): (caller: Caller | undefined) => readonly NamedModel[] {
  const all = configs.ids.flatMap((config) => {
    const route = configs.get(config)?.route;
    return route ? namedIn(route).map((named) => ({ ...named, config })) : [];
  });
  // Models of the configs that the caller may use, and models that its own key names. Other configs stay hidden.
  return (caller) => {
    const inConfigs = all.filter(({ config }) => !caller?.configs || caller.configs.includes(config));
    const inKey = (caller?.models ?? []).filter((pattern) => pattern.startsWith('@') && !pattern.includes('*'));
    return [...inConfigs, ...inKey.flatMap((id) => toNamed(id, undefined))];
  };
}

/** The entries and models that the targets of a config name. */
function placesOf(route: Route | undefined, { bySlug, byProvider }: Catalog): readonly AliasPlace[] {
  return (route ? namedIn(route) : []).flatMap(({ place, model }) => {
    const ofProvider = [...byProvider].find(([provider]) => provider === place)?.[1] ?? [];
    const entry = place.startsWith('@') ? bySlug.get(place.slice(1)) : ofProvider[0];
    return entry ? [{ entry, model }] : [];
  });
}

function namedIn(route: Route): readonly NamedModel[] {
  if (route.kind !== 'target') return route.members.flatMap(namedIn);
  const model = route.overrideParams?.['model'] ?? route.defaultParams?.['model'];
  return typeof model === 'string' ? toNamed(model, route.provider) : [];
}

/** Empty where the provider is left to the request, and for an invalid name (a glob, a typo). */
function toNamed(text: string, place: string | undefined): readonly NamedModel[] {
  if (text.startsWith('@') && !/^@[^/]+\/./.test(text)) return [];
  const { slug, model } = parseModelIdentifier(text);
  const named = slug === undefined ? place : `@${slug}`;
  return named === undefined ? [] : [{ place: named, model }];
}
