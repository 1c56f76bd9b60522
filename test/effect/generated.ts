import type { TestSettings } from '../support/gateway.ts';

/** Random settings, changes of them, and requests that meet their conditions. */

const KEYS = ['alpha', 'beta'] as const;
export const keyText = (id: string): string => `gatehouse-effect-key-of-${id}`;

/** Of the scripted upstream: `down-…` answers 503, `busy-…` 429, `strict-…` 400, all others 200. */
const MODELS = ['good-1', 'good-2', 'good-3', 'down-1', 'busy-1', 'strict-1'];
const PLACES = ['a', 'b', 'c'];

/** As a random source with the few words that the generator needs. */
export class Dice {
  readonly #next: () => number;
  constructor(seed: number) {
    let state = seed >>> 0;
    // mulberry32
    this.#next = () => {
      state = (state + 0x6d2b79f5) >>> 0;
      let t = state;
      t = Math.imul(t ^ (t >>> 15), t | 1);
      t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
      return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
    };
  }

  below(count: number): number {
    return Math.floor(this.#next() * count);
  }

  one<T>(of: readonly T[]): T {
    return of[this.below(of.length)]!;
  }

  chance(percent: number): boolean {
    return this.below(100) < percent;
  }
}

type Json = Readonly<Record<string, unknown>>;

function query(dice: Dice): Json {
  const made: readonly (() => Json)[] = [
    () => ({ 'metadata.tier': dice.one(['free', 'paid', 'team']) }),
    () => ({ 'metadata.tier': { $in: [dice.one(['free', 'paid']), 'team'] } }),
    () => ({ 'metadata.region': { $exists: dice.chance(50) } }),
    () => ({ 'params.max_tokens': { $gt: dice.one([10, 50, 200]) } }),
    () => ({ 'params.temperature': dice.one([0, 0.5, 1]) }),
    () => ({ 'params.stream': dice.chance(50) }),
    () => ({ model: { $regex: dice.one(['^@a', 'good', 'fast', '2$']) } }),
    () => ({ 'headers.x-team': dice.one(['search', 'ads']) }),
    () => ({ 'params.user': { $regex: dice.one(['^u1', '2$']) } }),
    () => ({ 'params.messages.0.content': { $regex: dice.one(['request 1', '7$']) } }),
  ];
  if (dice.chance(20)) return { [dice.one(['$and', '$or'])]: [dice.one(made)(), dice.one(made)()] };
  return dice.chance(10) ? { $not: dice.one(made)() } : dice.one(made)();
}

const params = (dice: Dice): Json => ({
  ...(dice.chance(30) && { override_params: { [dice.one(['max_tokens', 'seed', 'user'])]: dice.one([5, 50]) } }),
  ...(dice.chance(20) && { default_params: { temperature: dice.one([0, 1]) } }),
  ...(dice.chance(10) && { drop_params: [dice.one(['temperature', 'seed'])] }),
});

const target = (dice: Dice): Json => {
  const { override_params: others, ...more } = params(dice);
  // `user` is a text.
  const overrides = Object.fromEntries(
    Object.entries(others ?? {}).map(([name, value]) => [name, name === 'user' ? `set-${String(value)}` : value]),
  );
  return { provider: `@${dice.one(PLACES)}`, override_params: { ...overrides, model: dice.one(MODELS) }, ...more };
};

function group(dice: Dice, depth: number): Json {
  const count = 2 + dice.below(2);
  const members = Array.from({ length: count }, (_, index) => ({
    ...(depth > 0 && dice.chance(35) ? group(dice, depth - 1) : target(dice)),
    name: `t${index}`,
  }));
  const mode = dice.one(['fallback', 'loadbalance', 'conditional', 'conditional']);
  if (mode === 'conditional')
    return {
      strategy: {
        mode,
        conditions: Array.from({ length: 1 + dice.below(2) }, () => ({
          query: query(dice),
          // oxlint-disable-next-line unicorn/no-thenable -- conditions have this key
          then: `t${dice.below(count)}`,
        })),
        default: `t${dice.below(count)}`,
      },
      targets: members,
    };
  if (mode === 'loadbalance')
    return { strategy: { mode }, targets: members.map((one) => ({ ...one, weight: dice.one([1, 1, 3, 9]) })) };
  const rules = dice.chance(40) ? { on_errors: [dice.one(['rate_limit', 'default', 'overloaded'])] } : {};
  return { strategy: { mode, ...rules }, targets: members };
}

interface Generated {
  readonly catalog: { readonly providers: readonly Json[]; readonly aliases: Json };
  readonly keys: { readonly keys: readonly Json[] };
  readonly gateway: Readonly<Record<string, Json>>;
}

const entry = (slug: string, url: string, more: Json = {}): Json => ({
  slug,
  provider: 'openai',
  base_url: `${url}/${slug}/v1`,
  api_key: 'upstream-key-of-the-test',
  allow_insecure: true,
  ...more,
});

const keyEntry = (id: string, more: Json): Json => ({ id, key: keyText(id), ...more });

export function settingsOf(dice: Dice, url: string): Generated {
  return {
    catalog: {
      providers: PLACES.map((slug) => entry(slug, url)),
      aliases: { fast: { target: `@${dice.one(PLACES)}/good-1` }, route: { config: 'one' } },
    },
    keys: {
      keys: [
        keyEntry('alpha', { default_config: 'one', metadata: { region: dice.one(['eu', 'us']) } }),
        keyEntry('beta', dice.chance(50) ? { default_config: 'two' } : {}),
      ],
    },
    gateway: { one: group(dice, 2), two: group(dice, 1) },
  };
}

