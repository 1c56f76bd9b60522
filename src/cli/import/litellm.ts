import { addAccount } from './accounts.ts';
import { usdOf } from '../../prices/money.ts';
import { SHIPPED_PRICES } from '../../prices/price-table.ts';
import type { Draft, DraftPart } from './draft.ts';
import { importKeys, importTeams, type Team } from './litellm-keys.ts';
import { DEPLOYMENT, GENERAL, INFO, LITELLM, ROUTER } from './litellm-reasons.ts';
import { importGroups, readRouting, type Deployment } from './litellm-routing.ts';
import { defined, literal } from './names.ts';
import { isObject } from '../../formats/json/object.ts';
import type { ForeignFile, ForeignItem } from './source.ts';
import { budgetsOf, limitsOf, whole } from './spending.ts';
import { noVendor, VENDORS, vertexModel } from './vendors.ts';

/** The organization that gets the budget of the proxy itself. */
const PROXY = 'litellm';

/** Reads files of LiteLLM: config.yaml of its proxy, and what its admin API lists as keys and teams. */
export function importLiteLlm(sources: readonly ForeignFile[], draft: Draft): void {
  const teams = new Map<string, Team>();
  // Keys name their team, so teams come first; models come before both.
  const roots = sources.map(({ root }) => root);
  for (const root of roots) if (isConfig(root)) importConfig(root, draft);
  for (const root of roots) importTeams(listOf(root, 'teams', 'team_id'), draft, teams);
  for (const root of roots) importKeys(listOf(root, 'keys', 'token'), draft, teams);
  for (const root of roots) if (!isConfig(root) && !isList(root)) root.rest();
  // A budget of the proxy holds for all keys: they belong to teams of one organization.
  if (draft.organizations[PROXY]) underOneOrganization(draft);
}

const isConfig = (root: ForeignItem): boolean =>
  ['model_list', 'litellm_settings', 'router_settings', 'general_settings'].some((key) => root.has(key));

const isList = (root: ForeignItem): boolean => Array.isArray(root.value);

/** `{ keys: [...] }`, or a list whose items have `mark`. */
function listOf(root: ForeignItem, key: string, mark: string): readonly ForeignItem[] {
  if (!isList(root)) return isConfig(root) ? [] : (root.get(key)?.items() ?? []);
  const items = root.items();
  const isOf = (item: ForeignItem): boolean => item.has(mark) && (mark === 'token' || !item.has('token'));
  return items.filter(isOf);
}

function importConfig(root: ForeignItem, draft: Draft): void {
  const litellm = root.get('litellm_settings');
  const router = root.get('router_settings');
  const general = root.get('general_settings');
  const deployments = (root.get('model_list')?.items() ?? []).flatMap((item) => deploymentOf(item, draft) ?? []);
  const routing = readRouting(litellm, router);
  importGroups(deployments, routing, draft);
  if (litellm) importLiteLlmSettings(litellm, draft);
  router?.rest(ROUTER);
  if (general) importGeneral(general, draft);
  for (const [name, item] of root.get('environment_variables')?.entries() ?? [])
    draft.variable(name, 'a variable of the file', { place: `${item.source.name}:${item.source.lineOf(item.path)}` });
  root.rest();
}

function importLiteLlmSettings(litellm: ForeignItem, draft: Draft): void {
  const budgets = litellm.has('max_budget') ? budgetsOf(litellm) : undefined;
  if (budgets) draft.organizations[PROXY] = { budgets };
  // Losses are reported to the caller, as `drop_params: true` has it.
  if (litellm.get('drop_params')?.value === false) litellm.get('drop_params')?.lose(LITELLM['drop_params']!);
  litellm.rest(LITELLM);
}

