import { MODEL_TASKS } from '../operations/tasks.ts';
import { GatewayError, type ErrorCode, type ModelTask } from '../../plugin/index.ts';
import { nearest, type Exchange, type ResolvedTarget, type Target, type TargetResolver } from '../kernel/index.ts';
import { unlessRefused } from '../kernel/errors.ts';
import { isProviderName, providerNames } from '../providers/index.ts';
import { quote, unusable } from '../providers/model-name.ts';
import type { ProviderEntry, ProviderName } from '../providers/provider.ts';
import { createAdHocVertex } from '../providers/vertex-ai/index.ts';
import { hintForModel, accessOf, type Access } from './access.ts';
import { KnownPlace, KnownPlaces, type Located, type PlaceKey } from './catalog-target.ts';
import { checkFurtherModels, checkModel, type ChosenEntry } from './check-models.ts';
import { checkFields } from './fields/check-fields.ts';
import { customHost } from './custom-host.ts';
import type { Catalog, CatalogEntry } from './catalog.ts';
import { parseModelIdentifier, type ModelIdentifier } from './model-identifier.ts';
import type { ModelNames } from './model-labels.ts';

interface ResolutionInput {
  readonly exchange: Exchange;
  readonly access: Access;
}

interface ResolvedName extends ChosenEntry {
  readonly model: string;
}

function locate({ provider, count }: CatalogEntry, { model, ...call }: PlaceKey): Located {
  try {
    return { location: provider.locate(model, call), estimates: false };
  } catch (error) {
    if (count !== 'estimate' || !(error instanceof GatewayError) || error.code !== 'not_supported') throw error;
    return { location: provider.locate(model, { task: 'generate', stream: false }), estimates: true };
  }
}

function placeKey(
  { operation, request }: Exchange,
  { provider }: CatalogEntry,
  { model, stream }: Pick<PlaceKey, 'model' | 'stream'>,
): PlaceKey {
  const byClient = provider.locatesByClient === true;
  return {
    model,
    stream,
    task: operation?.task ?? 'generate',
    compacts: operation?.compacts,
    form: operation?.taskForms?.native,
    client: byClient ? operation?.format.name : undefined,
    tools: byClient ? (request.body?.has('tools') ?? false) : undefined,
  };
}

const canLocate = (provider: ProviderEntry, model: string, task: ModelTask): boolean =>
  unlessRefused(() => provider.locate(model, { task, stream: false })) !== undefined;

/** True when the provider can serve the model for at least one task. */
export const isLocatable = (provider: ProviderEntry, model: string): boolean =>
  MODEL_TASKS.some((task) => canLocate(provider, model, task));

export const tasksAt = (provider: ProviderEntry, model: string): readonly ModelTask[] =>
  MODEL_TASKS.filter((task) => canLocate(provider, model, task));

/** Chooses the entry: the model's `@slug/`, then the config's target (they must agree), then the header. */
export class CatalogResolver implements TargetResolver {
  readonly #catalog: Catalog;
  readonly #labels: ModelNames;
  readonly #places = new KnownPlaces();
  /** `@slug/model` of aliases. */
  readonly #aliased: ReadonlySet<string | undefined>;

  /** @param labels one instance per process: the limit for labels spans all snapshots */
  constructor(catalog: Catalog, labels: ModelNames) {
    this.#catalog = catalog;
    this.#labels = labels;
    this.#aliased = new Set(catalog.aliases.all.map(({ target }) => target));
  }

  resolve(exchange: Exchange, target: Target, model: string, stream: boolean): ResolvedTarget {
    const hidden = exchange.alias?.name ?? target.aliases?.get(model);
    if (hidden === undefined) return this.#resolve(exchange, target, model, stream);
    try {
      return this.#resolve(exchange, target, model, stream);
    } catch (error) {
      throw withoutTarget(error, hidden);
    }
  }

