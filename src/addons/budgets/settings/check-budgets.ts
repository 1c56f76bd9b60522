import type { Budget } from '../../../../schemas/types.generated.ts';
import type { Report } from '../../../core/kernel/report.ts';
import { within, type Check } from '../../../core/settings/checks/check.ts';
import { checkZone } from '../../../core/settings/checks/time-zones.ts';
import { countedBy } from './compile-node.ts';
import { parseCap, type Cap } from '../../../core/tenants/amounts.ts';

const checkNode = ({ budgets }: { readonly budgets?: readonly Budget[] }, report: Report): void =>
  checkAll(budgets, within(report, 'budgets'));

/** Checks that each budget can be counted, and counts something that no other of its node counts. */
export const checkBudgets: Check = () => ({ organization: checkNode, team: checkNode, key: checkNode });

function checkAll(budgets: readonly Budget[] = [], report: Report): void {
  const seen = new Map<string, number>();
  for (const [index, budget] of budgets.entries()) {
    const at = within(report, index);
    checkZoneOf(budget, within(at, 'time_zone'));
    checkDay(budget, at);
    const cap = checkCap(budget, within(at, 'cap'));
    if (!cap) continue;
    const counted = countedBy(budget, cap);
    const first = seen.get(counted);
    if (first === undefined) seen.set(counted, index);
    else
      at({
        path: [],
        message: `this budget and \`budgets[${first}]\` have the same period, unit and models: remove one; for a warning before the cap, write \`alerts: [80]\``,
      });
  }
}

function checkCap({ cap }: Budget, report: Report): Cap | undefined {
  try {
    return parseCap(cap);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    report({ path: [], message: error.message });
    return undefined;
  }
}

function checkZoneOf({ period, time_zone: zone }: Budget, report: Report): void {
  if (zone === undefined) return;
  if (period === 'total' || period === 'hour') {
    const message = `\`time_zone\` has no effect with \`period: ${period}\``;
    report({ path: [], on: 'key', severity: 'warning', message });
  }
  checkZone(zone, report);
}

function checkDay({ period, day_of_month: day }: Budget, report: Report): void {
  if (day === undefined || period === 'month') return;
  const message = '`day_of_month` has an effect with `period: month` only';
  report({ path: ['day_of_month'], on: 'key', severity: 'warning', message });
}
