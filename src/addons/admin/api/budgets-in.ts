import { compileNode, type NodeFile } from '../../../core/settings/compile/compile-node.ts';
import type { Settings } from '../../../core/settings/read/load.ts';
import { storeSettings } from '../../../core/settings/source/stored-objects.ts';
import type { Budget } from '../../../core/tenants/tree.ts';
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
  readonly spec: object;
  readonly compiled: Budget;
}

/** The budgets of an object: those inside of an organization, a team or a key, or a budget itself. */
export function budgetsIn(
  { kind, id, spec }: Pick<OwnedObject, 'kind' | 'id' | 'spec'>,
  { server }: Pick<Settings, 'server'>,
): readonly BudgetInObject[] {
  const timeZone = storeSettings(server)?.timeZone ?? 'UTC';
  if (kind === 'budgets') {
    const { node, ...own } = spec;
    const of = nodeOf(node);
    return compiledOf({ objects: of.kind, id: of.id, timeZone }, [own]).map((compiled) => ({
      partId: undefined,
      spec: own,
      compiled,
    }));
  }
  const specs = spec['budgets'];
  if (!Array.isArray(specs) || !isNode(kind)) return [];
  const budgets = specs as object[];
  return compiledOf({ objects: kind, id, timeZone }, budgets).map((compiled, index) => ({
    partId: compiled.name,
    spec: budgets[index]!,
    compiled,
  }));
}

const isNode = (kind: ObjectKind): kind is NodeObjectKind => NODE_KINDS.some((one) => one === kind);

/** A document of the store that this API has not written may have a cap that cannot be read: it counts nothing. */
function compiledOf(
  { objects, id, timeZone }: { readonly objects: NodeObjectKind; readonly id: string; readonly timeZone: string },
  budgets: readonly object[],
): readonly Budget[] {
  const kind = NOUNS[objects];
  // The objects of files and of the store are valid by the schema of these types.
  const file = { budgets } as NodeFile;
  const place = { kind, id, ref: `${kind}:${id}` };
  return compileNode(place, { file, attached: undefined, timeZone, what: place.ref }).node.budgets;
}
