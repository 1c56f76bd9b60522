import { createHash } from 'node:crypto';
import type { Budget as BudgetFile } from '../../../../schemas/types.generated.ts';
import { parseCap } from '../../../governance/amounts.ts';
import { periodsOf, type Span } from '../../../governance/periods.ts';
import type { Budget } from '../../../governance/tree.ts';
import { compileNode } from '../../../settings/compile/teams.ts';
import type { CounterState } from '../../../state/counters.ts';
import { actorOf, checkMatch, reasonOf, type CallAnswer, type Call, type Handler } from '../call.ts';
import type { OwnedObject } from '../objects.ts';
import { pageOf } from '../pages.ts';
import { ApiProblem } from '../problems.ts';
import type { ObjectKind } from '../routes.ts';
import { invalidBody } from '../schemas.ts';

/** A budget of an object, and the place where its spending is counted. */
interface OwnedBudget {
  readonly id: string;
  readonly object: OwnedObject;
  readonly spec: BudgetFile;
  readonly compiled: Budget;
}

interface AdjustBody {
  readonly by: string;
  readonly of?: 'spent' | 'unreconciled';
  readonly reason: string;
}

const KINDS = ['organizations', 'teams', 'keys'] as const satisfies readonly ObjectKind[];
const NODES = { organizations: 'organization', teams: 'team', keys: 'key' } as const;

/** `team:search:month:usd`; with models, a digest of their patterns follows. */
function idOf({ node, period, unit, models }: Budget): string {
  const patterns = models && createHash('sha256').update(models.toSorted().join('\n')).digest('hex').slice(0, 12);
  return [node.ref, period, unit, ...(patterns === undefined ? [] : [patterns])].join(':');
}

function budgetsOf(object: OwnedObject): OwnedBudget[] {
  const specs = object.spec['budgets'];
  if (!Array.isArray(specs)) return [];
  // The objects of files and of the store are valid by the schemas of these types.
  const budgets = specs as BudgetFile[];
  const node = compileNode(NODES[object.kind], object.id, { budgets });
  return node.budgets.map((compiled, index) => ({ id: idOf(compiled), object, spec: budgets[index]!, compiled }));
}

export const listBudgets: Handler = async (call) => {
  const { objects, query } = call;
  const node = query.one('node');
  const all = KINDS.flatMap((kind) => objects.list(kind)).flatMap(budgetsOf);
  const wanted = all.filter(({ compiled }) => node === undefined || compiled.node.ref === node);
  wanted.sort((one, other) => (one.id < other.id ? -1 : 1));
  const { items, next } = pageOf(wanted, ({ id }) => id, query);
  return { body: { items: await show(items, call), ...(next !== undefined && { next }) } };
};

export const getBudget: Handler = (call) => answerWith(find(call), call);

export const adjustBudget: Handler = async (call) => {
  const { by, of = 'spent', reason } = call.body as AdjustBody;
  const budget = find(call);
  checkMatch(call, budget.object.etag);
  const { counters } = call.objects.store;
  const amount = readAmount(by, budget.compiled);
  if (call.identity.role === 'operator') await checkSmall(budget, amount, call);
  const ref = refOf(budget, call.clock.wall());
  const adjustment = { ...ref, id: call.callId, of, by: amount, why: reasonOf(call, reason) };
  if (!call.query.dryRun) await counters.adjust(adjustment, actorOf(call));
  return answerWith(budget, call);
};

function find({ objects, id }: Call): OwnedBudget {
  const [noun = '', node = ''] = id.split(':');
  const kind = KINDS.find((one) => one === `${noun}s`);
  const object = kind && objects.find(kind, node);
  const budget = object && budgetsOf(object).find((one) => one.id === id);
  if (!budget) throw new ApiProblem('not_found', 'There is no budget with this id.');
  return budget;
}

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

const SMALL_PART = 0.1;
const SMALL_MS = 86_400_000;

/** An operator may change a tenth of a cap within a day, by the rows of the audit: many small adjustments are a large one. */
async function checkSmall({ compiled }: OwnedBudget, amount: number, { objects, clock }: Call): Promise<void> {
  const since = clock.wall() - SMALL_MS;
  const id = auditId(refOf({ compiled }, clock.wall()));
  const rows = await objects.store.audit.rows({ kind: 'counter', id });
  const before = rows
    .filter((row) => row.at > since && row.role === 'operator')
    .reduce((sum, { before: from, after: to }) => sum + Math.abs(valueOf(to) - valueOf(from)), 0);
  if (before + Math.abs(amount) > compiled.amount * SMALL_PART)
    throw new ApiProblem('forbidden', 'An operator may change at most 10 % of the cap within 24 hours.');
}

/** As `Counters.adjust` names a counter in the audit. */
const auditId = ({ node, period }: { readonly node: string; readonly period: number }): string =>
  period === 0 ? node : `${node} ${new Date(period).toISOString()}`;

function valueOf(text: string | undefined): number {
  const [value] = Object.values(JSON.parse(text ?? '{}') as Record<string, unknown>);
  return typeof value === 'number' ? value : 0;
}

const spanOf = ({ compiled }: Pick<OwnedBudget, 'compiled'>, now: number): Span => periodsOf(compiled, now).at(now);

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

function shown({ id, object, spec, compiled }: OwnedBudget, span: Span, state: CounterState | undefined): object {
  const at = (moment: number): string | null => (compiled.period === 'total' ? null : new Date(moment).toISOString());
  return {
    id,
    node: compiled.node.ref,
    owner: object.owner,
    etag: object.etag,
    spec,
    unit: compiled.unit === 'usd' ? 'nano_usd' : 'tokens',
    cap: compiled.amount,
    period_start: at(span.start),
    period_end: at(span.end),
    spent: state?.spent ?? null,
    leased: state?.leased ?? null,
    unreconciled: state?.unreconciled ?? null,
  };
}
