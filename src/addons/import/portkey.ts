import { type Draft, variableOf, type DraftPart } from './draft.ts';
import { targetOf, type Slugs } from './portkey-targets.ts';
import { nameOf, defined } from './names.ts';
import { ForeignItem, weighed, type ForeignFile, type Reasons } from './source.ts';
import { VENDORS } from './vendors.ts';
import { metadataOf } from './litellm-keys.ts';
import { alertsAt, capOf, periodOf, whole } from './spending.ts';

/** Reads files of Portkey: gateway configs, and lists of its admin API (configs, API keys, providers). */
export function importPortkey(sources: readonly ForeignFile[], draft: Draft): void {
  const items = sources.flatMap(({ root }) => listOf(root));
  const slugs = new Map(items.map(slugOf).filter((found) => found !== undefined));
  const ids = new Map<string, string>();
  for (const item of items) if (isConfig(item)) importConfig(item, { draft, slugs, ids });
  for (const item of items) if (isKey(item)) importPortkeyKeys(item, draft, ids);
  for (const item of items)
    if (isProvider(item))
      item.rest(PROVIDER, { reason: 'is what the list says about the provider', weight: 'unneeded' });
  for (const item of items)
    if (!isConfig(item) && !isKey(item) && !isProvider(item)) item.lose('is no config, no API key and no provider');
  draft.server['header_prefixes'] = ['gateway', 'portkey'];
}

/** One object, a list of them, or `{ object: list, data: [...] }`. */
function listOf(root: ForeignItem): readonly ForeignItem[] {
  const data = root.get('data');
  if (data) {
    for (const key of ['object', 'total', 'success']) root.get(key);
    const more = root.get('has_more');
    if (more?.value === true) more.lose('the list has further pages: import them too', 'guard');
    root.rest();
    return data.items();
  }
  return Array.isArray(root.value) ? root.items() : [root];
}

const PROVIDER: Reasons = {
  ...weighed('guard', {
    usage_limits: 'budgets belong to keys, teams and organizations',
    rate_limits: 'write `limits` of the entry in catalog.yaml',
    expires_at: 'entries of the catalog do not expire',
  }),
  ...weighed('decide', { model_config: 'write `base_url`, `region` or `deployments` of the entry in catalog.yaml' }),
};

const CONFIG_KEYS = [
  'config',
  'strategy',
  'targets',
  'virtual_key',
  'virtualKey',
  'api_key',
  'override_params',
  'retry',
  'cache',
];
const isProvider = (item: ForeignItem): boolean =>
  item.has('ai_provider_name') || item.has('ai_provider_id') || item.has('integration_id');
const isKey = (item: ForeignItem): boolean =>
  !isProvider(item) && (item.has('usage_limits') || item.has('rate_limits') || item.has('scopes'));
const isConfig = (item: ForeignItem): boolean =>
  !isProvider(item) && !isKey(item) && (CONFIG_KEYS.some((key) => item.has(key)) || item.has('provider'));

/** The vendor of a slug: only lists of providers say it. */
function slugOf(item: ForeignItem): readonly [string, string] | undefined {
  if (!isProvider(item)) return undefined;
  const slug = item.get('slug')?.text();
  const vendor = (item.get('ai_provider_name') ?? item.get('ai_provider_id') ?? item.get('integration_id'))?.text();
  item.get('name');
  if (slug === undefined || vendor === undefined) return undefined;
  if (VENDORS.has(vendor)) return [slug, vendor];
  return item.lose(`is at ${vendor}, for which Gatehouse has no provider`);
}

interface ConfigSetup {
  readonly draft: Draft;
  readonly slugs: Slugs;
  /** Filled with the ids here by slugs and ids of the file. */
  readonly ids: Map<string, string>;
}

function importConfig(item: ForeignItem, { draft, slugs, ids }: ConfigSetup): void {
  const inner = item.get('config');
  const name = (item.get('name') ?? item.get('slug') ?? item.get('id'))?.text() ?? fileName(item.source.name);
  const id = draft.freeConfig(nameOf(inner ? (item.get('slug')?.text() ?? name) : name));
  for (const key of ['id', 'slug']) {
    const known = item.get(key)?.value;
    if (typeof known === 'string') ids.set(known, id);
  }
  if (inner) item.rest({}, { reason: 'is what the list says about the config', weight: 'unneeded' });
  const body = inner && typeof inner.value === 'string' ? parsed(inner) : (inner ?? item);
  if (!body) return;
  const config = targetOf(body, { draft, slugs, isRoot: true });
  if (!config) body.lose('has no target that can be imported: the config is not written');
  else draft.gateway.set(id, { name, ...config });
}

