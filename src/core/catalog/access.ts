import {
  type Caller,
  type AliasDirectory,
  type UsedAlias,
  nearest,
  portkeyHint,
  type Exchange,
} from '../kernel/index.ts';
import { FieldRules } from './fields/field-rules.ts';
import { AliasNames, targetOf, type Aliases, isWildcard, type Alias } from './aliases.ts';
import { Globs } from './globs.ts';
import { quote } from '../providers/model-name.ts';
import type { Catalog } from './catalog.ts';
import { parseModelIdentifier } from './model-identifier.ts';

/** The permissions of a key, compiled. A missing list allows everything. */
export class Access {
  readonly #providers: Globs | undefined;
  /** Patterns that begin with `@`, which are matched against `@slug/model`. */
  readonly #placedModels: Globs | undefined;
  readonly #bareModels: Globs | undefined;
  /** Aliases that the key lists by name, and names of wildcards. */
  readonly #aliases: ReadonlySet<string>;
  /** Patterns that allow a part of the names of a wildcard, by the wildcard: `openai/gpt-*` of `openai/*`. */
  readonly #parts: ReadonlyMap<string | undefined, Globs>;
  readonly #names: AliasLookup;

  /** Undefined: every field may be sent. */
  readonly fields: FieldRules | undefined;

  /** The name of an alias in `models` allows the alias alone, not a model of the same name at an entry. */
  constructor(
    { providers, models: listed, fields }: Pick<Caller, 'providers' | 'models' | 'fields'>,
    aliases: AliasLookup = NO_ALIASES,
  ) {
    const models = listed?.filter((name) => !isAlias(name, aliases));
    this.#aliases = new Set(listed?.filter((name) => isAlias(name, aliases)));
    const parts = Map.groupBy(models ?? [], (name) => (name.includes('*') ? partOf(name, aliases) : undefined));
    parts.delete(undefined);
    this.#parts = new Map([...parts].map(([wildcard, patterns]) => [wildcard, new Globs(patterns)]));
    this.#names = aliases;
    this.fields = fields && new FieldRules(fields, 'This key');
    this.#providers = providers && new Globs(providers);
    this.#placedModels = models && new Globs(models.filter((pattern) => pattern.startsWith('@')));
    this.#bareModels = models && new Globs(models.filter((pattern) => !pattern.startsWith('@')));
  }

  /** False: every model may be used. */
  get limitsModels(): boolean {
    return this.#bareModels !== undefined;
  }

  /** True when the key lists the name, the wildcard that it fits, or a pattern of that wildcard's names. Another pattern lists no alias. */
  allowsAlias(name: string): boolean {
    if (this.#aliases.size === 0 && this.#parts.size === 0) return false;
    if (this.#aliases.has(name)) return true;
    const found = this.#names.find(name);
    if (found?.rest === undefined) return false;
    return this.#aliases.has(found.listed) || this.#parts.get(found.listed)?.matches(name) === true;
  }

  /** @param name `@slug`, or a provider's name for a request without the catalog */
  allowsProvider(name: string): boolean {
    return !this.#providers || this.#providers.matches(name);
  }

  /** @param place `@slug`; undefined without the catalog */
  allowsModel(place: string | undefined, model: string): boolean {
    if (!this.#bareModels || !this.#placedModels) return true;
    return this.#bareModels.matches(model) || (place !== undefined && this.#placedModels.matches(`${place}/${model}`));
  }
}

type AliasLookup = Pick<AliasNames<unknown>, 'find'>;
const NO_ALIASES: AliasLookup = new AliasNames([]);

/** `*` in a list of models stands for all models, whatever the aliases are. */
function isAlias(name: string, aliases: AliasLookup): boolean {
  const found = name === '*' ? undefined : aliases.find(name);
  return found !== undefined && (found.listed === name || !name.includes('*'));
}

/** The wildcard of whose names this pattern or name is a part. The wildcard `*` has none: there a pattern is one of models. */
export function partOf(name: string, aliases: AliasLookup): string | undefined {
  const found = aliases.find(name);
  return found?.rest === undefined || found.listed === '*' || found.listed === name ? undefined : found.listed;
}

const EVERYTHING = new Access({ providers: undefined, models: undefined });
const known = new WeakMap<Caller, Access>();

/** A caller is the same object for every request: its patterns are compiled once. @param aliases the catalog's */
export function accessOf(caller: Caller | undefined, aliases: AliasLookup): Access {
  // No caller: the operator has taken `auth` out of the entry chain.
  if (!caller) return EVERYTHING;
  let access = known.get(caller);
  if (!access) {
    access = new Access(caller, aliases);
    known.set(caller, access);
  }
  return access;
}

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

/** For a model that names no provider: the alias that was meant, and headers of Portkey that name one. Empty: neither. */
export function hintForModel(
  model: string,
  { exchange, access }: { readonly exchange: Exchange; readonly access: Access },
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
