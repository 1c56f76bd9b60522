import { parseCap } from '../../../../core/tenants/amounts.ts';
import { partOf } from '../../../../core/process/add-on-parts.ts';
import type { Budget, Span } from '../../../../core/tenants/tree.ts';
import { MAX_NANO, type CounterState } from '../../../../core/ports/counters.ts';
import { StateFailure } from '../../../../core/ports/failures.ts';
import { budgetsIn, nodeOf, type BudgetInObject } from '../budgets-in.ts';
import { actorOf, checkMatch, reasonOf, type CallAnswer, type Call, type Handler } from '../call.ts';
import type { OwnedObject } from '../objects.ts';
import { pageOf } from '../pages.ts';
import { ApiProblem } from '../problems.ts';
import { byOperation } from '../routes.ts';
import { invalidBody } from '../schemas.ts';
import { createObject, deleteObject, patchObject } from './objects.ts';
import { metaOf } from './object-answers.ts';

interface OwnedBudget extends BudgetInObject {
  readonly id: string;
  readonly object: OwnedObject;
}

const budgetsOf = (object: OwnedObject, { settings }: Call): readonly OwnedBudget[] =>
  budgetsIn(object, settings).map((budget) => ({ ...budget, id: budget.partId ?? object.id, object }));

const listBudgets: Handler = async (call) => {
  const { objects, query } = call;
  const node = query.one('node');
  const all = (['organizations', 'teams', 'keys', 'budgets'] as const)
    .flatMap((kind) => objects.list(kind))
    .flatMap((object) => budgetsOf(object, call))
    .filter(({ compiled }) => node === undefined || compiled.node.ref === node)
    .sort((one, other) => (one.id < other.id ? -1 : 1));
  const page = pageOf(all, ({ id }) => id, query);
  return { body: { ...page, items: await show(page.items, call) } };
};

const getBudget: Handler = (call) => answerWith(find(call), call);

/** Changes what a budget has spent, or what is unreconciled, once for each call id. */
export const adjustBudget: Handler = async (call) => {
  const {
    by,
    of = 'spent',
    reason,
  } = call.body as { readonly by: string; readonly of?: 'spent' | 'unreconciled'; readonly reason: string };
  const budget = find(call);
  checkMatch(call, budget.object.etag);
  const { counters } = call.objects.store;
  const amount = readAmount(by, budget.compiled);
  const ref = refOf(budget, call.clock.wall());
  const adjustment = { ...ref, id: call.callId, of, by: amount, why: reasonOf(call, reason) };
  const isOperator = call.identity.role === 'operator';
  const limit = isOperator ? { most: Math.floor(budget.compiled.amount * SMALL_PART), ms: SMALL_MS } : undefined;
  try {
    await counters.adjust({ ...adjustment, limit, dryRun: call.query.dryRun }, actorOf(call));
  } catch (error) {
    if (!(error instanceof StateFailure) || error.code !== 'not_allowed') throw error;
    throw new ApiProblem('forbidden', 'An operator may change at most 10 % of the cap within 24 hours.');
  }
  return answerWith(budget, call);
};

function find(call: Call): OwnedBudget {
  const { objects, id } = call;
  const { kind, id: node } = nodeOf(id);
  // A name is that of a budget in a node, or of one in an object of its own.
  const all = id.includes(':') ? [objects.find(kind, node), ...objects.list('budgets')] : [objects.find('budgets', id)];
  const budget = all
    .flatMap((object) => (object ? budgetsOf(object, call) : []))
    .find((one) => one.id === id || one.compiled.name === id);
  if (!budget) throw new ApiProblem('not_found', 'There is no budget with this id.');
  return budget;
}

async function answerOwn(object: OwnedObject, call: Call): Promise<CallAnswer> {
  const [budget] = budgetsOf(object, call);
  if (!budget) throw new ApiProblem('internal_error', 'The budget could not be read.');
  return answerWith(budget, call);
}

/** Only a budget that is an object of its own is changed by itself. */
const own =
  (handler: Handler): Handler =>
  (call) => {
    const { partId, object } = find(call);
    if (partId !== undefined)
      throw object.entity
        ? new ApiProblem('part_of_object', `The budget is in ${object.kind}/${object.id}: change its \`spec.budgets\`.`)
        : new ApiProblem('owned_by_files', `The budget is in ${object.owner}: change it there.`);
    return handler({ ...call, id: object.id });
  };

export const BUDGETS = byOperation<'budgets', Handler>('budgets', {
  list: listBudgets,
  get: getBudget,
  create: createObject('budgets', answerOwn),
  patch: own(patchObject('budgets', answerOwn)),
  delete: own(deleteObject('budgets')),
});

function readAmount(text: string, { unit }: Budget): number {
  const sign = text.startsWith('-') ? -1 : 1;
  try {
    const cap = parseCap(text.replace('-', ''));
    if (cap.unit === unit) return sign * cap.amount;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw invalidBody([{ pointer: '/by', message: error.message }]);
  }
  throw invalidBody([{ pointer: '/by', message: `the budget counts ${unit === 'usd' ? 'USD' : 'tokens'}` }]);
}

/** An operator may change a tenth of a cap within a day. */
const SMALL_PART = 0.1;
const SMALL_MS = 86_400_000;
/** The add-on that has compiled the budget has its periods. */
const spanOf = ({ compiled }: Pick<OwnedBudget, 'compiled'>, now: number): Span => partOf('periodAt')!(compiled, now);

const refOf = (budget: Pick<OwnedBudget, 'compiled'>, now: number) => ({
  node: budget.compiled.id,
  period: spanOf(budget, now).start,
});

async function answerWith(budget: OwnedBudget, call: Call): Promise<CallAnswer> {
  const [body] = await show([budget], call);
  return { body: body!, headers: { etag: budget.object.etag } };
}

async function show(budgets: readonly OwnedBudget[], { objects, clock }: Call): Promise<readonly object[]> {
  const now = clock.wall();
  const states = objects.hasStore ? await objects.store.counters.read(budgets.map((budget) => refOf(budget, now))) : [];
  return budgets.map((budget, index) => shown(budget, spanOf(budget, now), states[index]));
}

function shown(
  { id, object, partId, spec, compiled }: OwnedBudget,
  span: Span,
  state: CounterState | undefined,
): object {
  const at = (moment: number): string | null => (compiled.period === 'total' ? null : new Date(moment).toISOString());
  return {
    ...metaOf({ ...object, id }),
    name: compiled.name,
    part_of: partId === undefined ? null : `${object.kind}/${object.id}`,
    node: compiled.node.ref,
    spec: { node: compiled.node.ref, ...spec },
    unit: compiled.unit === 'usd' ? 'nano_usd' : 'tokens',
    cap: compiled.amount,
    period_start: at(span.start),
    period_end: at(span.end),
    spent: state?.spent ?? null,
    leased: state?.leased ?? null,
    unreconciled: state?.unreconciled ?? null,
    saturated: state !== undefined && state.spent >= MAX_NANO,
  };
}