  #resolve(exchange: Exchange, target: Target, model: string, stream: boolean): ResolvedTarget {
    const access = accessOf(exchange.caller, this.#catalog.aliases);
    const identifier = parseModelIdentifier(model);
    const { entry, place } = this.#choose({ exchange, access }, target.provider, identifier);
    const key = placeKey(exchange, entry, { model: identifier.model, stream });
    // An entry for one request is not kept.
    const known =
      place === undefined ? new KnownPlace(entry, key, locate(entry, key)) : this.#places.of(entry, key, locate);
    const chosen = { entry, place, access };
    const ofTarget = target.aliases?.get(model);
    const granted =
      isGranted(exchange, place, identifier.model) || (ofTarget !== undefined && access.allowsAlias(ofTarget));
    checkModel(identifier.model, chosen, granted);
    checkFurtherModels(exchange, target, chosen);
    const ownAccount = entry.provider.usesCallersToken;
    for (const rules of [access.fields, entry.fields])
      if (rules) checkFields(exchange, target, ownAccount ? rules.ofOwnAccount : rules);
    const { model: upstreamModel } = known.located.location;
    // The settings name the target of an alias and the model of a config, as they name the models of an entry.
    const named =
      isNamedByConfig(exchange, target, model) ||
      (this.#aliased.size > 0 && this.#aliased.has(`${place}/${identifier.model}`));
    return known.target(named ? upstreamModel : this.#labels.labelFor(entry.models, identifier.model, upstreamModel));
  }

  /** Resolves a model name without a task. Throws as `resolve` does. */
  find(exchange: Exchange, id: string): ResolvedName {
    const access = accessOf(exchange.caller, this.#catalog.aliases);
    const identifier = parseModelIdentifier(id);
    const { model } = identifier;
    const { entry, place } = this.#choose({ exchange, access }, undefined, identifier);
    checkModel(model, { entry, place, access });
    if (!isLocatable(entry.provider, model)) throw unusable(model, `is not a model of ${entry.name}`);
    return { entry, place, model };
  }

  #choose(input: ResolutionInput, configured: string | undefined, { slug, model }: ModelIdentifier): ChosenEntry {
    const custom = customHost(input.exchange, input.access);
    if (custom) return checkCustom(custom, input, configured ?? (slug === undefined ? undefined : `@${slug}`));
    if (slug !== undefined) {
      const choice = this.#bySlug(input, slug, 'model');
      if (configured !== undefined && !agrees(configured, choice.entry)) {
        // The message omits the config's entry, which this key may not be allowed to use.
        const message = `The model names @${slug}, but the gateway config sends it elsewhere.`;
        throw new GatewayError('provider_conflict', message, { param: 'model' });
      }
      return choice;
    }
    const wanted = configured ?? input.exchange.request.header('provider');
    if (wanted === undefined || wanted === '') {
      const own = input.exchange.operation?.provider;
      if (own !== undefined) return this.#byProvider(input, own, model);
      const { request } = input.exchange;
      throw new GatewayError(
        'provider_required',
        `The model ${quote(model)} names no provider: write it as \`@slug/model\`, send \`${request.headerName('provider')}\`, or use a config.${hintForModel(model, input, this.#catalog)}`,
      );
    }
    return wanted.startsWith('@') ? this.#bySlug(input, wanted.slice(1), null) : this.#byProvider(input, wanted);
  }

  /** A 403 reveals no more than that the guessed slug exists; suggestions contain only entries that the caller may use. */
  #bySlug(input: ResolutionInput, slug: string, param: string | null): ChosenEntry {
    const entry = this.#catalog.bySlug.get(slug);
    if (!entry) throw this.#unknown(input, slug, `No catalog entry has the slug ${quote(slug)}.`, { param });
    if (!input.access.allowsProvider(entry.name)) throw notAllowed(entry.name);
    return { entry, place: entry.name };
  }

  /** @param model the name that leaves the choice to the API of the request */
  #byProvider(input: ResolutionInput, name: string, model?: string): ChosenEntry {
    if (!isProviderName(name)) {
      const message = `${quote(name)} is not a provider; catalog entries are written with an \`@\`.`;
      throw this.#unknown(input, name, message, { others: providerNames() });
    }
    const adHoc = name === 'vertex-ai' ? adHocVertex(input) : undefined;
    if (adHoc) return { entry: adHoc, place: undefined };
    const entries = (this.#catalog.byProvider.get(name) ?? []).filter((entry) =>
      input.access.allowsProvider(entry.name),
    );
    const [entry, second] = entries;
    if (!entry) {
      const hint = model === undefined ? '' : hintForModel(model, input, this.#catalog);
      throw this.#unknown(input, name, noEntry(name, input, model) + hint);
    }
    if (second) {
      const slugs = entries.map((each) => each.name).join(', ');
      throw new GatewayError(
        'ambiguous_provider',
        `Several catalog entries have the provider ${name}; name one of ${slugs}.`,
      );
    }
    return { entry, place: entry.name };
  }

  /** @param others candidates for the suggestion besides the catalog's entries */
  #unknown(
    { access }: ResolutionInput,
    name: string,
    message: string,
    { others = [], param = null }: { readonly others?: readonly string[]; readonly param?: string | null } = {},
  ): GatewayError {
    const names = [...this.#catalog.entries.map((entry) => entry.name), ...others];
    const suggestion = nearest(
      `@${name}`,
      names.filter((known) => access.allowsProvider(known)),
    );
    return new GatewayError('unknown_provider', suggestion ? `${message} Did you mean ${suggestion}?` : message, {
      param,
    });
  }
}

/** True for the model of a stored config's target; a config that came with the request may name any. */
const isNamedByConfig = ({ config }: Exchange, { overrideParams, defaultParams }: Target, model: string): boolean =>
  (overrideParams?.['model'] === model || defaultParams?.['model'] === model) && config?.id !== 'inline';

/** True when the key may use the model through the alias of the request, whatever else it may use. */
function isGranted({ alias, config }: Exchange, place: string | undefined, model: string): boolean {
  if (!alias?.granted || place === undefined) return false;
  return alias.target === undefined ? config?.id === alias.config : alias.target === `${place}/${model}`;
}

const REVEALING: ReadonlySet<ErrorCode> = new Set(['provider_not_allowed', 'model_not_allowed']);

/** A caller who may not use an alias does not learn from the refusal what it stands for. */
function withoutTarget(error: unknown, name: string): unknown {
  if (!(error instanceof GatewayError) || !REVEALING.has(error.code)) return error;
  // The caller wrote these names itself.
  if (error.param !== null && error.param !== 'model') return error;
  return new GatewayError('model_not_allowed', `This key may not use the model ${quote(name)}.`, {
    param: 'model',
    cause: error,
  });
}

function noEntry(name: ProviderName, { exchange: { request } }: ResolutionInput, model: string | undefined): string {
  const headers = VERTEX_HEADERS.map((header) => request.headerName(header)).join(' and ');
  const hint = name === 'vertex-ai' ? ` Without one, send ${headers}.` : '';
  const none = model === undefined ? 'No' : `The model ${quote(model)} names no provider, and no`;
  return `${none} catalog entry that this key may use has the provider ${name}.${hint}`;
}

const notAllowed = (name: string): GatewayError =>
  new GatewayError('provider_not_allowed', `This key may not use ${name}.`);

const agrees = (configured: string, { name, provider }: CatalogEntry): boolean =>
  configured === name || configured === provider.provider;

const VERTEX_HEADERS: readonly string[] = ['vertex-project-id', 'vertex-region'];

/** A custom host is complete by itself: any other provider in the request contradicts it and must not be ignored silently. */
function checkCustom(
  entry: CatalogEntry,
  { exchange: { request } }: ResolutionInput,
  named: string | undefined,
): ChosenEntry {
  const vertex = VERTEX_HEADERS.find((header) => request.header(header) !== undefined);
  const other = named ?? request.header('provider');
  const contradicts = other !== undefined && other !== '' && other !== 'openai';
  if (contradicts || vertex !== undefined) {
    const second = contradicts ? quote(other) : request.headerName(vertex ?? '');
    throw new GatewayError(
      'provider_conflict',
      `${request.headerName('custom-host')} names an upstream of its own (provider openai), but the request or its gateway config also names ${second}.`,
    );
  }
  return { entry, place: undefined };
}

function adHocVertex({ exchange, access }: ResolutionInput): CatalogEntry | undefined {
  const projectId = exchange.request.header('vertex-project-id');
  const region = exchange.request.header('vertex-region');
  if (projectId === undefined && region === undefined) return undefined;
  if (projectId === undefined || region === undefined) {
    const [present, missing] = projectId === undefined ? ['region', 'project-id'] : ['project-id', 'region'];
    const [given, needed] = [present, missing].map((name) => exchange.request.headerName(`vertex-${name}`));
    throw new GatewayError('invalid_header', `${given} requires ${needed} too.`);
  }
  const provider = createAdHocVertex({ projectId, region });
  if (!access.allowsProvider('vertex-ai')) throw notAllowed('vertex-ai without a catalog entry');
  return { provider, name: provider.slug, models: undefined, connections: undefined, timeouts: {} };
}
