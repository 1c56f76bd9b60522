import type { Budget, GatewayKey } from '../../../../schemas/types.generated.ts';
import { parseCap, type Cap } from '../../../addons/budgets/limits/amounts.ts';
import type { Report } from '../../../plugin/index.ts';
import { countedBy } from '../compile/teams.ts';
import { within, type Check, type CheckedSettings } from './check.ts';
import { withSuggestion } from './names.ts';
import { checkZone } from './time-zones.ts';

/** Checks that keys and teams name what exists, and that each budget counts something that no other of its node counts. */
export const checkTeams: Check = (settings) => ({
  organization({ budgets }, report) {
    checkBudgets(budgets, within(report, 'budgets'));
  },
  team({ organization, budgets }, report) {
    checkBudgets(budgets, within(report, 'budgets'));
    const known = Object.keys(settings.teams?.organizations ?? {});
    // Objects of the store come and go: a key whose team or organization is missing is refused then.
    if (isOwned(settings, 'organizations')) return;
    if (organization !== undefined && !known.includes(organization))
      report({
        path: ['organization'],
        message: `there is no organization \`${organization}\` in this file`,
        ...withSuggestion(organization, known),
      });
  },
  key(key, report) {
    checkBudgets(key.budgets, within(report, 'budgets'));
    checkTeamOf(key, settings, within(report, 'team'));
  },
});

const isOwned = ({ server }: CheckedSettings, kind: 'teams' | 'organizations'): boolean =>
  server?.state?.owns?.includes(kind) ?? false;

function checkTeamOf({ team }: GatewayKey, settings: CheckedSettings, report: Report): void {
  const { teams } = settings;
  if (team === undefined || !teams || isOwned(settings, 'teams')) return;
  const known = Object.keys(teams.teams ?? {});
  if (!known.includes(team))
    report({ path: [], message: `there is no team \`${team}\` in teams.yaml`, ...withSuggestion(team, known) });
}

function checkBudgets(budgets: readonly Budget[] = [], report: Report): void {
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
