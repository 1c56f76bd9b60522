import { AliasNames, isWildcard, targetOf as modelFor } from '../../core/catalog/aliases.ts';
import type { Draft, DraftPart } from './draft.ts';
import type { Deployment } from './litellm-deployments.ts';
import { aliasOf, defined, nameOf, timesOf } from './names.ts';
import { isObject } from '../../formats/json/object.ts';
import type { ForeignItem } from './source.ts';

/** Names of models that follow a model, each at its place in the file. */
type Followers = ReadonlyMap<string, readonly ForeignItem[]>;

interface Routing {
  readonly fallbacks: Followers;
  readonly contextWindow: Followers;
  readonly contentPolicy: Followers;
  readonly always: readonly ForeignItem[];
  readonly aliases: readonly (readonly [string, ForeignItem])[];
  readonly shared: DraftPart;
  readonly cacheItem: ForeignItem | undefined;
}

/** The settings that hold for all models; those of the router come before those of `litellm_settings`. */
export function readRouting(litellm: ForeignItem | undefined, router: ForeignItem | undefined, draft: Draft): Routing {
  const both = (key: string): ForeignItem | undefined => {
    const [first, second] = [router?.get(key), litellm?.get(key)];
    if (first) second?.lose('is in router_settings too, which comes first', 'check');
    return first ?? second;
  };
  const retries = both('num_retries')?.number();
  const written = both('timeout') ?? both('request_timeout');
  const timeout = seconds(written);
  if (written && timeout !== undefined)
    draft.notes.push(
      `${written.place}: LiteLLM counts ${timeout} for each try; \`request_timeout\` bounds one target with all its tries, and \`timeouts\` each try.`,
    );
  const fails = both('allowed_fails')?.number();
  const cooldown = seconds(both('cooldown_time'));
  return {
    fallbacks: followersOf(both('fallbacks')),
    contextWindow: followersOf(both('context_window_fallbacks')),
    contentPolicy: followersOf(both('content_policy_fallbacks')),
    always: both('default_fallbacks')?.items() ?? [],
    aliases: router?.get('model_group_alias')?.entries() ?? [],
    shared: defined({
      retry: retries !== undefined && retries > 0 ? { attempts: retries } : undefined,
      ...timesOf(timeout),
      circuit_breaker:
        fails === undefined && cooldown === undefined
          ? undefined
          : // LiteLLM leaves a deployment out when it has failed more often than this within a minute.
            defined({ failures: (fails ?? 3) + 1, window: '1m', cooldown }),
      cache: cacheOf(litellm),
    }),
    cacheItem: litellm?.get('cache'),
  };
}

/** `[{ model: [follower, …] }, …]`. */
const followersOf = (list: ForeignItem | undefined): Followers =>
  new Map(
    (list?.items() ?? []).flatMap((item) => item.entries()).map(([name, followers]) => [name, followers.items()]),
  );

/** `30s`. Undefined: no number, or 0, which stands for no limit. */
function seconds(item: ForeignItem | undefined): string | undefined {
  const number = item?.number();
  return number === undefined || number === 0 ? undefined : `${number}s`;
}

/** The gateway keeps replies in memory only; other values of `type` are reported. */
function cacheOf(litellm: ForeignItem | undefined): DraftPart | undefined {
  const on = litellm?.get('cache')?.value === true;
  const params = litellm?.get('cache_params');
  const type = params?.get('type')?.text() ?? 'local';
  const ttl = params?.get('ttl')?.number();
  params?.rest({}, { reason: 'replies are kept in memory', weight: 'unneeded' });
  if (!on) return undefined;
  if (type !== 'local')
    params?.get('type')?.lose('replies are kept in memory, of each process; `scope` says who shares them', 'check');
  return defined({
    mode: 'exact',
    max_age: ttl === undefined ? undefined : Math.max(1, Math.round(ttl)),
    scope: 'config',
  });
}

type Groups = ReadonlyMap<string, readonly Deployment[]>;

/** An alias for each name, and a config where it needs one. */
export function importGroups(deployments: readonly Deployment[], routing: Routing, draft: Draft): void {
  const groups: Groups = Map.groupBy(deployments, ({ name }) => name);
  for (const [name, group] of groups) {
    const first = group[0]!.item.get('model_name')!;
    const alias = aliasOf(name);
    if (name.includes('*')) {
      importWildcard(name, group, draft);
      continue;
    }
    if (alias === undefined) {
      first.lose(
        `cannot be an alias, which has letters, digits and \`._:/-\`: requests write @${group[0]!.slug}/MODEL`,
      );
      continue;
    }
    if (group.some(({ model }) => model.includes('*'))) {
      first.lose('is one name for a pattern of models: which one is it? It is not imported');
      continue;
    }
    const config = configOf(name, groups, routing);
    if (Object.keys(config).length === 1 && isPlain(group)) {
      draft.aliases[alias] = { target: `@${group[0]!.slug}/${group[0]!.model}` };
      continue;
    }
    const id = draft.freeConfig(nameOf(name));
    draft.gateway.set(id, { name, ...config });
    draft.aliases[alias] = { config: id };
  }
  for (const [name, item] of routing.aliases) importAlias(name, item, draft);
  for (const followers of [routing.fallbacks, routing.contextWindow, routing.contentPolicy])
    for (const [name, items] of followers)
      if (!groups.has(name) && name !== '*') items[0]?.lose(`falls back from ${name}, which is not in model_list`);
      else if (isWildcard(name)) items[0]?.lose(`falls back from ${name}, and a wildcard is the alias of one entry`);
  if ([...groups.keys()].some(isWildcard)) importDefault(routing.shared, draft);
  else if (draft.gateway.size === 0 && routing.shared['cache'] !== undefined)
    routing.cacheItem?.lose('has no config to stand in: write `cache` in one', 'guard');
}

