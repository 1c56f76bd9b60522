import type { Caller, ListedModel } from '../plugin/index.ts';
import { accessOf } from './access.ts';
import type { Alias } from './aliases.ts';
import type { Catalog, CatalogEntry } from './catalog.ts';
import { commonFacts, factsOf, type ListedFacts } from './listed-facts.ts';
import { parseModelIdentifier } from './model-identifier.ts';
import { tasksAt } from './target-resolver.ts';

/** A model at an entry, to which requests for an alias may go. */
export interface AliasPlace {
  readonly entry: CatalogEntry;
  readonly model: string;
}

/** An alias with the places that requests for it may go to, first the one that is tried first. */
interface PlacedAlias {
  readonly alias: Alias;
  readonly places: readonly AliasPlace[];
}

/** The aliases as lists of models show them. */
export class ListedAliases {
  readonly #catalog: Catalog;
  readonly #all: ReadonlyMap<string, PlacedAlias>;

  /** @param placesOfConfig the places of a gateway config's targets */
  constructor(catalog: Catalog, placesOfConfig: (id: string) => readonly AliasPlace[]) {
    this.#catalog = catalog;
    const placed = [...catalog.aliases.values()].map((alias): PlacedAlias => {
      const { target, config } = alias;
      return { alias, places: target === undefined ? placesOfConfig(config ?? '') : placeOf(target, catalog) };
    });
    this.#all = new Map(placed.map((each) => [each.alias.name, each]));
  }

  list(caller: Caller | undefined): readonly ListedModel[] {
    return [...this.#all.values()].flatMap((each) => (each.alias.hidden ? [] : (this.#listed(each, caller) ?? [])));
  }

  /** Undefined for a name that is no alias, and for an alias that the caller may not use. */
  find(caller: Caller | undefined, name: string): ListedModel | undefined {
    const found = this.#all.get(name);
    return found && this.#listed(found, caller);
  }

  #listed({ alias, places }: PlacedAlias, caller: Caller | undefined): ListedModel | undefined {
    const access = accessOf(caller, this.#catalog.aliases);
    const granted = access.allowsAlias(alias.name);
    const mayUseConfig = alias.config === undefined || !caller?.configs || caller.configs.includes(alias.config);
    if (!granted && !mayUseConfig) return undefined;
    const usable = places.filter(
      ({ entry, model }) => access.allowsProvider(entry.name) && (granted || access.allowsModel(entry.name, model)),
    );
    const [first] = usable;
    return first && toListed(alias, first, factsOfAll(usable));
  }
}

function placeOf(target: string, { bySlug }: Catalog): readonly AliasPlace[] {
  const { slug = '', model } = parseModelIdentifier(target);
  const entry = bySlug.get(slug);
  return entry ? [{ entry, model }] : [];
}

const factsOfAll = (places: readonly AliasPlace[]): ListedFacts =>
  commonFacts(places.map(({ entry, model }) => factsOf(entry.provider, model)));

const toListed = (alias: Alias, { entry: { provider }, model }: AliasPlace, facts: ListedFacts): ListedModel => ({
  id: alias.name,
  name: alias.displayName,
  provider: provider.provider,
  tasks: tasksAt(provider, model),
  ...facts,
  context: alias.context ?? facts.context,
  // The window that the settings name is the whole of what clients may count with.
  maxInput: alias.context ?? facts.maxInput,
  maxOutput: alias.maxOutput ?? facts.maxOutput,
  efforts: alias.efforts ?? facts.efforts,
});
