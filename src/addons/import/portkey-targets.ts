import { adviceOnKey } from '../../core/settings/problems/foreign-words.ts';
import { addAccount, type ForeignAccount } from './accounts.ts';
import type { Draft, DraftPart } from './draft.ts';
import { defined, nameOf, timesOf } from './names.ts';
import { toSnake } from '../../formats/json/field-names.ts';
import { isObject } from '../../formats/json/object.ts';
import { weighed, type ForeignItem, type Reasons } from './source.ts';
import { VENDORS } from './vendors.ts';

export type Slugs = ReadonlyMap<string, string>;

interface TargetSetup {
  readonly draft: Draft;
  readonly slugs: Slugs;
  readonly isRoot: boolean;
}

const SPELLINGS: readonly (readonly [ours: string, theirs: string])[] = [
  ['override_params', 'overrideParams'],
  ['forward_headers', 'forwardHeaders'],
  ['request_timeout', 'requestTimeout'],
  ['strict_open_ai_compliance', 'strictOpenAiCompliance'],
  ['on_status_codes', 'onStatusCodes'],
  ['virtual_key', 'virtualKey'],
];

const either = (item: ForeignItem, ours: string): ForeignItem | undefined => {
  const theirs = SPELLINGS.find(([name]) => name === ours)?.[1];
  return item.get(ours) ?? (theirs === undefined ? undefined : item.get(theirs));
};

/** A config, or a target of one. Undefined: no part of it can be called. */
export function targetOf(item: ForeignItem, setup: TargetSetup): DraftPart | undefined {
  const strategy = item.get('strategy');
  const targets = item.get('targets')?.items() ?? [];
  const inner = targets
    .map((target) => targetOf(target, { ...setup, isRoot: false }))
    .filter((target) => target !== undefined);
  if (targets.length > 0 && inner.length === 0) return undefined;
  const otherwise = strategy?.get('default');
  if (otherwise && !inner.some((target) => target['name'] === otherwise.value))
    return otherwise.lose('names a target that is left out: requests that meet no condition would have none');
  const place = targets.length > 0 ? {} : placeOf(item, setup);
  if (!place) return undefined;
  const name = item.get('name');
  const result = defined({
    name: setup.isRoot ? undefined : name?.text(),
    weight: item.get('weight')?.number(),
    strategy: strategy && inner.length > 0 ? strategyOf(strategy, inner) : undefined,
    ...place,
    ...rulesOf(item, strategy),
    targets: inner.length > 0 ? inner : undefined,
  });
  for (const key of ['id', 'slug', 'index']) item.get(key);
  item.rest({ ...advices(setup.isRoot ? 'GatewayFile' : 'Target', item), ...AZURE });
  strategy?.rest(advices('Strategy', strategy));
  return result;
}

const AZURE = weighed('check', { azure_model_name: 'write `deployments` in the entry of catalog.yaml' });

/** The settings of a target that do not depend on its provider. */
function rulesOf(item: ForeignItem, strategy: ForeignItem | undefined): DraftPart {
  const deployment = item.get('azure_deployment_id')?.text();
  const params = withoutSlug(either(item, 'override_params')?.value);
  const override = { ...(deployment !== undefined && { model: deployment }), ...(isObject(params) ? params : {}) };
  return {
    override_params: Object.keys(override).length > 0 ? override : undefined,
    forward_headers: either(item, 'forward_headers')?.texts(),
    cache: cacheOf(item.get('cache')),
    retry: retryOf(item.get('retry')),
    circuit_breaker: breakerOf(item.get('cb_config') ?? strategy?.get('cb_config')),
    ...timesOf(milliseconds(either(item, 'request_timeout'))),
    strict_open_ai_compliance: either(item, 'strict_open_ai_compliance')?.value,
  };
}

/** The advice that diagnostics of the settings have for the same keys. */
const advices = (title: string, item: ForeignItem): Reasons =>
  Object.fromEntries(
    Object.keys(isObject(item.value) ? item.value : {}).flatMap((key) => {
      const reason = adviceOnKey(title, toSnake(key));
      const weight = /guardrail|hooks$/i.test(key) ? 'guard' : 'check';
      return reason === undefined ? [] : [[key, { reason, weight }]];
    }),
  );

/** The entry of the catalog: by slug, or made of the vendor and the credentials in the config. */
function placeOf(item: ForeignItem, setup: TargetSetup): DraftPart | undefined {
  const virtual = either(item, 'virtual_key')?.text();
  const provider = item.get('provider')?.text();
  const vendor = provider?.startsWith('@') ? undefined : provider;
  const slug = modelSlug(item) ?? virtual ?? (vendor === undefined ? provider?.slice(1) : undefined);
  if (slug === undefined && vendor === undefined) return {};
  const added =
    slug === undefined
      ? addAccount(setup.draft, item, accountOf(item, vendor!))
      : entryOfSlug(item, { slug, vendor }, setup);
  return added === undefined ? undefined : { provider: `@${added}` };
}

/** `override_params: { model: "@slug/model" }`. */
function modelSlug(item: ForeignItem): string | undefined {
  const params = either(item, 'override_params')?.value;
  const model = isObject(params) ? params['model'] : undefined;
  return typeof model === 'string' ? SLUG.exec(model)?.[1] : undefined;
}

const SLUG = /^@([^/]+)\/(?=.)/;

function withoutSlug(params: unknown): unknown {
  const model = isObject(params) ? params['model'] : undefined;
  return isObject(params) && typeof model === 'string' ? { ...params, model: model.replace(SLUG, '') } : params;
}