/** Requests for a wildcard alias use the default config, which leaves the model to them. */
function importDefault({ circuit_breaker: _, ...shared }: DraftPart, draft: Draft): void {
  if (Object.keys(shared).length === 0) return;
  const id = draft.freeConfig('litellm');
  draft.gateway.set(id, { name: 'litellm', ...shared });
  draft.server['default_config'] = id;
}

/** `openai/*` of `openai/*`: the names of clients stay. */
function importWildcard(name: string, group: readonly Deployment[], draft: Draft): void {
  const [first, ...others] = group;
  const { item, slug, model, fields, timeout } = first!;
  const [before, after] = [name, model].map((text) =>
    text.indexOf('*') === text.length - 1 ? text.slice(0, -1) : undefined,
  );
  if (before === undefined || after === undefined || (before !== '' && aliasOf(before) === undefined)) {
    item
      .get('model_name')!
      .lose(`a wildcard has one star, at its end and at the end of its model: requests write @${slug}/MODEL`);
    return;
  }
  draft.aliases[name] = { target: `@${slug}/${model}` };
  // Vertex AI has the publisher before the name.
  const isVertex = draft.providers.some((entry) => entry['slug'] === slug && entry['provider'] === 'vertex-ai');
  if (isVertex && after === '') draft.aliases[`${before}claude-*`] = { target: `@${slug}/anthropic.claude-*` };
  for (const other of others) other.item.lose('is another deployment of a wildcard, which is the alias of one entry');
  if (Object.keys(fields).length > 0 || timeout) item.lose('sets parameters of requests, which a wildcard cannot');
}

/** Nothing but a model: an alias of it is enough. */
const isPlain = (group: readonly Deployment[]): boolean =>
  group.length === 1 && group[0]!.timeout === undefined && Object.keys(group[0]!.fields).length === 0;

/** `gpt-4: other`, or `gpt-4: { model: other, hidden: true }`. */
function importAlias(name: string, item: ForeignItem, draft: Draft): void {
  const target = typeof item.value === 'string' ? item.text() : item.get('model')?.text();
  const { alias: found, rest } = new AliasNames(Object.entries(draft.aliases)).find(target ?? '') ?? {};
  const known = found && (rest === undefined ? found : { target: modelFor(String(found['target']), rest) });
  const alias = aliasOf(name);
  if (!known || alias === undefined) item.lose('names a model that is not in model_list');
  else draft.aliases[alias] = { ...known, ...(item.get('hidden')?.value === true && { hidden: true }) };
}

function configOf(name: string, groups: Groups, routing: Routing): DraftPart {
  const own = groups.get(name)!;
  const names = new AliasNames(groups);
  const targetsOf = (items: readonly ForeignItem[]): readonly DraftPart[] =>
    items.flatMap((item) => {
      const other = item.text();
      const { alias, rest } = names.find(other ?? '') ?? {};
      const group = rest === undefined ? alias : alias?.map((one) => ({ ...one, model: modelFor(one.model, rest) }));
      if (!group) item.lose('is not in model_list, or was left out');
      return group && other !== name ? [groupTarget(group)] : [];
    });
  const special = (items: readonly ForeignItem[], kind: string, target: DraftPart): DraftPart => {
    const others = targetsOf(items);
    return others.length === 0
      ? target
      : { strategy: { mode: 'fallback', on_errors: [kind] }, targets: [target, ...others] };
  };
  const long = special(routing.contextWindow.get(name) ?? [], 'context_length', groupTarget(own));
  const safe = special(routing.contentPolicy.get(name) ?? [], 'content_filter', long);
  const followers = targetsOf(routing.fallbacks.get(name) ?? routing.fallbacks.get('*') ?? routing.always);
  const tree = followers.length === 0 ? safe : { strategy: { mode: 'fallback' }, targets: [safe, ...followers] };
  const { circuit_breaker: breaker, ...shared } = routing.shared;
  // A breaker skips a target for another one, so a single target needs none.
  return isObject(tree['strategy'])
    ? { ...shared, ...(breaker !== undefined && { circuit_breaker: breaker }), ...tree }
    : { ...shared, targets: [tree] };
}

/** The deployments of a name: by `order`, those of one order by weight. */
function groupTarget(group: readonly Deployment[]): DraftPart {
  const orders = [...new Set(group.map(({ order }) => order ?? 0))].toSorted((one, other) => one - other);
  const ranks = orders.map((order) => rankTarget(withWeights(group).filter((one) => (one.order ?? 0) === order)));
  return ranks.length === 1 ? ranks[0]! : { strategy: { mode: 'fallback' }, targets: ranks };
}

/** LiteLLM draws by `weight`, else by `rpm`, else by `tpm`. */
function withWeights(group: readonly Deployment[]): readonly Deployment[] {
  if (group.some(({ weight, order }) => weight !== undefined || order !== undefined)) return group;
  const by = ['requests', 'tokens'].find((key) => group.every(({ limits }) => limits?.[key] !== undefined));
  return by === undefined
    ? group
    : group.map((one) => ({ ...one, weight: Number.parseInt(String(one.limits?.[by]), 10) }));
}

function rankTarget(group: readonly Deployment[]): DraftPart {
  if (group.length === 1) return targetOf(group[0]!);
  return {
    strategy: { mode: 'loadbalance' },
    targets: group.map((one) => ({ ...targetOf(one), ...(one.weight !== undefined && { weight: one.weight }) })),
  };
}

const targetOf = ({ slug, model, timeout, fields }: Deployment): DraftPart =>
  defined({
    provider: `@${slug}`,
    override_params: { model: model },
    default_params: Object.keys(fields).length > 0 ? fields : undefined,
    ...timesOf(seconds(timeout)),
  });
