import type { Budget as BudgetFile } from '../../../../schemas/types.generated.ts';
import type { Budget, NodeKind } from '../../../core/tenants/tree.ts';
import { compileNode } from '../../budgets/settings/compile-node.ts';
import type { OwnedObject } from './objects.ts';
import { NOUNS, type ObjectKind } from './routes.ts';

const NODE_KINDS = ['organizations', 'teams', 'keys'] as const;
type NodeObjectKind = (typeof NODE_KINDS)[number];

/** `team:search` names `teams/search`. */
export function nodeOf(ref: unknown): { readonly kind: NodeObjectKind; readonly id: string } {
  const [noun = '', id = ''] = typeof ref === 'string' ? ref.split(':') : [];
  return { kind: NODE_KINDS.find((kind) => NOUNS[kind] === noun) ?? 'teams', id };
}

export interface BudgetInObject {
  /** Undefined: the object itself is the budget. */
  readonly partId: string | undefined;
  readonly spec: BudgetFile;
  /** Where it is counted. */
  readonly compiled: Budget;
}

type SpecOwner = Pick<OwnedObject, 'kind' | 'id' | 'spec'>;

/** The budgets of an object: those inside of an organization, a team or a key, or a budget itself. */
export function budgetsIn({ kind, id, spec }: SpecOwner): readonly BudgetInObject[] {
  // The objects of files and of the store are valid by the schema of these types.
  if (kind === 'budgets') {
    const { node, ...budget } = spec;
    const of = nodeOf(node);
    const own = budget as unknown as BudgetFile;
    return compiledOf(of.kind, of.id, [own]).map((compiled) => ({ partId: undefined, spec: own, compiled }));
  }
  const specs = spec['budgets'];
  if (!Array.isArray(specs) || !isNode(kind)) return [];
  const budgets = specs as BudgetFile[];
  return compiledOf(kind, id, budgets).map((compiled, index) => ({
    partId: compiled.name,
    spec: budgets[index]!,
    compiled,
  }));
}

const isNode = (kind: ObjectKind): kind is NodeObjectKind => NODE_KINDS.some((one) => one === kind);

/** A document of the store that this API has not written may have a cap that cannot be read: it counts nothing. */
function compiledOf(kind: NodeObjectKind, id: string, budgets: BudgetFile[]): readonly Budget[] {
  try {
    return compileNode(NOUNS[kind] satisfies NodeKind, id, { budgets }).budgets;
  } catch (error) {
    if (error instanceof RangeError) return [];
    throw error;
  }
}
