import type { Budget } from '../../../../schemas/types.generated.ts';
import { parseCap } from '../../../addons/budgets/limits/amounts.ts';
import type { NodeKind, TreeNode } from '../../tenants/tree.ts';
import type { StoredBudget, StoredLimits } from '../source/stored-objects.ts';
import { compileNode, countedBy, type NodeFile } from './teams.ts';

/** The budgets and limits of the store that are of one node, by id. */
export interface Attached {
  readonly budgets: ReadonlyMap<string, StoredBudget>;
  readonly limits: ReadonlyMap<string, StoredLimits>;
}

const NONE: Attached = { budgets: new Map(), limits: new Map() };

/** The stored budgets and limits of a node after one of them has come or gone; undefined: none are left. */
export function attachedTo(
  before: Attached = NONE,
  object: StoredBudget | StoredLimits,
  isThere: boolean,
): Attached | undefined {
  const { budgets, limits } = before;
  const after =
    object.kind === 'budgets'
      ? { budgets: changed(budgets, object, isThere), limits }
      : { budgets, limits: changed(limits, object, isThere) };
  return after.budgets.size + after.limits.size === 0 ? undefined : after;
}

function changed<Value extends { readonly id: string }>(
  before: ReadonlyMap<string, Value>,
  object: Value,
  isThere: boolean,
): ReadonlyMap<string, Value> {
  const after = new Map(before);
  after.delete(object.id);
  if (isThere) after.set(object.id, object);
  // In one order, whatever was written first.
  return new Map([...after].toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

interface Owned<File> {
  readonly ref: string;
  /** The node as a settings file has it. */
  readonly file: File | undefined;
  readonly stored: { readonly value: File; readonly problem?: string | undefined } | undefined;
  readonly attached: Attached | undefined;
  readonly timeZone: string;
}

/**
 * A node of whichever owner has it, with the store's budgets and limits for it. What cannot be counted as it is written is a problem of
 * the node: its keys are refused, because they would spend without a bound. Undefined: no owner has it.
 */
export function compileOwned<File extends NodeFile>({
  ref,
  file: ofFile,
  stored,
  attached,
  timeZone,
}: Owned<File>): { readonly file: File; readonly node: TreeNode; readonly problem: string | undefined } | undefined {
  const file = ofFile ?? stored?.value;
  if (!file) return undefined;
  const [kind, id] = ref.split(/:(.*)/) as [NodeKind, string];
  const what = kind === 'key' ? 'it' : `its ${kind} "${id}"`;
  const twin = ofFile && stored ? `${what} is in a file and in the state store` : undefined;
  const invalid =
    stored?.problem === undefined ? undefined : `${what} is not valid in the state store (${stored.problem})`;
  try {
    const { budgets, problem } = budgetsOf(file, attached);
    const limits = limitsOf(file, attached);
    const node = compileNode(kind, id, { budgets, ...(limits.limits && { limits: limits.limits }) }, timeZone);
    return { file, node, problem: twin ?? invalid ?? problem ?? limits.problem };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return {
      file,
      node: compileNode(kind, id, {}),
      problem: `${what} has an amount that cannot be read: ${error.message}`,
    };
  }
}

interface Counted {
  readonly budgets: readonly Budget[];
  readonly problem: string | undefined;
}

function budgetsOf({ budgets = [] }: NodeFile, attached: Attached | undefined): Counted {
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
