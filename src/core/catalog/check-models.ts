import { GatewayError } from '../../plugin/index.ts';
import { type Exchange, type Target, foldCase, isObject, type RequestBody, type FieldTable } from '../kernel/index.ts';
import { quote } from '../providers/model-name.ts';
import type { Access } from './access.ts';
import type { CatalogEntry } from './catalog.ts';

/** A catalog entry, or an ad-hoc one. */
export interface ChosenEntry {
  readonly entry: CatalogEntry;
  /** `@slug`; undefined without the catalog. */
  readonly place: string | undefined;
}

type Chosen = ChosenEntry & { readonly access: Access };

/** Throws GatewayError `model_not_allowed`. @param granted an alias that the key lists stands for the model */
export function checkModel(model: string, { entry, place, access }: Chosen, granted = false): void {
  if (entry.models && !entry.models.matches(model))
    throw notAllowed(`${entry.name} does not serve the model ${quote(model)}.`);
  if (!granted && !access.allowsModel(place, model))
    throw notAllowed(`This key may not use the model ${quote(model)} at ${entry.name}.`);
}

/** Checks the names in `models`, `fallbacks` and tools, which are sent unchanged: an upstream that supports them calls these models. */
export function checkFurtherModels(exchange: Exchange, target: Target, { entry, place, access }: Chosen): void {
  if (!entry.models && !access.limitsModels) return;
  for (const { name, param } of furtherModels(exchange, target)) {
    if (entry.models && !entry.models.matches(name))
      throw notAllowed(`${entry.name} does not serve the model ${quote(name)} of \`${param}\`.`, param);
    if (!access.allowsModel(place, name))
      throw notAllowed(`This key may not use the model ${quote(name)} of \`${param}\` at ${entry.name}.`, param);
  }
}

const notAllowed = (message: string, param = 'model'): GatewayError =>
  new GatewayError('model_not_allowed', message, { param });

/** In the caller's body, and in the parameters of its own config. The operator's own parameters need no check. */
function furtherModels({ operation, request, config }: Exchange, target: Target): readonly FurtherModel[] {
  const { body } = request;
  const params = config?.id === 'inline' ? [target.defaultParams ?? {}, ...target.overrideLevels] : [];
  return [
    ...(body ? [furtherModelsIn(body, operation?.fields)] : []),
    ...params.map((one) => furtherModelsOfParams(one, operation?.fields)),
  ].flat();
}

/** A model that a body names beside `model`, and its path there. Some upstreams call it. */
export interface FurtherModel {
  readonly name: string;
  readonly param: string;
  /** The model of the body calls it as a tool. Otherwise it answers in place of that model. */
  readonly isTool: boolean;
}

type ReadBody = Pick<RequestBody, 'has' | 'value' | 'bytesOf'>;

/** The further models of a body. */
export function furtherModelsIn(body: ReadBody, fields: FieldTable | undefined): readonly FurtherModel[] {
  if (!fields) return [];
  const { models, lifted, toolLists = [] } = fields;
  const named = [...models, ...lifted].filter((field) => body.has(field));
  const lists = toolLists.filter((path) => mayNameModel(body, fieldOf(path)));
  if (named.length + lists.length === 0) return [];
  return furtherModelsOf({ has: (field) => body.has(field), value: (field) => body.value(field) }, fields, lists);
}

/** The further models of parameters that a config sets. */
export const furtherModelsOfParams = (
  params: Readonly<Record<string, unknown>>,
  fields: FieldTable | undefined,
): readonly FurtherModel[] =>
  fields
    ? furtherModelsOf({ has: (field) => Object.hasOwn(params, field), value: (field) => params[field] }, fields)
    : [];

function furtherModelsOf(
  source: Pick<RequestBody, 'has' | 'value'>,
  { models, lifted, toolLists = [], read }: FieldTable,
  lists: readonly string[] = toolLists,
): readonly FurtherModel[] {
  const inPlace = new ModelLists(read);
  const ofTools: FurtherModel[] = [];
  for (const field of models) if (source.has(field)) inPlace.add(source.value(field), field);
  for (const path of lists) addTools(path, source.value(fieldOf(path)), { param: fieldOf(path), to: ofTools });
  for (const object of lifted) {
    const value = source.has(object) ? source.value(object) : undefined;
    if (!isObject(value)) continue;
    for (const key of ['model', ...models]) if (Object.hasOwn(value, key)) inPlace.add(value[key], `${object}.${key}`);
    for (const path of toolLists) {
      const field = fieldOf(path);
      if (Object.hasOwn(value, field)) addTools(path, value[field], { param: `${object}.${field}`, to: ofTools });
    }
  }
  return [...inPlace.found, ...ofTools];
}

/** `input` of `input[].tools`. */
const fieldOf = (path: string): string => path.split(/[.[]/, 1)[0]!;

/** A key `model`, in any case. Most requests have none in their tools and input, which are then not parsed. */
const MAY_NAME_MODEL = /"model"|\\u00[4-7]/i;

const mayNameModel = (body: ReadBody, field: string): boolean =>
  body.has(field) && MAY_NAME_MODEL.test(body.bytesOf(field).toString('latin1'));

interface FoundTools {
  readonly param: string;
  readonly to: FurtherModel[];
}

/** @param path of the list: `tools`, or `input[].tools` for one in each item */
function addTools(path: string, value: unknown, { param, to }: FoundTools): void {
  // Protobuf's JSON takes one object for a list of it.
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  for (const [index, item] of items.entries()) {
    if (!isObject(item)) continue;
    const at = Array.isArray(value) ? `${param}[${index}]` : param;
    // A namespace of tools has tools.
    if (item['tools'] !== undefined) addTools('tools', item['tools'], { param: `${at}.tools`, to });
    if (path !== 'tools') continue;
    for (const [key, name] of Object.entries(item)) {
      if (typeof name === 'string' && key.length === MODEL.length && foldCase(key) === MODEL)
        to.push({ name, param: `${at}.${key}`, isTool: true });
    }
  }
}

const MODEL = 'model';

/** Keys of a fallback that name models: its model, and its own fallbacks. */
const MODEL_KEYS: ReadonlySet<string> = new Set([MODEL, 'models', 'fallbacks']);
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
    if (typeof value === 'string') this.found.push({ name: value, param, isTool: false });
    else if (Array.isArray(value)) value.forEach((item, index) => this.add(item, `${param}[${index}]`));
    else if (isObject(value)) {
      for (const [key, inner] of this.#named(Object.entries(value))) this.add(inner, `${param}.${key}`);
    }
  }

  /**
   * In an object without `model`, every value counts as names. Beside a `model`, lists under keys that are not request
   * fields count too: LiteLLM reads `{"gpt-5": ["o3"], "model": "gpt-5"}` by its first key.
   */
  #named(entries: readonly [string, unknown][]): readonly [string, unknown][] {
    if (!entries.some(([key]) => isModelKey(key))) return entries;
    return entries.filter(([key, inner]) => isModelKey(key) || (Array.isArray(inner) && !this.#fields.includes(key)));
  }
}