function importGeneral(general: ForeignItem, draft: Draft): void {
  const master = general.get('master_key');
  const key = master && draft.secret(master, 'LITELLM_MASTER_KEY', 'the master key, as a gateway key without limits');
  if (key !== undefined) {
    draft.keys.push({ id: 'master', key });
    draft.notes.push(
      'The key `master` may use everything, as the master key of LiteLLM; it administers nothing here. Restrict or remove it.',
    );
  }
  const limits = defined({
    in_flight: whole(general.get('global_max_parallel_requests')),
    body: megabytes(general.get('max_request_size_mb')),
  });
  if (Object.keys(limits).length > 0) draft.server['limits'] = limits;
  const each = general.get('max_parallel_requests');
  each?.lose('write `limits: { concurrency }` of each key');
  general.rest(GENERAL);
}

const megabytes = (item: ForeignItem | undefined): string | undefined => {
  const number = whole(item);
  return number === undefined ? undefined : `${number}MiB`;
};

const PREFIX = /^([a-z_-]+)\/(.+)$/;

/** The vendor and the vendor's name of a model: `azure/my-deployment`. Names without a vendor are OpenAI's or Anthropic's. */
function modelOf(params: ForeignItem): readonly [vendor: string, model: string] | undefined {
  const text = params.get('model')?.text();
  const custom = params.get('custom_llm_provider')?.text();
  if (text === undefined) {
    params.lose('names no model');
    return undefined;
  }
  const [, prefix = '', rest = ''] = PREFIX.exec(text) ?? [];
  const vendor = custom ?? (VENDORS.has(prefix) ? prefix : undefined);
  if (vendor !== undefined) return [vendor, prefix === vendor ? rest : text];
  if (prefix !== '') {
    params.get('model')?.lose(noVendor(prefix));
    return undefined;
  }
  return [text.startsWith('claude-') ? 'anthropic' : 'openai', text];
}

function deploymentOf(item: ForeignItem, draft: Draft): Deployment | undefined {
  const params = item.get('litellm_params');
  const name = item.get('model_name')?.text();
  if (!params || name === undefined) {
    item.lose('has no model_name or no litellm_params');
    return undefined;
  }
  const found = modelOf(params);
  if (!found) return undefined;
  const [vendor, written] = found;
  if (!VENDORS.has(vendor)) {
    params.lose(noVendor(vendor));
    return undefined;
  }
  const slug = addAccount(draft, params, {
    vendor,
    apiKey: params.get('api_key'),
    baseUrl: plain(params.get('api_base') ?? params.get('base_url'), draft, 'https://example.com'),
    organization: plain(params.get('organization'), draft, 'org'),
    apiVersion: params.get('api_version'),
    serviceAccount: params.get('vertex_credentials'),
    vertexProject: plain(params.get('vertex_project'), draft, 'my-project'),
    region: plain(params.get('vertex_location'), draft, 'global'),
    headers: params.get('extra_headers'),
  });
  if (slug === undefined) return undefined;
  const info = item.get('model_info');
  const model =
    VENDORS.get(vendor)?.provider === 'vertex-ai' ? vertexModel(written) : deployed(draft, slug, written, info);
  // Prices and limits know a deployment of Azure by its own name.
  const charged = vendor === 'azure' ? written : model;
  if (!addPrices(draft, slug, charged, [params, info]) && charged !== model)
    addShippedPrice(draft, slug, charged, model);
  const limits = limitsOf(params, { requests: 'rpm', tokens: 'tpm' });
  if (limits && !model.includes('*')) limitModel(draft, slug, charged, limits);
  const deployment: Deployment = {
    name,
    item,
    slug,
    model,
    weight: params.get('weight')?.number(),
    order: params.get('order')?.number(),
    timeout: params.get('timeout'),
    fields: fieldsOf(params),
  };
  params.get('drop_params');
  params.rest(DEPLOYMENT);
  if (info && Object.keys(info.value ?? {}).some((key) => !/cost|^id$|^base_model$/.test(key))) info.lose(INFO);
  item.rest();
  return deployment;
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

/** A text as settings have it. A reference to a variable is one here too; `sample` stands for its value in the check of the folder. */
function plain(item: ForeignItem | undefined, draft: Draft, sample: string): string | undefined {
  const text = item?.text();
  const variable = text === undefined ? undefined : /^os\.environ\/([A-Za-z_]\w*)$/.exec(text)?.[1];
  return variable === undefined
    ? literal(text)
    : draft.variable(variable, 'a value that the file reads from this variable, too', { sample });
}

/** Parameters of requests that the deployment sets. */
const FIELDS = [
  'temperature',
  'top_p',
  'max_tokens',
  'max_completion_tokens',
  'n',
  'stop',
  'seed',
  'frequency_penalty',
  'presence_penalty',
  'reasoning_effort',
  'thinking',
  'response_format',
  'user',
  'service_tier',
];

const fieldsOf = (params: ForeignItem): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    FIELDS.flatMap((name) => {
      const item = params.get(name);
      return item ? [[name, item.value]] : [];
    }),
  );