const fileName = (path: string): string => path.replace(/^.*\//, '').replace(/\.\w+$/, '');

/** Some lists hold a config as text of JSON: its places are that of the text. */
function parsed(item: ForeignItem): ForeignItem | undefined {
  try {
    return new ForeignItem(item.source, item.path, JSON.parse(String(item.value)));
  } catch {
    return item.lose('is not JSON');
  }
}

const REASONS: Reasons = {
  ...weighed('guard', { scopes: 'write `models`, `providers` and `configs` of the key; keys administer nothing' }),
  ...weighed('check', {
    organisation_id: 'write `organization` of a team',
    workspace_id: 'write `team` of the key',
    user_id: 'there are no users; `owner` of a key names a person',
    alert_emails: 'alerts are rules on metrics: configs/observability/alerts.yaml',
  }),
};

/** A key of a list of Portkey's admin API, which never has the key itself. */
function importPortkeyKeys(item: ForeignItem, draft: Draft, ids: ReadonlyMap<string, string>): void {
  const status = item.get('status')?.value;
  if (typeof status === 'string' && status !== 'active') {
    item.lose(`is ${nameOf(status)}: it is not imported`, 'guard');
    return;
  }
  const name = nameOf((item.get('name') ?? item.get('id'))?.text() ?? 'key');
  const id = draft.keys.some((key) => key['id'] === name) ? `${name}-${draft.keys.length + 1}` : name;
  for (const key of ['id', 'object', 'type', 'key', 'created_at', 'last_updated_at', 'description']) item.get(key);
  const defaults = item.get('defaults');
  const config = defaults?.get('config_id');
  const written = config?.text();
  const wanted = written === undefined ? undefined : ids.get(written);
  if (written !== undefined && wanted === undefined) config?.lose('names a config that is in none of the files');
  const variable = variableOf(`${id}_KEY`);
  draft.keys.push(
    defined({
      id,
      key: draft.variable(variable, `the key ${id}: its present one, which the list does not have, or a new one`),
      expires_at: item.get('expires_at')?.text(),
      metadata: metadataOf(defaults?.get('metadata')),
      budgets: budgetsOf(item.get('usage_limits')),
      limits: limitsOf(item.get('rate_limits')),
      default_config: wanted,
    }),
  );
  defaults?.rest();
  item.rest(REASONS);
}

function budgetsOf(item: ForeignItem | undefined): readonly DraftPart[] | undefined {
  // One limit, or a list of them.
  const all = item && Array.isArray(item.value) ? item.items() : item ? [item] : [];
  const budgets = all.flatMap((limit) => {
    const period = periodOf(limit.get('periodic_reset'));
    const isTokens = limit.get('type')?.value === 'tokens';
    const amount = limit.get('credit_limit');
    const cap = isTokens ? tokensOf(amount) : capOf(amount);
    const alert = limit.get('alert_threshold')?.number() ?? 0;
    limit.rest(REASONS);
    if (period === undefined || cap === undefined) return [];
    return [{ cap, period, ...alertsAt(alert, Number(amount?.value)) }];
  });
  return budgets.length > 0 ? budgets : undefined;
}

const tokensOf = (item: ForeignItem | undefined): string | undefined => {
  const number = whole(item);
  return number === undefined ? undefined : `${number} tokens`;
};

const UNITS: Readonly<Record<string, string>> = { rps: 's', rpm: 'min', rph: 'h' };

function limitsOf(item: ForeignItem | undefined): DraftPart | undefined {
  const limits: Record<string, string> = {};
  for (const rate of item?.items() ?? []) {
    const [type, unit, value] = [rate.get('type')?.text(), rate.get('unit')?.text() ?? '', whole(rate.get('value'))];
    const per = UNITS[unit];
    if (per === undefined)
      rate
        .get('unit')
        ?.lose('is no unit of a rate here, so this limit is not in force: write `limits` per s, min or h', 'guard');
    else if (value !== undefined) limits[type === 'tokens' ? 'tokens' : 'requests'] = `${value}/${per}`;
    rate.rest();
  }
  return Object.keys(limits).length > 0 ? limits : undefined;
}
