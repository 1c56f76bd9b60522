import type { Caller, ListedModel } from '../kernel/index.ts';
import { accessOf, partOf } from './access.ts';
import { isWildcard, targetOf } from './alias-names.ts';
import type { Alias } from './aliases.ts';
import type { Catalog, CatalogEntry } from './catalog.ts';
import { commonFacts, factsOf, type ListedFacts } from './listed-facts.ts';
import { parseModelIdentifier } from './model-identifier.ts';
import { isLocatable, tasksAt } from './target-resolver.ts';

/** A model at an entry, to which requests for an alias may go. */
export interface AliasPlace {
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
export class ListedAliases {
  readonly #catalog: Catalog;
  readonly #listed: readonly PlacedAlias[];
  readonly #placesOfConfig: (id: string) => readonly AliasPlace[];

  /** @param placesOfConfig the places of a gateway config's targets */
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
    return first && toListed(name, alias, { first, facts: factsOfAll(usable) });
  }
}

const isServed = ({ entry, model }: AliasPlace): boolean =>
  (entry.models?.matches(model) ?? true) && isLocatable(entry.provider, model);

function placeOf(target: string, { bySlug }: Catalog): readonly AliasPlace[] {
  const { slug = '', model } = parseModelIdentifier(target);
  const entry = bySlug.get(slug);
  return entry ? [{ entry, model }] : [];
}

const factsOfAll = (places: readonly AliasPlace[]): ListedFacts =>
  commonFacts(places.map(({ entry, model }) => factsOf(entry.provider, model)));

interface Shown {
  readonly first: AliasPlace;
  readonly facts: ListedFacts;
}

const toListed = (name: string, alias: Alias, { first, facts }: Shown): ListedModel => ({
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
