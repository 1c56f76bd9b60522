import { isDeepStrictEqual } from 'node:util';
import { isObject, type Target } from '../../../core/kernel/index.ts';
import type { Observation, SeenAttempt } from '../explain/observation.ts';
import { listedSlug } from '../explain/describe/places.ts';

/** How settings change one field of the caller's body: set or remove it, whatever it is, or give a missing one its value. */
type Rule =
  | { readonly how: 'set'; readonly value: unknown }
  | { readonly how: 'removed' }
  | { readonly how: 'default'; readonly value: unknown };

export interface SentChange {
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

interface RuleChanges {
  readonly certain: readonly SentChange[];
  /** Fields whose value in the sent body depends on the caller's own, which is not known. */
  readonly unsure: readonly string[];
}

/**
 * The fields whose rules differ between two targets.
 * @param valuesOf the values that the caller's own field may have; undefined: not known
 */
export function ruleChanges(
  before: Target,
  after: Target,
  valuesOf: (path: string) => readonly unknown[] | undefined,
): RuleChanges {
  const [old, now] = [rulesOf(before), rulesOf(after)];
  const certain: SentChange[] = [];
  const unsure: string[] = [];
  for (const path of new Set([...old.keys(), ...now.keys()])) {
    const [one, other] = [old.get(path), now.get(path)];
    // The name of a target has its model.
    if (path === 'model' || isDeepStrictEqual(one, other)) continue;
    const results = (valuesOf(path) ?? [UNKNOWN]).map((own) => [sentOf(one, own), sentOf(other, own)] as const);
    const [first] = results;
    const isSure = results.every(
      ([was, is]) => was !== UNKNOWN && is !== UNKNOWN && isDeepStrictEqual([was, is], first),
    );
    if (!first || !isSure) unsure.push(path);
    else if (!isDeepStrictEqual(first[0], first[1]))
      certain.push({
        path,
        ...(first[0] !== undefined && { before: first[0] }),
        ...(first[1] !== undefined && { after: first[1] }),
      });
  }
  return { certain, unsure };
}

const UNKNOWN = Symbol('the value of the caller');

function rulesOf({ overrideLevels, defaultParams, dropParams }: Target): ReadonlyMap<string, Rule> {
  const rules = new Map<string, Rule>();
  for (const [name, value] of Object.entries(defaultParams ?? {})) rules.set(name, { how: 'default', value });
  for (const level of overrideLevels)
    for (const [name, value] of Object.entries(level))
      rules.set(name, value === null ? { how: 'removed' } : { how: 'set', value: merged(rules.get(name), value) });
  for (const path of dropParams) rules.set(path.join('.'), { how: 'removed' });
  return rules;
}

const merged = (before: Rule | undefined, value: unknown): unknown =>
  before?.how === 'set' && isObject(before.value) && isObject(value) ? { ...before.value, ...value } : value;

/** An object that settings set is merged into the caller's. */
function sentOf(rule: Rule | undefined, own: unknown): unknown {
  if (rule?.how === 'removed') return undefined;
  if (rule?.how === 'set') return isObject(rule.value) && own !== undefined ? UNKNOWN : rule.value;
  if (rule && own === undefined) return rule.value;
  return own;
}

/** Settings beside parameters that may change a sent body, or refuse it, by what is in it. */
export function otherRules(seen: Observation, { attempt, resolved }: SeenAttempt): ReadonlyMap<string, unknown> {
  const { target } = attempt;
  const { config, caller } = seen.exchange;
  const { server, catalog } = seen.settings;
  const entry = catalog.providers.find(({ slug }) => slug === listedSlug(resolved));
  const ofEntry = Object.entries(entry ?? {}).filter(([name]) => !ELSEWHERE.has(name));
  const ofServer = Object.entries(server).filter(([name]) => OF_SERVER.has(name));
  return new Map<string, unknown>([
    ['default_max_tokens', target.defaultMaxTokens],
    ['strict_open_ai_compliance', target.strict],
    ['on_unreadable_part', target.onUnreadablePart],
    ['remote_media', target.remoteMedia],
    ['plugins', [target.chain?.id, config?.chain?.id]],
    ['guards', [target.guards, config?.guards, caller?.guards]],
    ['fields of the key', caller?.fields],
    ...ofEntry.map(([name, value]) => [`${name} of @${entry?.slug}`, value] as const),
    ...ofServer.map(([name, value]) => [`${name} of server.yaml`, value] as const),
  ]);
}

/** Settings of a catalog entry that change no body: what they change shows in the address, or nowhere. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  'slug',
  'provider',
  'models',
  'api_key',
  'secret_headers',
  'service_account',
  'credentials',
  'credentials_json',
  'base_url',
  'region',
  'project_id',
  'connections',
  'timeouts',
  'limits',
  'headers',
  'allow_insecure',
]);
const OF_SERVER: ReadonlySet<string> = new Set(['guards', 'chains', 'plugins']);

export const differing = (
  before: ReadonlyMap<string, unknown>,
  after: ReadonlyMap<string, unknown>,
): readonly string[] =>
  [...new Set([...before.keys(), ...after.keys()])].filter(
    (name) => JSON.stringify(before.get(name)) !== JSON.stringify(after.get(name)),
  );
