import type { Caller } from '../plugin/index.ts';
import { FieldRules } from './fields/field-rules.ts';
import { Globs } from './globs.ts';

/** The permissions of a key, compiled. A missing list allows everything. */
export class Access {
  readonly #providers: Globs | undefined;
  /** Patterns that begin with `@`, which are matched against `@slug/model`. */
  readonly #placedModels: Globs | undefined;
  readonly #bareModels: Globs | undefined;

  /** Undefined: every field may be sent. */
  readonly fields: FieldRules | undefined;

  constructor({ providers, models, fields }: Pick<Caller, 'providers' | 'models' | 'fields'>) {
    this.fields = fields && new FieldRules(fields, 'This key');
    this.#providers = providers && new Globs(providers);
    this.#placedModels = models && new Globs(models.filter((pattern) => pattern.startsWith('@')));
    this.#bareModels = models && new Globs(models.filter((pattern) => !pattern.startsWith('@')));
  }

  /** False: every model may be used. */
  get limitsModels(): boolean {
    return this.#bareModels !== undefined;
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

const EVERYTHING = new Access({ providers: undefined, models: undefined });
const known = new WeakMap<Caller, Access>();

/** A caller is the key's entry in the snapshot, the same object for every request, so its patterns are compiled once. */
export function accessOf(caller: Caller | undefined): Access {
  // No caller: the operator has taken `auth` out of the entry chain.
  if (!caller) return EVERYTHING;
  let access = known.get(caller);
  if (!access) {
    access = new Access(caller);
    known.set(caller, access);
  }
  return access;
}
