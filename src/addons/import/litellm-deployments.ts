import { isObject } from '../../formats/json/object.ts';
import { addAccount } from './accounts.ts';
import type { Draft, DraftPart } from './draft.ts';
import { addPrices, addShippedPrice } from './litellm-prices.ts';
import { DEPLOYMENT, INFO } from './litellm-reasons.ts';
import type { ForeignItem } from './source.ts';
import { limitsOf } from './spending.ts';
import { noVendor, VENDORS, vertexModel } from './vendors.ts';

/** One of `model_list`. Those of one name share its requests. */
export interface Deployment {
  readonly name: string;
  readonly item: ForeignItem;
  readonly slug: string;
  readonly model: string;
  readonly weight: number | undefined;
  /** LiteLLM draws by them where no deployment has a weight. */
  readonly limits: DraftPart | undefined;
  readonly order: number | undefined;
  readonly timeout: ForeignItem | undefined;
  readonly fields: DraftPart;
}

/** The values of each name of `credential_list`, once for each time that the files have it. */
export type CredentialList = ReadonlyMap<string, readonly ForeignItem[]>;

/** `credential_list` of a config, and what `GET /credentials` answers. */
export function credentialsOf(roots: readonly ForeignItem[]): CredentialList {
  const items = roots.flatMap((root) => (root.get('credential_list') ?? root.get('credentials'))?.items() ?? []);
  const named = items.flatMap((item): [string, ForeignItem][] => {
    const [name, values] = [item.get('credential_name')?.text(), item.get('credential_values')];
    return name === undefined || !values ? [] : [[name, values]];
  });
  return new Map([...Map.groupBy(named, ([name]) => name)].map(([name, all]) => [name, all.map(([, one]) => one)]));
}

const ACCOUNT = [
  'api_key',
  'api_base',
  'base_url',
  'organization',
  'api_version',
  'vertex_credentials',
  'vertex_project',
  'vertex_location',
] as const;

/** Credentials, variables and models that deployments refer to. */
interface ModelContext {
  readonly credentials: CredentialList;
  /** Variables of the file. LiteLLM reads addresses from `OPENAI_API_BASE` and the like. */
  readonly environment: ForeignItem | undefined;
  /** The address of models that have none of their own. */
  readonly address?: ForeignItem | undefined;
}

/** Finds a setting of an account: the deployment's own, or that of its credential. */
type Find = (key: (typeof ACCOUNT)[number]) => ForeignItem | undefined;

/** Undefined, after a report: the address may be in a credential that is not here, and a vendor's own would be another one. */
function accountOf(params: ForeignItem, credentials: CredentialList): Find | undefined {
  const item = params.get('litellm_credential_name');
  if (!item) return (key) => params.get(key);
  const name = item.text();
  if (name === undefined) return undefined;
  const [values, second] = credentials.get(name) ?? [];
  const fault = !values
    ? 'is in none of the files: import the answer of `GET /credentials` too'
    : second
      ? 'is in the files more than once'
      : Object.keys(Object(values.value)).some((key) => !ACCOUNT.some((known) => known === key))
        ? `has values that are not known here: only ${ACCOUNT.join(', ')}`
        : undefined;
  if (values && fault === undefined) return (key) => params.get(key) ?? values.get(key);
  return item.lose(`the credential ${JSON.stringify(name)} ${fault}. The model is not imported`);
}

const PREFIX = /^([A-Za-z][\w-]*)\/(.*)$/;
const BARE: readonly (readonly [RegExp, string])[] = [
  [/^claude-/, 'anthropic'],
  [/^gemini-/, 'vertex_ai'],
  [/^(?:gpt-|o\d|chatgpt-|codex-|text-embedding-|dall-e-|whisper-|tts-|omni-moderation|ft:)/, 'openai'],
];

