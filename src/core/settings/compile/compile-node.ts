import type { GatewayKey, Organization, Team } from '../../../../schemas/types.generated.ts';
import type { StoredBudget, StoredLimits } from '../source/stored-objects.ts';
import type { TreeNode } from '../../tenants/tree.ts';

export type NodeFile = GatewayKey | Organization | Team;

/** The budgets and limits of the store that are of one node, by id. */
export interface Attached {
  readonly budgets: ReadonlyMap<string, StoredBudget>;
  readonly limits: ReadonlyMap<string, StoredLimits>;
}

export interface NodeSources {
  /** The node as a file or the store has it. */
  readonly file: NodeFile;
  readonly attached: Attached | undefined;
  /** Time zone of budgets that name none. */
  readonly timeZone: string;
  /** Names the node in a problem: `its team "search"`. */
  readonly what: string;
}

/**
 * A node with its budgets and limits. What cannot be counted as it is written is a problem of the node: its keys are refused, because they
 * would spend without a bound.
 */
export type CompileNode = (
  place: Pick<TreeNode, 'kind' | 'id' | 'ref'>,
  sources: NodeSources,
) => { readonly node: TreeNode; readonly problem: string | undefined };

let compile: CompileNode = (place) => ({ node: { ...place, budgets: [], limits: undefined }, problem: undefined });

/** Without an add-on for budgets and limits, no node has any. */
export const compileNode: CompileNode = (place, sources) => compile(place, sources);

/** Called while the add-on that counts is registered. */
export const setCompileNode = (own: CompileNode): void => void (compile = own);
