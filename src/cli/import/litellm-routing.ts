import type { Draft, DraftPart } from './draft.ts';
import { aliasOf, defined, literal, nameOf } from './names.ts';
import { isObject } from '../../formats/json/object.ts';
import type { ForeignItem } from './source.ts';

/** One of `model_list`. Those of one name share its requests. */
export interface Deployment {
  readonly name: string;
  readonly item: ForeignItem;
  readonly slug: string;
  readonly model: string;
  readonly weight: number | undefined;
  /** The lowest is tried first. */
  readonly order: number | undefined;
  readonly timeout: ForeignItem | undefined;
  readonly fields: DraftPart;
}

/** Names of models that follow a model, each at its place in the file. */
type Followers = ReadonlyMap<string, readonly ForeignItem[]>;

export interface Routing {
  readonly fallbacks: Followers;
  readonly contextWindow: Followers;
  readonly contentPolicy: Followers;
  /** Fallbacks of every model. */
  readonly always: readonly ForeignItem[];
  readonly aliases: readonly (readonly [string, ForeignItem])[];
  readonly shared: DraftPart;
}

/** The settings that hold for all models; those of the router come before those of `litellm_settings`. */
export function readRouting(litellm: ForeignItem | undefined, router: ForeignItem | undefined): Routing {
  const both = (key: string): ForeignItem | undefined => {
    const [first, second] = [router?.get(key), litellm?.get(key)];
    if (first) second?.lose('is in router_settings too, which comes first');
    return first ?? second;
  };
  const retries = both('num_retries')?.number();
  const timeout = seconds(both('timeout') ?? both('request_timeout'));
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
      request_timeout: timeout,
      circuit_breaker:
        fails === undefined && cooldown === undefined
          ? undefined
          : // LiteLLM leaves a deployment out when it has failed more often than this within a minute.
            defined({ failures: (fails ?? 3) + 1, window: '1m', cooldown }),
      cache: cacheOf(litellm),
    }),
  };
}

/** `[{ model: [follower, …] }, …]`. */
function followersOf(list: ForeignItem | undefined): Followers {
  return new Map(
    (list?.items() ?? []).flatMap((item) => item.entries()).map(([name, followers]) => [name, followers.items()]),
  );
}

/** `30s`. Undefined: no number, or 0, which stands for no limit. */
export function seconds(item: ForeignItem | undefined): string | undefined {
  const number = item?.number();
  return number === undefined || number === 0 ? undefined : `${number}s`;
}

/** The gateway keeps replies in memory only; other values of `type` are reported. */
function cacheOf(litellm: ForeignItem | undefined): DraftPart | undefined {
  const on = litellm?.get('cache')?.value === true;
  const params = litellm?.get('cache_params');
  const type = params?.get('type')?.text() ?? 'local';
  const ttl = params?.get('ttl')?.number();
  params?.rest({}, 'replies are kept in memory');
  if (!on) return undefined;
  if (type !== 'local')
    params?.get('type')?.lose('replies are kept in memory, of each process; `scope` says who shares them');
  return defined({
    mode: 'exact',
    max_age: ttl === undefined ? undefined : Math.max(1, Math.round(ttl)),
    scope: 'config',
  });
}

/** An alias for each name, and a config where it needs one. */
export function importGroups(deployments: readonly Deployment[], routing: Routing, draft: Draft): void {
  const groups = Map.groupBy(deployments, ({ name }) => name);
  for (const [name, group] of groups) {
    const first = group[0]!.item.get('model_name')!;
    const alias = aliasOf(name);
    if (alias === undefined) {
      first.lose(`a pattern is no alias: requests write @${group[0]!.slug}/MODEL`);
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
}

/** Nothing but a model: an alias of it is enough. */
const isPlain = (group: readonly Deployment[]): boolean =>
  group.length === 1 && group[0]!.timeout === undefined && Object.keys(group[0]!.fields).length === 0;

/** `gpt-4: other`, or `gpt-4: { model: other, hidden: true }`. */
function importAlias(name: string, item: ForeignItem, draft: Draft): void {
  const target = typeof item.value === 'string' ? item.text() : item.get('model')?.text();
  const known = target === undefined ? undefined : draft.aliases[target];
  const alias = aliasOf(name);
  if (!known || alias === undefined) item.lose('names a model that is not in model_list');
  else draft.aliases[alias] = { ...known, ...(item.get('hidden')?.value === true && { hidden: true }) };
}

function configOf(name: string, groups: ReadonlyMap<string, readonly Deployment[]>, routing: Routing): DraftPart {
  const own = groups.get(name)!;
  const targetsOf = (items: readonly ForeignItem[]): readonly DraftPart[] =>
    items.flatMap((item) => {
      const other = item.text();
      const group = other === undefined ? undefined : groups.get(other);
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
  const ranks = orders.map((order) => rankTarget(group.filter((one) => (one.order ?? 0) === order)));
  return ranks.length === 1 ? ranks[0]! : { strategy: { mode: 'fallback' }, targets: ranks };
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
    override_params: { model: literal(model) },
    default_params: Object.keys(fields).length > 0 ? literal(fields) : undefined,
    request_timeout: seconds(timeout),
  });
