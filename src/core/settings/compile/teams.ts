import type {
  Budget as BudgetFile,
  GatewayKey,
  ModelRateLimits,
  RateLimits,
  TeamsFile,
} from '../../../../schemas/types.generated.ts';
import { comparedName } from '../../catalog/model-pattern.ts';
import { parseCap, parseRate, type Cap } from '../../../addons/budgets/limits/amounts.ts';
import {
  nameOfCounter,
  type Budget,
  type Limits,
  type NodeKind,
  type NodeLimits,
  type TreeNode,
} from '../../tenants/tree.ts';

/** Percent of the cap. */
const DEFAULT_ALERTS: readonly number[] = [50, 80, 100];
/** Time zone of budgets where neither they nor `state` name one. */
export const DEFAULT_ZONE = 'UTC';

export interface NodeFile {
  readonly budgets?: readonly BudgetFile[];
  readonly limits?: RateLimits;
}

/** @param timeZone of budgets that name none */
export function compileNode(
  kind: NodeKind,
  id: string,
  { budgets = [], limits }: NodeFile,
  timeZone: string = DEFAULT_ZONE,
): TreeNode {
  const compiled: Budget[] = [];
  const node = { kind, id, ref: `${kind}:${id}`, budgets: compiled, limits: limits && compileNodeLimits(limits) };
  compiled.push(...budgets.map((budget) => compileBudget(node, budget, timeZone)));
  return node;
}

function compileBudget(node: TreeNode, file: BudgetFile, timeZone: string): Budget {
  const cap = parseCap(file.cap);
  const id = `${node.ref} ${countedBy(file, cap)}`;
  return {
    ...cap,
    id,
    name: nameOfCounter(id),
    node,
    period: file.period,
    timeZone: file.time_zone ?? timeZone,
    dayOfMonth: file.day_of_month ?? 1,
    hard: file.on_exceeded !== 'warn',
    alerts: (file.alerts ?? DEFAULT_ALERTS).toSorted((a, b) => a - b),
    models: file.models?.map((pattern) => comparedName(pattern)),
  };
}

/** The count of a budget, besides its node: `month usd gpt-5*,o3`. A node has one budget for each. */
export const countedBy = ({ period, models }: BudgetFile, { unit }: Cap): string =>
  [period, unit, ...(models ? [models.toSorted().join(',')] : [])].join(' ');

/** Limits with rates as numbers. Throws RangeError for a rate that cannot be read. */
export const compileNodeLimits = ({ models = {}, ...own }: RateLimits): NodeLimits => ({
  ...compileLimits(own),
  models: Object.entries(models).map(([pattern, limits]) => ({ pattern, limits: compileLimits(limits) })),
});

const compileLimits = ({ requests, tokens, concurrency }: ModelRateLimits): Limits => ({
  ...(requests !== undefined && { requests: parseRate(requests) }),
  ...(tokens !== undefined && { tokens: parseRate(typeof tokens === 'string' ? tokens : tokens.rate) }),
  ...(typeof tokens === 'object' && tokens.count === 'uncached' && { leavesOutCached: true as const }),
  ...(concurrency !== undefined && { concurrency }),
});

interface NamedOwner {
  readonly id: string;
  readonly metadata: Readonly<Record<string, string>> | undefined;
}

/** The team of a key and its organization, where there are any. */
export interface TeamsOfKey {
  readonly team: NamedOwner | undefined;
  readonly organization: NamedOwner | undefined;
}

export function teamsOfKey({ team: id }: GatewayKey, { organizations = {}, teams = {} }: TeamsFile): TeamsOfKey {
  const team = id === undefined ? undefined : teams[id];
  const outer = team?.organization;
  return {
    team: team && { id: id!, metadata: team.metadata },
    organization: outer === undefined ? undefined : { id: outer, metadata: organizations[outer]?.metadata },
  };
}

/** The metadata of the key, its team and its organization; the nearer to the key wins. Undefined: none. */
export function metadataOf(
  { metadata }: GatewayKey,
  { organization, team }: TeamsOfKey,
): Readonly<Record<string, string>> | undefined {
  if (!organization?.metadata && !team?.metadata) return metadata;
  return { ...organization?.metadata, ...team?.metadata, ...metadata };
}
