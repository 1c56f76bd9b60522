import { memberOf, nodeAt, type YamlNode } from './yaml-tree.ts';

/** A node of the route of a gateway config: a target, or a group of them. */
export interface RouteNode {
  /** As records name it: `config.targets[0]`. */
  readonly place: string;
  readonly at: number;
  readonly name: string | undefined;
  /** Where it sends: entry and model. Undefined: a group. */
  readonly to: string | undefined;
  readonly mode: string | undefined;
  /** The share of the weights beside it, such as `30 %`. */
  readonly share: string | undefined;
  readonly conditions: readonly RouteCondition[];
  readonly inner: readonly RouteNode[];
}

export interface RouteCondition {
  readonly at: number;
  /** `metadata.tier is gold`; `otherwise`. */
  readonly text: string;
  readonly target: string;
}

const MAX_DEPTH = 20;

/** The route that a text draws, as far as it can be read. `left`: targets beyond the first `most`. */
export function routeOf(
  root: YamlNode | undefined,
  most = Infinity,
): { readonly node: RouteNode; readonly left: number } | undefined {
  if (root?.kind !== 'map' || root.entries.length === 0) return undefined;
  const room = { left: most };
  const node = readNode(root, { place: 'config', share: undefined, depth: 0 }, room);
  return { node, left: Math.max(0, -room.left) };
}

/** @param room how many targets more may be read; below 0: so many were not */
function readNode(
  node: YamlNode,
  { place, share, depth }: { readonly place: string; readonly share: string | undefined; readonly depth: number },
  room: { left: number },
): RouteNode {
  const strategy = nodeAt(node, ['strategy']);
  const mode = memberOf(strategy, 'mode') ?? (strategy?.kind === 'scalar' ? strategy.text : undefined);
  const targets = nodeAt(node, ['targets']);
  const items = targets?.kind === 'seq' && depth < MAX_DEPTH ? targets.items : [];
  const shares = mode === 'loadbalance' ? sharesOf(items) : [];
  const provider = memberOf(node, 'provider');
  const model = ['override_params', 'default_params']
    .map((name) => memberOf(nodeAt(node, [name]), 'model'))
    .find(Boolean);
  return {
    place,
    at: node.from,
    name: memberOf(node, 'name'),
    to: items.length > 0 ? undefined : [provider, model].filter(Boolean).join('/') || 'the model of the request',
    mode: items.length > 0 ? (mode ?? 'single') : undefined,
    share,
    conditions: conditionsOf(strategy),
    inner: items.flatMap((one, index) => {
      room.left -= 1;
      return room.left < 0
        ? []
        : [readNode(one, { place: `${place}.targets[${index}]`, share: shares[index], depth: depth + 1 }, room)];
    }),
  };
}

function sharesOf(items: readonly YamlNode[]): readonly string[] {
  const weights = items.map((one) => Number(memberOf(one, 'weight') ?? 1));
  const sum = weights.reduce((all, one) => all + one, 0);
  return weights.map((one) => (sum > 0 ? `${Math.round((one / sum) * 1000) / 10} %` : 'unknown'));
}

function conditionsOf(strategy: YamlNode | undefined): readonly RouteCondition[] {
  const listed = nodeAt(strategy, ['conditions']);
  const conditions = (listed?.kind === 'seq' ? listed.items : []).map((one) => ({
    at: one.from,
    text: queryText(nodeAt(one, ['query'])),
    target: memberOf(one, 'then') ?? '?',
  }));
  const otherwise = strategy?.kind === 'map' ? strategy.entries.find(({ key }) => key === 'default') : undefined;
  const target = memberOf(strategy, 'default');
  return otherwise && target !== undefined
    ? [...conditions, { at: otherwise.from, text: 'otherwise', target }]
    : conditions;
}

const WORDS: Readonly<Record<string, string>> = {
  $eq: 'is',
  $ne: 'is not',
  $in: 'is one of',
  $nin: 'is none of',
  $regex: 'matches',
  $gt: '>',
  $gte: '≥',
  $lt: '<',
  $lte: '≤',
};

/** A query as a sentence; operators without a word stay as they are. */
function queryText(query: YamlNode | undefined, depth = 0): string {
  if (query?.kind === 'scalar') return query.text;
  if (query?.kind === 'seq') return query.items.map((one) => queryText(one, depth + 1)).join(', ');
  if (!query || depth > MAX_DEPTH) return '?';
  return query.entries
    .map(({ key, value }) => {
      if (key === '$and' || key === '$or') {
        const parts = value?.kind === 'seq' ? value.items.map((one) => queryText(one, depth + 1)) : [];
        return parts.length > 1 ? `(${parts.join(key === '$and' ? ' and ' : ' or ')})` : parts.join('');
      }
      const word = WORDS[key] ?? key;
      const rest = queryText(value, depth + 1);
      return value?.kind === 'map' || key.startsWith('$') ? `${word} ${rest}` : `${key} is ${rest}`;
    })
    .join(' and ');
}