/** The same settings after a change of one thing, as an operator makes it. */
export function changeOf(before: Generated, dice: Dice, url: string): Generated {
  const changes: readonly (() => Generated)[] = [
    () => ({ ...before, gateway: { ...before.gateway, one: changedNode(before.gateway['one']!, dice) } }),
    () => ({ ...before, gateway: { ...before.gateway, one: changedNode(before.gateway['one']!, dice) } }),
    () => ({ ...before, gateway: { ...before.gateway, one: changedNode(before.gateway['one']!, dice) } }),
    () => ({ ...before, gateway: { ...before.gateway, two: changedNode(before.gateway['two']!, dice) } }),
    () => ({ ...before, gateway: { ...before.gateway, two: group(dice, 1) } }),
    () => ({
      ...before,
      catalog: {
        ...before.catalog,
        aliases: { ...before.catalog.aliases, fast: { target: `@${dice.one(PLACES)}/good-2` } },
      },
    }),
    () => ({
      ...before,
      keys: {
        keys: [
          keyEntry('alpha', {
            default_config: dice.one(['one', 'two']),
            ...(dice.chance(50) && { metadata: { tier: 'team' } }),
          }),
          keyEntry('beta', { default_config: 'two', ...(dice.chance(50) && { models: ['@a/*', 'fast'] }) }),
        ],
      },
    }),
    () => ({
      ...before,
      catalog: {
        ...before.catalog,
        providers: PLACES.map((slug) => entry(slug, url, slug === 'b' ? { fields: { deny: ['seed'] } } : {})),
      },
    }),
  ];
  return dice.one(changes)();
}

type Node = Json & { readonly targets?: readonly Json[]; readonly strategy?: Json };

function changedNode(node: Node, dice: Dice): Json {
  const { targets, strategy } = node;
  if (!targets || !strategy)
    return { ...target(dice), ...(node['name'] !== undefined && { name: node['name'] }), ...weightOf(node) };
  const at = dice.below(targets.length);
  const made: readonly (() => Json)[] = [
    () => ({ ...node, targets: targets.map((one, index) => (index === at ? changedNode(one, dice) : one)) }),
    () => ({ ...node, targets: targets.map((one, index) => (index === at ? changedNode(one, dice) : one)) }),
    () => ({ ...node, ...params(dice), name: node['name'] ?? 'changed' }),
    () => {
      const conditions = strategy['conditions'];
      if (!Array.isArray(conditions))
        return strategy['mode'] === 'loadbalance'
          ? {
              ...node,
              targets: targets.map((one, index) => (index === at ? { ...one, weight: dice.one([0, 2, 20]) } : one)),
            }
          : { ...node, targets: targets.toReversed() };
      // oxlint-disable-next-line unicorn/no-thenable -- a key of the settings
      const added = { query: query(dice), then: String(targets[at]?.['name']) };
      return { ...node, strategy: { ...strategy, conditions: dice.chance(50) ? [added, ...conditions] : [added] } };
    },
  ];
  return dice.one(made)();
}

const weightOf = (node: Json): Json => (node['weight'] === undefined ? {} : { weight: node['weight'] });

export const asTestSettings = ({ catalog, keys, gateway }: Generated): TestSettings => ({ catalog, keys, gateway });

export interface GeneratedRequest {
  readonly id: string;
  readonly key: string;
  readonly path: '/v1/chat/completions';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Json;
  /** All load balances of the request draw it. */
  readonly draw: number;
}

/** Requests that share a draw come one after the other. */
export function requestsOf(dice: Dice, count: number): readonly GeneratedRequest[] {
  return Array.from({ length: count }, (_, index): GeneratedRequest => {
    const key = dice.one(KEYS);
    const tier = dice.one([undefined, 'free', 'paid', 'team']);
    const region = dice.one([undefined, undefined, 'eu', 'apac']);
    const metadata = { ...(tier !== undefined && { tier }), ...(region !== undefined && { region }) };
    const config = dice.one([undefined, undefined, 'one', 'two']);
    return {
      id: `request-${index}`,
      key,
      path: '/v1/chat/completions',
      headers: {
        ...(Object.keys(metadata).length > 0 && { 'x-gateway-metadata': JSON.stringify(metadata) }),
        ...(config !== undefined && { 'x-gateway-config': config }),
        ...(dice.chance(30) && { 'x-team': dice.one(['search', 'ads']) }),
      },
      body: {
        model: dice.one(['good-1', '@a/good-2', '@b/good-3', 'fast', 'route', '@c/down-1']),
        messages: [{ role: 'user', content: `request ${index}` }],
        ...(dice.chance(50) && { max_tokens: dice.one([5, 20, 100, 500]) }),
        ...(dice.chance(40) && { temperature: dice.one([0, 0.5, 1]) }),
        ...(dice.chance(30) && { user: dice.one(['u1', 'u2', 'v12']) }),
        ...(dice.chance(15) && { stream: true }),
      },
      draw: Math.floor((index / count) * 16) / 16 + 1 / 64,
    };
  });
}
