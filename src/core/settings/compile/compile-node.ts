import type { GatewayKey, Organization, Team } from '../../../../schemas/types.generated.ts';
import type { StoredBudget, StoredLimits } from '../source/stored-objects.ts';
import type { TreeNode, NodeKind } from '../../tenants/tree.ts';

export type NodeFile = GatewayKey | Organization | Team;

/** The budgets and limits of the store that are of one node, by id. */
export interface Attached {
  readonly budgets: ReadonlyMap<string, StoredBudget>;
  readonly limits: ReadonlyMap<string, StoredLimits>;
}

interface NodeSources {
  readonly file: NodeFile;
  readonly attached: Attached | undefined;
  /** Time zone of budgets that name none. */
  readonly timeZone: string;
  /** Names the node in a problem: `its team "search"`. */
  readonly what: string;
}

/** A node with its budgets and limits. With a `problem` its keys are refused: they would spend without a bound. */
export type CompileNode = (
  place: Pick<TreeNode, 'kind' | 'id' | 'ref'>,
  sources: NodeSources,
) => { readonly node: TreeNode; readonly problem: string | undefined };

let compile: CompileNode = (place) => ({ node: { ...place, budgets: [], limits: undefined }, problem: undefined });

/** Without an add-on for budgets and limits, no node has any. */
export const compileNode: CompileNode = (place, sources) => compile(place, sources);

/** Called while the add-on that counts is registered. */
export const setCompileNode = (own: CompileNode): void => void (compile = own);

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
  readonly file: File | undefined;
  readonly stored: { readonly value: File; readonly problem?: string | undefined } | undefined;
  readonly attached: Attached | undefined;
  readonly timeZone: string;
}

/** A node of whichever owner has it, with the store's budgets and limits for it. Undefined: no owner has it. */
export function compileOwned<File extends NodeFile>(
  owned: Owned<File>,
): { readonly file: File; readonly node: TreeNode; readonly problem: string | undefined } | undefined {
  const { ref, stored, attached, timeZone } = owned;
  const file = owned.file ?? stored?.value;
  if (!file) return undefined;
  const [kind, id] = ref.split(/:(.*)/) as [NodeKind, string];
  const what = kind === 'key' ? 'it' : `its ${kind} "${id}"`;
  const twin = owned.file && stored ? `${what} is in a file and in the state store` : undefined;
  const invalid =
    stored?.problem === undefined ? undefined : `${what} is not valid in the state store (${stored.problem})`;
  const { node, problem } = compileNode({ kind, id, ref }, { file, attached, timeZone, what });
  return { file, node, problem: twin ?? invalid ?? problem };
}