/** The vendor and the vendor's name of a model: `azure/my-deployment`. Empty: the deployment has no name. */
function modelOf(params: ForeignItem, hasAddress: boolean): readonly [vendor: string, model: string] | undefined {
  const item = params.get('model');
  const text = item?.text();
  const custom = params.get('custom_llm_provider')?.text();
  if (!item || text === undefined) return params.lose('names no model');
  if (text.includes('os.environ/')) return item.lose('is read from a variable: the model is not imported');
  const [, prefix = '', rest = ''] = PREFIX.exec(text) ?? [];
  if (custom !== undefined) return [custom, prefix === custom ? rest : text];
  if (prefix !== '' && (VENDORS.has(prefix) || hasAddress)) return [prefix, rest];
  if (prefix !== '') return item.lose(noVendor(prefix));
  const vendor = BARE.find(([pattern]) => pattern.test(text))?.[1] ?? (hasAddress ? 'openai' : undefined);
  if (vendor !== undefined) return [vendor, text];
  return item.lose('names no vendor: at which one is this model? It is not imported');
}

/** Undefined, after a report: the deployment cannot be called. */
export function deploymentOf(item: ForeignItem, draft: Draft, context: ModelContext): Deployment | undefined {
  const params = item.get('litellm_params');
  const name = item.get('model_name')?.text();
  if (!params || name === undefined) return item.lose('has no model_name or no litellm_params');
  const info = item.get('model_info');
  const placed = placeOf(params, info, { draft, ...context });
  if (!placed) return undefined;
  const [inside, beside] = [params, item].map((part) => limitsOf(part, { requests: 'rpm', tokens: 'tpm' }));
  const deployment: Deployment = {
    name,
    item,
    slug: placed.slug,
    model: placed.model,
    limits: (inside || beside) && { ...beside, ...inside },
    weight: params.get('weight')?.number(),
    order: params.get('order')?.number(),
    timeout: params.get('timeout'),
    fields: fieldsOf(params, draft),
  };
  charge(deployment, placed, [params, info], draft);
  params.get('drop_params');
  params.rest(DEPLOYMENT);
  if (info && Object.keys(info.value ?? {}).some((key) => !/cost|^id$|^base_model$|^db_model$/.test(key)))
    info.lose(INFO, 'unneeded');
  item.rest();
  return deployment;
}

interface Placed {
  readonly slug: string;
  readonly model: string;
  /** The vendor's name of it: a deployment of Azure has its own. */
  readonly written: string;
  readonly isAzure: boolean;
}

/** The entry of a deployment. Undefined, after a report: there is none. */
function placeOf(
  params: ForeignItem,
  info: ForeignItem | undefined,
  { draft, credentials, environment, address }: ModelContext & { readonly draft: Draft },
): Placed | undefined {
  const account = accountOf(params, credentials);
  const own =
    account && [account('api_base'), account('base_url')].find((item) => item !== undefined && item.value !== '');
  const found = account && modelOf(params, own !== undefined);
  if (!found) return undefined;
  const [vendor, text] = found;
  const written = text === '' ? unnamed(params, info) : text;
  if (written === undefined) return undefined;
  const named = own ?? address;
  if (named && typeof named.value !== 'string') {
    named.lose('is no address: the model is not imported, because its key belongs to that host', 'guard');
    return undefined;
  }
  // `text-completion-openai` has the variables of OpenAI.
  const prefix = vendor.replace('text-completion-', '').toUpperCase();
  const [base, url] = ['API_BASE', 'BASE_URL'].map((name) => environment?.get(`${prefix}_${name}`));
  const slug = addAccount(draft, params, {
    vendor,
    apiKey: account('api_key'),
    baseUrl: draft.text(named ?? base ?? url, 'https://example.com'),
    organization: draft.text(account('organization'), 'org'),
    apiVersion: account('api_version'),
    serviceAccount: account('vertex_credentials'),
    vertexProject: draft.text(account('vertex_project'), 'my-project'),
    region: draft.text(account('vertex_location'), 'global'),
    headers: params.get('extra_headers'),
  });
  if (slug === undefined) return undefined;
  const isAzure = vendor === 'azure';
  if (isAzure && account('api_version') === undefined)
    params.lose(
      'which `api_version`? LiteLLM reads AZURE_API_VERSION; without one, requests go to the v1 API of Azure',
    );
  const isVertex = VENDORS.get(vendor)?.provider === 'vertex-ai';
  const model = isVertex ? vertexModel(written) : deployed(draft, slug, written, info);
  return { slug, model, written, isAzure };
}

