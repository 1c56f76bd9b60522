import type { BudgetObject, KeyObject, ApiSchemas } from '../../api/shapes.ts';

export type TeamObject = ApiSchemas['team'];
type OrganizationObject = ApiSchemas['organization'];

/** An organization, a team or a key, and what is below it. */
export interface KeyNode {
  readonly kind: 'organization' | 'team' | 'key';
  readonly id: string;
  readonly owner: string;
  readonly depth: number;
  readonly state: string | undefined;
  readonly lastUsed: string | undefined;
  readonly budgets: readonly BudgetObject[];
}

interface Objects {
  readonly organizations: readonly OrganizationObject[];
  readonly teams: readonly TeamObject[];
  readonly keys: readonly KeyObject[];
  readonly budgets: readonly BudgetObject[];
}

/** Rows in the order of a tree: organization, its teams, their keys; at the end what belongs to none. */
export function treeOf({ organizations, teams, keys, budgets }: Objects): readonly KeyNode[] {
  const ofNode = Map.groupBy(budgets, ({ node }) => node);
  const teamOf = new Map(teams.map((team) => [team.id, team]));
  const keysOf = Map.groupBy(keys, ({ spec }) => (spec.team !== undefined && teamOf.has(spec.team) ? spec.team : ''));
  const named = new Set(organizations.map(({ id }) => id));
  const teamsOf = Map.groupBy(teams, ({ spec }) => {
    const { organization } = spec;
    return organization !== undefined && named.has(organization) ? organization : '';
  });
  const node = (kind: KeyNode['kind'], id: string, owner: string, depth: number): KeyNode => ({
    kind,
    id,
    owner,
    depth,
    state: undefined,
    lastUsed: undefined,
    budgets: ofNode.get(`${kind}:${id}`) ?? [],
  });
  const keyNodes = (list: readonly KeyObject[] = [], depth: number): KeyNode[] =>
    list.map(({ id, owner, state, last_used: used }) => ({
      ...node('key', id, owner, depth),
      state,
      lastUsed: used?.at,
    }));
  const teamNodes = (list: readonly TeamObject[] = [], depth: number): KeyNode[] =>
    list.flatMap(({ id, owner }) => [node('team', id, owner, depth), ...keyNodes(keysOf.get(id), depth + 1)]);
  return [
    ...organizations.flatMap(({ id, owner }) => [node('organization', id, owner, 0), ...teamNodes(teamsOf.get(id), 1)]),
    ...teamNodes(teamsOf.get(''), 0),
    ...keyNodes(keysOf.get(''), 0),
  ];
}

/** The nodes that have the words, and those above them. */
export function filterTree(nodes: readonly KeyNode[], words: string): readonly KeyNode[] {
  if (words === '') return nodes;
  const kept = new Set<number>();
  nodes.forEach(({ id }, index) => {
    if (!id.toLowerCase().includes(words.toLowerCase())) return;
    kept.add(index);
    let depth = nodes[index]?.depth ?? 0;
    for (let above = index - 1; above >= 0 && depth > 0; above -= 1) {
      const one = nodes[above];
      if (!one || one.depth >= depth) continue;
      kept.add(above);
      ({ depth } = one);
    }
  });
  return nodes.filter((_, index) => kept.has(index));
}

export const isInFile = (owner: string): boolean => owner !== 'store';

/** The text of a limit in a sentence of its own. */
export function limitText(spec: unknown): string {
  if (Array.isArray(spec)) return spec.map(String).join(', ');
  if (typeof spec !== 'object' || spec === null) return String(spec);
  return Object.entries(spec)
    .map(
      ([name, value]) =>
        `${name.replaceAll('_', ' ')} ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`,
    )
    .join(', ');
}

export const PERIODS = ['month', 'week', 'day', 'hour', 'total'] as const;

/** Lines of a team or a key in a file. */
export const budgetLines = (cap: string, period: string): string =>
  `budgets:\n  - cap: ${/^[\w ,.]+$/.test(cap) ? cap : JSON.stringify(cap)}\n    period: ${period}`;

/** Lines that use a new key, with the key itself where it is shown for the only time. */
export const usesOf = (url: string, key: string): readonly { readonly name: string; readonly text: string }[] => [
  { name: 'curl', text: `curl ${url}/v1/models -H 'x-gateway-api-key: ${key}'` },
  {
    name: 'Python',
    text: `from openai import OpenAI\n\nclient = OpenAI(base_url="${url}/v1", api_key="${key}")`,
  },
  {
    name: 'TypeScript',
    text: `import OpenAI from 'openai';\n\nconst client = new OpenAI({ baseURL: '${url}/v1', apiKey: '${key}' });`,
  },
];

export const list = (text: string): readonly string[] => text.split(/[\s,]+/).filter(Boolean);
