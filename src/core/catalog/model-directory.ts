import { GatewayError, type ErrorCode } from '../../plugin/index.ts';
import {
  type ConfigDirectory,
  compareModelIds,
  type ListedModel,
  type ModelDirectory,
  type Caller,
  type Route,
} from '../kernel/index.ts';
import { accessOf, partOf } from './access.ts';
import { factsOf, commonFacts, type ListedFacts } from './listed-facts.ts';
import type { Catalog, CatalogEntry } from './catalog.ts';
import { isLocatable, tasksAt, type CatalogResolver } from './target-resolver.ts';
import { parseModelIdentifier } from './model-identifier.ts';
import { isWildcard, targetOf, type Alias } from './aliases.ts';

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
          .filter((model) => access.allowsModel(entry.name, model) && isServed({ entry, model }))
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

/** A provider's name in a config selects an entry only where the provider has exactly one. */
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

const placesOf = (route: Route | undefined, { bySlug, byProvider }: Catalog): readonly AliasPlace[] =>
  (route ? namedIn(route) : []).flatMap(({ place, model }) => {
    const ofProvider = [...byProvider].find(([provider]) => provider === place)?.[1] ?? [];
    const entry = place.startsWith('@') ? bySlug.get(place.slice(1)) : ofProvider[0];
    return entry ? [{ entry, model }] : [];
  });

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

interface AliasPlace {
  readonly entry: CatalogEntry;
  readonly model: string;
}

/** A name of an alias with the places that requests for it may go to, first the one that is tried first. */
interface PlacedAlias {
  readonly name: string;
  readonly alias: Alias;
  readonly places: readonly AliasPlace[];
}

/** The aliases as lists of models show them. A wildcard is listed by the models that its entry lists, or by itself where it lists none. */
class ListedAliases {
  readonly #catalog: Catalog;
  readonly #listed: readonly PlacedAlias[];
  readonly #placesOfConfig: (id: string) => readonly AliasPlace[];

  constructor(catalog: Catalog, placesOfConfig: (id: string) => readonly AliasPlace[]) {
    this.#catalog = catalog;
    this.#placesOfConfig = placesOfConfig;
    const names = catalog.aliases.all.flatMap((alias) => (isWildcard(alias.name) ? this.#namesOf(alias) : alias.name));
    this.#listed = [...new Set(names)].flatMap((name) => this.#placed(name) ?? []);
  }

  list(caller: Caller | undefined): readonly ListedModel[] {
    return [...this.#listed, ...this.#ownOf(caller)].flatMap((each) =>
      each.alias.hidden ? [] : (this.#shown(each, caller) ?? []),
    );
  }

  /** The names of wildcards that the caller's list has, and the patterns of those names where the wildcard stands for itself. */
  #ownOf(caller: Caller | undefined): readonly PlacedAlias[] {
    const names = new Set(this.#listed.map(({ name }) => name));
    const own = (caller?.models ?? []).filter((name) => {
      const wildcard = names.has(name) ? undefined : partOf(name, this.#catalog.aliases);
      return wildcard !== undefined && (!name.includes('*') || names.has(wildcard));
    });
    return [...new Set(own)].flatMap((name) => this.#placed(name) ?? []);
  }

  /** Undefined for a name that is no alias, and for an alias that the caller may not use. */
  find(caller: Caller | undefined, name: string): ListedModel | undefined {
    const found = this.#placed(name);
    return found && this.#shown(found, caller);
  }

  #placed(name: string): PlacedAlias | undefined {
    const found = this.#catalog.aliases.find(name);
    if (!found) return undefined;
    const { alias, rest } = found;
    const { target, config = '' } = alias;
    if (target === undefined) return { name, alias, places: this.#placesOfConfig(config) };
    const places = placeOf(targetOf(target, rest), this.#catalog);
    return { name, alias, places: rest === undefined || rest === '*' ? places : places.filter(isServed) };
  }

  #namesOf({ name, target = '' }: Alias): readonly string[] {
    const [place] = placeOf(target, this.#catalog);
    const before = place?.model.slice(0, -1) ?? '';
    const models = [...(place?.entry.models?.literals ?? []), ...(place?.entry.provider.ownModels ?? [])];
    const served = models.filter((model) => model.length > before.length && model.startsWith(before));
    return served.length === 0 ? [name] : served.map((model) => name.slice(0, -1) + model.slice(before.length));
  }

  #shown({ name, alias, places }: PlacedAlias, caller: Caller | undefined): ListedModel | undefined {
    const access = accessOf(caller, this.#catalog.aliases);
    const granted = access.allowsAlias(name);
    const mayUseConfig = alias.config === undefined || !caller?.configs || caller.configs.includes(alias.config);
    if (!granted && !mayUseConfig) return undefined;
    const usable = places.filter(
      ({ entry, model }) => access.allowsProvider(entry.name) && (granted || access.allowsModel(entry.name, model)),
    );
    const [first] = usable;
    const facts = commonFacts(usable.map(({ entry, model }) => factsOf(entry.provider, model)));
    return first && listedAlias(name, alias, { first, facts });
  }
}

const isServed = ({ entry, model }: AliasPlace): boolean =>
  (entry.models?.matches(model) ?? true) && isLocatable(entry.provider, model);

function placeOf(target: string, { bySlug }: Catalog): readonly AliasPlace[] {
  const { slug = '', model } = parseModelIdentifier(target);
  const entry = bySlug.get(slug);
  return entry ? [{ entry, model }] : [];
}

interface Shown {
  readonly first: AliasPlace;
  readonly facts: ListedFacts;
}

const listedAlias = (name: string, alias: Alias, { first, facts }: Shown): ListedModel => ({
  id: name,
  name: alias.displayName ?? name,
  provider: first.entry.provider.provider,
  tasks: tasksAt(first.entry.provider, first.model),
  ...facts,
  context: alias.context ?? facts.context,
  // The window that the settings name is the whole of what clients may count with.
  maxInput: alias.context ?? facts.maxInput,
  maxOutput: alias.maxOutput ?? facts.maxOutput,
  efforts: alias.efforts ?? facts.efforts,
});
