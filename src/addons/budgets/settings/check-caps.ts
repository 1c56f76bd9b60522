import type { Budget } from '../../../../schemas/types.generated.ts';
import { LARGEST_CAP, parseCap } from '../../../core/tenants/amounts.ts';
import type { Report } from '../../../core/kernel/report.ts';
import { within, type Check } from '../../../core/settings/checks/check.ts';

type Budgets = readonly Budget[] | undefined;

/** A node of the tree above the one that is checked. */
interface NodeAround {
  readonly name: string;
  readonly budgets: Budgets;
}

/** Warns of a cap that can never be reached, because the team or organization around it ends first. */
export const checkCaps: Check = ({ teams }) => {
  const aroundTeam = (id: string | undefined): readonly NodeAround[] =>
    id === undefined ? [] : [{ name: `organization \`${id}\``, budgets: teams?.organizations?.[id]?.budgets }];
  return {
    team: ({ organization, budgets }, report) =>
      checkWithin(budgets, aroundTeam(organization), within(report, 'budgets')),
    key({ team: id, budgets }, report) {
      const team = id === undefined ? undefined : teams?.teams?.[id];
      const outer = [{ name: `team \`${id}\``, budgets: team?.budgets }, ...aroundTeam(team?.organization)];
      checkWithin(budgets, outer, within(report, 'budgets'));
    },
  };
};

function checkWithin(budgets: Budgets, around: readonly NodeAround[], report: Report): void {
  for (const [index, budget] of (budgets ?? []).entries()) {
    const sooner = around.flatMap(({ name, budgets: outer = [] }) =>
      outer
        .filter((one) => endsFirst(one, budget))
        .map(({ cap, period }) => `${cap} ${period === 'total' ? 'in total' : `per ${period}`} of its ${name}`),
    );
    if (sooner.length === 0) continue;
    const message = `this cap is above the ${sooner[0]}, which is used up first`;
    report({ path: [index, 'cap'], severity: 'warning', message });
  }
}

/** Shorter periods, which lie inside the longer ones behind them. A week may lie in two months. */
const NESTED: readonly string[] = ['hour', 'day', 'month', 'total'];

function endsFirst(outer: Budget, inner: Budget): boolean {
  const [long, short] = [NESTED.indexOf(outer.period), NESTED.indexOf(inner.period)];
  const contains = outer.period === inner.period || (short >= 0 && long > short);
  const countsAll = outer.models === undefined || outer.models.toSorted().join() === inner.models?.toSorted().join();
  if (!contains || !countsAll || outer.on_exceeded === 'warn') return false;
  const [less, more] = [amountOf(outer), amountOf(inner)];
  return less.unit === more.unit && less.amount < more.amount;
}

function amountOf({ cap }: Budget): ReturnType<typeof parseCap> {
  try {
    return parseCap(cap);
  } catch {
    // checkTeams reports it.
    return { unit: 'usd', amount: LARGEST_CAP };
  }
}
