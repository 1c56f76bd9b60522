import type { CatalogEntry, GatewayFile, Target } from '../../../../../schemas/types.generated.ts';
import { Globs } from '../../../../core/catalog/globs.ts';
import { parseModelIdentifier } from '../../../../core/catalog/model-identifier.ts';
import { partOf } from '../../../../core/process/add-on-parts.ts';
import type { PriceQuote, QuotedPlace } from '../../../../core/ports/prices.ts';
import type { RecordJson } from '../../../../core/record/record-query.ts';
import type { Call, Handler } from '../call.ts';
import { IN_STORE } from '../objects.ts';
import { ApiProblem } from '../problems.ts';
import { recordOf } from './requests.ts';

const MAX_MODELS = 1000;
const MAX_TARGETS = 64;
const NANO = 1e9;

/** A target, and where it would have sent the request. */
interface AskedTarget {
  readonly target: string;
  readonly target_name?: string;
  readonly provider?: string;
  readonly model?: string;
  readonly answered?: true;
}

export const getCosts: Handler = async (call) => {
  const record = await recordOf(call);
  const prices = partOf('prices');
  if (!prices) throw new ApiProblem('not_found', 'This build has no add-on budgets.');
  const { tokens } = record.attempts?.find((attempt) => attempt.answered) ?? {};
  const { extras, catalog } = call.settings;
  const stored = (await call.readObjects()).list('prices').filter(({ owner }) => owner === IN_STORE);
  const question = { rules: stored.map(({ spec }) => spec), at: Date.parse(String(record['time'])) };
  const quote = (places: readonly QuotedPlace[]): readonly Price[] =>
    tokens === undefined
      ? places.map(() => ({ cost_usd: null, unknown: 'usage' }))
      : prices.quote(extras, { ...question, tokens: { ...tokens }, places }).map(priceOf);
  const entries = new Map(catalog.providers.map((entry) => [entry.slug, entry]));
  const kind = kindOf(record['operation']);
  const targets = targetsOf(record, call).slice(0, MAX_TARGETS);
  const ofTargets = targets.map(({ provider = '', model }) => {
    const entry = entries.get(provider);
    return entry && model !== undefined ? quote([placeAt(entry, model)])[0]! : { cost_usd: null, unknown: 'model' };
  });
  const places = catalog.providers.flatMap((entry) =>
    modelsOf(entry, call, prices.models(extras, entry.provider, kind)).map((model) => placeAt(entry, model)),
  );
  const quoted = quote(places).map((price, index) => ({ ...shown(places[index]!), ...price }));
  const models = quoted.toSorted((one, other) => (one.cost_usd ?? Infinity) - (other.cost_usd ?? Infinity) || 0);
  return {
    body: {
      request_id: call.id,
      tokens: tokens ?? null,
      cost_usd: record['cost_usd'] ?? null,
      targets: targets.map((target, index) => ({ ...target, ...ofTargets[index] })),
      models: models.slice(0, MAX_MODELS),
      left_out: Math.max(0, models.length - MAX_MODELS),
    },
  };
};

interface Price {
  readonly cost_usd: number | null;
  readonly unknown?: string;
}

/** An unknown price is null, never 0. */
const priceOf = ({ nano, unknown = 'model' }: PriceQuote): Price =>
  nano === undefined ? { cost_usd: null, unknown } : { cost_usd: nano / NANO };

const placeAt = (entry: CatalogEntry, model: string): QuotedPlace => ({
  entry: entry.slug,
  provider: entry.provider,
  region: 'region' in entry ? entry.region : undefined,
  model,
});

const shown = ({ entry, model }: QuotedPlace): object => ({ provider: entry, model });

/** Models of another kind have no answer to the request. */
function kindOf(operation: unknown): string {
  const name = String(operation);
  return /embed/i.test(name) ? 'embedding' : /image/i.test(name) ? 'image' : 'chat';
}

/**
 * The models that an entry lists or that aliases name; where it serves any, those of its vendor with a shipped price. A server with an
 * address of its own has models of its own.
 */
function modelsOf(
  { slug, models, ...entry }: CatalogEntry,
  { settings }: Call,
  priced: readonly string[],
): readonly string[] {
  const own = new Globs(models ?? ['*']);
  const aliased = Object.values(settings.catalog.aliases ?? {}).flatMap(({ target = '' }) =>
    target.startsWith(`@${slug}/`) && !target.endsWith('*') ? [target.slice(slug.length + 2)] : [],
  );
  const isVendors = !('base_url' in entry && entry.base_url !== undefined);
  const ofVendor = isVendors ? priced.filter((model) => own.matches(model)) : [];
  return [...new Set([...own.literals, ...ofVendor, ...aliased])];
}

/** The targets of the config that the record names, with what the record has of them. */
function targetsOf(record: RecordJson, { settings }: Call): readonly AskedTarget[] {
  const { attempts = [], skipped = [], config } = record;
  const written = config && settings.gateway.get(config.id);
  const inConfig = written ? leavesOf(written, 'config') : [];
  // A target that changes nothing gets the model of the request.
  const asked = attempts.find(({ target }) => inConfig.some((one) => one.target === target && one.model === undefined));
  const seen = new Map<string, AskedTarget>();
  for (const one of inConfig) seen.set(one.target, { ...withModel(asked?.request_model), ...one });
  // The record has what was done, also where the config has changed since.
  for (const one of [...(skipped as readonly AskedTarget[]), ...attempts]) {
    if (one.target === undefined) continue;
    const { target, target_name: name, provider } = one;
    const model = 'request_model' in one ? one.request_model : undefined;
    seen.set(target, {
      ...seen.get(target),
      target,
      ...(name !== undefined && { target_name: name }),
      ...(provider !== undefined && { provider }),
      ...withModel(model),
      ...('answered' in one && one.answered && { answered: true }),
    });
  }
  return [...seen.values()];
}

const withModel = (model: string | undefined): { readonly model?: string } => (model === undefined ? {} : { model });

function leavesOf(node: GatewayFile | Target, target: string, above?: string): readonly AskedTarget[] {
  const { targets = [], provider, override_params: { model: written } = {} } = node;
  const model = typeof written === 'string' ? written : above;
  if (targets.length > 0) return targets.flatMap((one, index) => leavesOf(one, `${target}.targets[${index}]`, model));
  const named = model?.startsWith('@') && model.includes('/') ? parseModelIdentifier(model) : undefined;
  const slug = named?.slug ?? (provider?.startsWith('@') ? provider.slice(1) : undefined);
  return [
    {
      target,
      ...('name' in node && node.name !== undefined && { target_name: node.name }),
      ...(slug !== undefined && { provider: slug }),
      ...withModel(named?.model ?? model),
    },
  ];
}