/** Prices of a unit, by their names. */
const PRICES: Readonly<Record<string, readonly [kind: string, per: number]>> = {
  input_cost_per_token: ['input', 1e6],
  output_cost_per_token: ['output', 1e6],
  cache_read_input_token_cost: ['cached', 1e6],
  cache_creation_input_token_cost: ['write_5m', 1e6],
  input_cost_per_audio_token: ['audio_in', 1e6],
  output_cost_per_audio_token: ['audio_out', 1e6],
  output_cost_per_image: ['image', 1],
  input_cost_per_second: ['second', 1],
};

/** False: the file has none. */
function addPrices(draft: Draft, slug: string, model: string, places: readonly (ForeignItem | undefined)[]): boolean {
  const usd: Record<string, number> = {};
  for (const place of places)
    for (const [name, [kind, per]] of Object.entries(PRICES)) {
      const price = place?.get(name)?.number();
      if (price !== undefined) usd[kind] = Number((price * per).toPrecision(12));
    }
  return Object.keys(usd).length > 0 && addRule(draft, { model, entry: `@${slug}`, usd });
}

/** Before a request is sent, its budget looks the price up by the name of the deployment, which no table has. */
function addShippedPrice(draft: Draft, slug: string, deployment: string, model: string): void {
  const { asOf } = SHIPPED_PRICES;
  const prices = SHIPPED_PRICES.find('azure-openai', model)?.steps.findLast(({ from }) => from <= asOf)?.prices;
  if (!prices) return;
  const usd = Object.fromEntries(
    (['input', 'cached', 'output'] as const).flatMap((kind): [string, number][] => {
      const price = prices[kind];
      return price === undefined ? [] : [[kind, usdOf(price, 1e6)]];
    }),
  );
  addRule(draft, { model: deployment, entry: `@${slug}`, usd, source: `the shipped price of ${model}, ${asOf}` });
}

function addRule(draft: Draft, rule: DraftPart): true {
  if (!draft.prices.some((one) => JSON.stringify(one) === JSON.stringify(rule))) draft.prices.push(rule);
  return true;
}

/** Limits of a deployment hold for its model at its entry. */
function limitModel(draft: Draft, slug: string, model: string, limits: Readonly<Record<string, unknown>>): void {
  const at = draft.providers.findIndex((entry) => entry['slug'] === slug);
  const entry = draft.providers[at]!;
  const before = isObject(entry['limits']) && isObject(entry['limits']['models']) ? entry['limits']['models'] : {};
  draft.providers[at] = { ...entry, limits: { models: { ...before, [model]: limits } } };
}

function underOneOrganization(draft: Draft): void {
  draft.teams['others'] = {};
  for (const [id, team] of Object.entries(draft.teams)) draft.teams[id] = { organization: PROXY, ...team };
  for (const [index, key] of draft.keys.entries())
    if (key['team'] === undefined) draft.keys[index] = { ...key, team: 'others' };
}