interface NamedEntry {
  readonly slug: string;
  /** The vendor that stands beside the slug. */
  readonly vendor: string | undefined;
}

function entryOfSlug(
  item: ForeignItem,
  { slug, vendor: beside }: NamedEntry,
  { draft, slugs }: TargetSetup,
): string | undefined {
  const name = nameOf(slug);
  if (draft.providers.some((entry) => entry['slug'] === name)) return name;
  const known = slugs.get(slug) ?? beside;
  const guessed = [...VENDORS.keys()].find((one) => slug.toLowerCase().startsWith(one));
  const account = accountOf(item, known ?? guessed ?? slug);
  if (known === undefined && guessed === undefined && account.baseUrl === undefined)
    return item.lose(
      `which provider is @${slug}? A config does not say it: import the list of providers too. The target is left out`,
    );
  if (known === undefined && guessed !== undefined)
    item.lose(
      `@${slug}: a config does not say which provider this is; catalog.yaml has it as ${VENDORS.get(guessed)!.provider}: check it, and its address`,
    );
  return addAccount(draft, item, { ...account, slug: name });
}

function accountOf(item: ForeignItem, vendor: string): ForeignAccount {
  const resource = item.get('azure_resource_name')?.text();
  const host = item.get('custom_host')?.text();
  return {
    vendor,
    apiKey: item.get('api_key') ?? item.get('apiKey'),
    baseUrl: host ?? (resource === undefined ? undefined : `https://${resource}.openai.azure.com`),
    organization: item.get('openai_organization')?.text(),
    project: item.get('openai_project')?.text(),
    apiVersion: item.get('azure_api_version'),
    serviceAccount: item.get('vertex_service_account_json'),
    vertexProject: item.get('vertex_project_id')?.text(),
    region: item.get('vertex_region')?.text(),
  };
}

function strategyOf(strategy: ForeignItem, targets: readonly DraftPart[]): DraftPart {
  const mode = strategy.get('mode')?.text();
  const names = new Set(targets.map(({ name }) => name));
  const known = (item: ForeignItem | undefined): string | undefined => {
    const name = item?.text();
    return name === undefined || names.has(name) ? name : item?.lose('names a target that is left out');
  };
  const conditions = strategy
    .get('conditions')
    ?.items()
    .flatMap((condition) => {
      const query = condition.get('query');
      const then = known(condition.get('then'));
      condition.rest(advices('Condition', condition));
      // oxlint-disable-next-line unicorn/no-thenable -- the schema's own word
      return query && then !== undefined ? [{ query: withPath(query.value), then }] : [];
    });
  return defined({
    mode,
    on_status_codes: either(strategy, 'on_status_codes')?.value,
    conditions,
    default: strategy.get('default')?.text(),
    sticky: stickyOf(strategy.get('sticky_session') ?? strategy.get('sticky_sessions') ?? strategy.get('sticky')),
  });
}

/** `url.pathname` is `path` here. */
function withPath(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withPath);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key === 'url.pathname' ? 'path' : key, withPath(inner)]),
  );
}

function stickyOf(item: ForeignItem | undefined): DraftPart | undefined {
  if (!item || item.get('enabled')?.value === false) return undefined;
  const ttl = item.get('ttl')?.number();
  const fields = (item.get('hash_fields')?.texts() ?? []).map((field) =>
    field === 'portkey.api_key' ? 'caller' : field,
  );
  item.rest(advices('Sticky', item));
  return defined({
    hash_fields: fields.length > 0 ? fields : ['caller'],
    ttl: ttl === undefined ? undefined : `${ttl}s`,
  });
}

function cacheOf(item: ForeignItem | undefined): DraftPart | undefined {
  if (!item) return undefined;
  const mode = item.get('mode');
  if (mode?.value === 'semantic')
    mode.lose('a semantic cache needs `embeddings`, a model that makes vectors; written as `exact`');
  const age = (item.get('max_age') ?? item.get('maxAge'))?.number();
  item.rest(weighed('check', { scope: 'write `scope: config` for replies that keys share' }));
  return defined({ mode: 'exact', max_age: age === undefined ? undefined : Math.max(1, Math.round(age)) });
}

function retryOf(item: ForeignItem | undefined): DraftPart | undefined {
  if (!item) return undefined;
  const after = item.get('use_retry_after_header') ?? item.get('useRetryAfterHeader');
  if (after?.value === false)
    after.lose('the upstream’s retry-after always decides; one longer than `max_delay` ends the retries');
  const attempts = item.get('attempts')?.number();
  const retry = defined({ attempts, on_status_codes: either(item, 'on_status_codes')?.value });
  item.rest(advices('Retry', item));
  return retry;
}

function breakerOf(item: ForeignItem | undefined): DraftPart | undefined {
  if (!item) return undefined;
  const percentage = item.get('failure_threshold_percentage')?.number();
  const breaker = defined({
    failures: item.get('failure_threshold')?.number(),
    failure_rate: percentage === undefined ? undefined : percentage / 100,
    min_requests: item.get('minimum_requests')?.number(),
    cooldown: milliseconds(item.get('cooldown_interval')),
    on_status_codes: item.get('failure_status_codes')?.value,
  });
  item.rest(advices('CircuitBreaker', item));
  return breaker;
}

const milliseconds = (item: ForeignItem | undefined): string | undefined => {
  const number = item?.number();
  return number === undefined ? undefined : `${number}ms`;
};