/** Prices and limits know a deployment of Azure by its own name. */
function charge(
  { item, slug, model, limits }: Deployment,
  { isAzure, written }: Placed,
  prices: readonly (ForeignItem | undefined)[],
  draft: Draft,
): void {
  const charged = isAzure ? written : model;
  if (!addPrices(draft, slug, charged, prices) && charged !== model) addShippedPrice(draft, slug, charged, model);
  if (limits && !model.includes('*') && !limitModel(draft, slug, charged, limits))
    item.lose(`sets other limits than another deployment of ${charged} at @${slug}, which hold for both`, 'guard');
}

/** `azure/` without a deployment: its model is the best guess. */
function unnamed(params: ForeignItem, info: ForeignItem | undefined): string | undefined {
  const model = info
    ?.get('base_model')
    ?.text()
    ?.replace(/^azure\//, '');
  const item = params.get('model');
  if (model === undefined) item?.lose('names no deployment: the model is not imported');
  else item?.lose(`names no deployment: which one is it? It is imported as ${model}, its base_model`);
  return model;
}

/** A deployment of Azure has a name of its own. Its model, on which the price depends, is in `base_model`. */
function deployed(draft: Draft, slug: string, deployment: string, info: ForeignItem | undefined): string {
  const model = info
    ?.get('base_model')
    ?.text()
    ?.replace(/^azure\//, '');
  const at = draft.providers.findIndex((entry) => entry['slug'] === slug);
  const entry = draft.providers[at]!;
  if (model === undefined || model === deployment || entry['provider'] !== 'azure-openai') return deployment;
  const before = isObject(entry['deployments']) ? entry['deployments'] : {};
  // Two deployments of one model keep their own names.
  if (Object.hasOwn(before, model) && before[model] !== deployment) return deployment;
  draft.providers[at] = { ...entry, deployments: { ...before, [model]: deployment } };
  return model;
}

/** Parameters of requests that the deployment sets, each with a value for the check of the folder. */
const FIELDS: Readonly<Record<string, string>> = {
  temperature: '1',
  top_p: '1',
  max_tokens: '1000',
  max_completion_tokens: '1000',
  n: '1',
  stop: 'stop',
  seed: '1',
  frequency_penalty: '1',
  presence_penalty: '1',
  reasoning_effort: 'low',
  thinking: '1000',
  response_format: 'text',
  user: 'user',
  service_tier: 'auto',
};

const fieldsOf = (params: ForeignItem, draft: Draft): DraftPart =>
  Object.fromEntries(
    Object.entries(FIELDS).flatMap(([name, sample]) => {
      const item = params.get(name);
      return item ? [[name, draft.value(item.value, sample)]] : [];
    }),
  );

/** Limits of a deployment hold for its model at its entry. False: other ones do. */
function limitModel(draft: Draft, slug: string, model: string, limits: DraftPart): boolean {
  const at = draft.providers.findIndex((entry) => entry['slug'] === slug);
  const entry = draft.providers[at]!;
  const before = isObject(entry['limits']) && isObject(entry['limits']['models']) ? entry['limits']['models'] : {};
  if (Object.hasOwn(before, model)) return JSON.stringify(before[model]) === JSON.stringify(limits);
  draft.providers[at] = { ...entry, limits: { models: { ...before, [model]: limits } } };
  return true;
}
