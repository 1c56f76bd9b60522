import type { FieldTable } from '../formats/fields/field-table.ts';
import { GatewayError, foldCase, isObject, type Exchange, type RequestBody, type Target } from '../plugin/index.ts';
import { quote } from '../providers/model-name.ts';
import type { Access } from './access.ts';
import type { CatalogEntry } from './catalog.ts';

/** The entry of a request, and the permissions of its caller. */
interface Chosen {
  readonly entry: CatalogEntry;
  /** `@slug`; undefined without the catalog. */
  readonly place: string | undefined;
  readonly access: Access;
}

/**
 * Throws GatewayError `model_not_allowed`.
 * @param granted the key may use the model in any case: an alias that it lists stands for it
 */
export function checkModel(model: string, { entry, place, access }: Chosen, granted = false): void {
  if (entry.models && !entry.models.matches(model))
    throw notAllowed(`${entry.name} does not serve the model ${quote(model)}.`);
  if (!granted && !access.allowsModel(place, model))
    throw notAllowed(`This key may not use the model ${quote(model)} at ${entry.name}.`);
}

/** Checks the names in `models` and `fallbacks`, which are sent unchanged: an upstream that supports them calls these models. */
export function checkFurtherModels(exchange: Exchange, target: Target, { entry, place, access }: Chosen): void {
  if (!entry.models && !access.limitsModels) return;
  for (const { name, param } of furtherModels(exchange, target)) {
    if (entry.models && !entry.models.matches(name))
      throw notAllowed(`${entry.name} does not serve the model ${quote(name)} of \`${param}\`.`, param);
    if (!access.allowsModel(place, name))
      throw notAllowed(`This key may not use the model ${quote(name)} of \`${param}\` at ${entry.name}.`, param);
  }
}

/** The models that a body names beside `model`, whether the caller or the operator has set them. */
export function furtherModelsIn(
  body: Pick<RequestBody, 'has' | 'value'>,
  fields: FieldTable | undefined,
): readonly string[] {
  const { models = [], lifted = [] } = fields ?? {};
  const given = [...models, ...lifted].filter((field) => body.has(field));
  if (given.length === 0) return [];
  const lists = new NamedModels(fields);
  for (const field of given) lists.add(field, body.value(field));
  return lists.found.map(({ name }) => name);
}

const notAllowed = (message: string, param = 'model'): GatewayError =>
  new GatewayError('model_not_allowed', message, { param });

/** A further model that a body names, and its path there. */
interface FurtherModel {
  readonly name: string;
  readonly param: string;
}

/**
 * Models that a request names beside `model`, which some upstreams call in its place: those in the caller's body, and those in
 * the parameters of a config sent with the request. The operator's own parameters need no check.
 */
function furtherModels({ operation, request, config }: Exchange, target: Target): FurtherModel[] {
  const { models = [], lifted = [] } = operation?.fields ?? {};
  const lists = new NamedModels(operation?.fields);
  const { body } = request;
  const named = [...models, ...lifted];
  for (const field of named) {
    if (!body?.has(field)) continue;
    body.refuseRepeatsIn(field);
    lists.add(field, body.value(field));
  }
  if (config?.id !== 'inline') return lists.found;
  for (const params of [target.defaultParams ?? {}, ...target.overrideLevels]) {
    for (const field of named) if (Object.hasOwn(params, field)) lists.add(field, params[field]);
  }
  return lists.found;
}

/** Collects names from fields of a request, and from the objects in it whose fields count as top-level ones. */
class NamedModels {
  readonly #fields: Pick<FieldTable, 'models' | 'lifted'>;
  readonly #lists: ModelLists;

  constructor(fields: FieldTable | undefined) {
    this.#fields = { models: fields?.models ?? [], lifted: fields?.lifted ?? [] };
    this.#lists = new ModelLists(fields?.read ?? []);
  }

  get found(): FurtherModel[] {
    return this.#lists.found;
  }

  add(field: string, value: unknown): void {
    const { models, lifted } = this.#fields;
    if (!lifted.includes(field)) return this.#lists.add(value, field);
    if (!isObject(value)) return;
    for (const key of ['model', ...models])
      if (Object.hasOwn(value, key)) this.#lists.add(value[key], `${field}.${key}`);
  }
}

/** Keys of a fallback that name models: its model, and its own fallbacks. */
const MODEL_KEYS: ReadonlySet<string> = new Set(['model', 'models', 'fallbacks']);
const LONGEST_MODEL_KEY = 'fallbacks'.length;

const isModelKey = (key: string): boolean => key.length <= LONGEST_MODEL_KEY && MODEL_KEYS.has(foldCase(key));

/** Collects names from a name, a list of names, objects with a `model`, or LiteLLM's lists by the model that they replace. */
class ModelLists {
  readonly found: FurtherModel[] = [];
  readonly #fields: readonly string[];

  /** @param fields paths of the API's request fields, which a fallback may set for its own call */
  constructor(fields: readonly string[]) {
    this.#fields = fields;
  }

  add(value: unknown, param: string): void {
    if (typeof value === 'string') this.found.push({ name: value, param });
    else if (Array.isArray(value)) value.forEach((item, index) => this.add(item, `${param}[${index}]`));
    else if (isObject(value)) {
      for (const [key, inner] of this.#named(Object.entries(value))) this.add(inner, `${param}.${key}`);
    }
  }

  /**
   * In an object without `model`, every value counts as names. Beside a `model`, lists under keys that are not request fields
   * count too: LiteLLM reads `{"gpt-5": ["o3"], "model": "gpt-5"}` by its first key.
   */
  #named(entries: readonly [string, unknown][]): readonly [string, unknown][] {
    if (!entries.some(([key]) => isModelKey(key))) return entries;
    return entries.filter(([key, inner]) => isModelKey(key) || (Array.isArray(inner) && !this.#fields.includes(key)));
  }
}
