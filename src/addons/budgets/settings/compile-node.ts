import type { Budget as BudgetFile, ModelRateLimits, RateLimits } from '../../../../schemas/types.generated.ts';
import type { Attached, CompileNode } from '../../../core/settings/compile/compile-node.ts';
import {
  nameOfCounter,
  type Budget,
  type Cap,
  type Limits,
  type NodeKind,
  type NodeLimits,
  type TreeNode,
} from '../../../core/tenants/tree.ts';
import { parseCap, parseRate } from '../../../core/tenants/amounts.ts';
import { comparedName } from '../../../core/catalog/globs.ts';

export const compileNodeOf: CompileNode = ({ kind, id }, { file, attached, timeZone, what }) => {
  try {
    const { budgets, problem } = budgetsOf(file, attached);
    const { limits, problem: ofLimits } = limitsOf(file, attached);
    const node = compileNode(kind, id, { budgets, ...(limits && { limits }) }, timeZone);
    return { node, problem: problem ?? ofLimits };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return {
      node: compileNode(kind, id, {}),
      problem: `${what} has an amount that cannot be read: ${error.message}`,
    };
  }
};

/** Percent of the cap. */
const DEFAULT_ALERTS: readonly number[] = [50, 80, 100];

interface NodeFile {
  readonly budgets?: readonly BudgetFile[];
  readonly limits?: RateLimits;
}

/** @param timeZone of budgets that name none */
export function compileNode(
  kind: NodeKind,
  id: string,
  { budgets = [], limits }: NodeFile,
  timeZone: string = 'UTC',
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

function budgetsOf(
  { budgets = [] }: NodeFile,
  attached: Attached | undefined,
): { readonly budgets: readonly BudgetFile[]; readonly problem: string | undefined } {
  if (!attached || attached.budgets.size === 0) return { budgets, problem: undefined };
  const seen = new Set(budgets.map((budget) => countedBy(budget, parseCap(budget.cap))));
  const all = [...budgets];
  let problem: string | undefined;
  for (const { id, value, problem: own } of attached.budgets.values()) {
    if (own !== undefined) {
      problem ??= `the budget "${id}" is not valid (${own})`;
      continue;
    }
    const { node: _, ...budget } = value;
    const counted = countedBy(budget, parseCap(budget.cap));
    if (seen.has(counted)) problem ??= `the budget "${id}" counts what another one of ${value.node} counts`;
    else all.push(budget);
    seen.add(counted);
  }
  return { budgets: all, problem };
}

function limitsOf(
  { limits }: NodeFile,
  attached: Attached | undefined,
): { readonly limits: NodeFile['limits']; readonly problem: string | undefined } {
  const [first, ...others] = attached?.limits.values() ?? [];
  if (!first) return { limits, problem: undefined };
  if (first.problem !== undefined)
    return { limits, problem: `the limits "${first.id}" are not valid (${first.problem})` };
  const { node, ...own } = first.value;
  const twin = limits || others.length > 0;
  return { limits: limits ?? own, problem: twin ? `${node} has limits twice, one of them "${first.id}"` : undefined };
}
