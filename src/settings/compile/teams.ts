import type {
  Budget as BudgetFile,
  GatewayKey,
  KeysFile,
  ModelRateLimits,
  RateLimits,
  TeamsFile,
} from '../../../schemas/types.generated.ts';
import { parseCap, parseRate, type Cap } from '../../governance/amounts.ts';
import {
  NodeTree,
  type Budget,
  type Limits,
  type NodeKind,
  type NodeLimits,
  type TreeNode,
} from '../../governance/tree.ts';

const DEFAULT_ALERTS: readonly number[] = [50, 80, 100];
export const DEFAULT_ZONE = 'UTC';

/** The tree of the keys of keys.yaml and the teams and organizations of teams.yaml. */
export function compileTree({ organizations = {}, teams = {} }: TeamsFile, { keys }: KeysFile): NodeTree {
  const ofOrganizations = new Map(
    Object.entries(organizations).map(([id, file]) => [id, compileNode('organization', id, file)]),
  );
  const ofTeams = new Map(Object.entries(teams).map(([id, file]) => [id, compileNode('team', id, file)]));
  const pathOf = (key: GatewayKey): readonly TreeNode[] => {
    const team = key.team === undefined ? undefined : ofTeams.get(key.team);
    const organization = key.team === undefined ? undefined : teams[key.team]?.organization;
    const above = [organization === undefined ? undefined : ofOrganizations.get(organization), team];
    return [...above.filter((node) => node !== undefined), compileNode('key', key.id, key)];
  };
  return new NodeTree(
    keys.map((key) => ({ keyId: key.id, path: pathOf(key) })),
    [...ofOrganizations.values(), ...ofTeams.values()],
  );
}

interface NodeFile {
  readonly budgets?: readonly BudgetFile[];
  readonly limits?: RateLimits;
}

export function compileNode(kind: NodeKind, id: string, { budgets = [], limits }: NodeFile): TreeNode {
  const compiled: Budget[] = [];
  const node = { kind, id, ref: `${kind}:${id}`, budgets: compiled, limits: limits && compileNodeLimits(limits) };
  compiled.push(...budgets.map((budget) => compileBudget(node, budget)));
  return node;
}

function compileBudget(node: TreeNode, file: BudgetFile): Budget {
  const cap = parseCap(file.cap);
  return {
    ...cap,
    id: `${node.ref} ${countedBy(file, cap)}`,
    node,
    period: file.period,
    timeZone: file.time_zone ?? DEFAULT_ZONE,
    dayOfMonth: file.day_of_month ?? 1,
    hard: file.on_exceeded !== 'warn',
    alerts: (file.alerts ?? DEFAULT_ALERTS).toSorted((a, b) => a - b),
    models: file.models,
  };
}

/** What a budget counts, besides its node: `month usd gpt-5*,o3`. A node has one budget for each. */
export const countedBy = ({ period, models }: BudgetFile, { unit }: Cap): string =>
  [period, unit, ...(models ? [models.toSorted().join(',')] : [])].join(' ');

export const compileNodeLimits = ({ models = {}, ...own }: RateLimits): NodeLimits => ({
  ...compileLimits(own),
  models: Object.entries(models).map(([pattern, limits]) => ({ pattern, limits: compileLimits(limits) })),
});

const compileLimits = ({ requests, tokens, concurrency }: ModelRateLimits): Limits => ({
  ...(requests !== undefined && { requests: parseRate(requests) }),
  ...(tokens !== undefined && { tokens: parseRate(tokens) }),
  ...(concurrency !== undefined && { concurrency }),
});

/** The metadata of the key, its team and its organization; the nearer to the key wins. Undefined: none. */
export function metadataOf(
  { team: id, metadata }: GatewayKey,
  { organizations = {}, teams = {} }: TeamsFile,
): Readonly<Record<string, string>> | undefined {
  const team = id === undefined ? undefined : teams[id];
  const outer = team?.organization === undefined ? undefined : organizations[team.organization]?.metadata;
  if (!outer && !team?.metadata) return metadata;
  return { ...outer, ...team?.metadata, ...metadata };
}
