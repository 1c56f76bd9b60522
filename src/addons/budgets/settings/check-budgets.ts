import type { Budget, ChainList, RateLimits, ServerFile } from '../../../../schemas/types.generated.ts';
import type { Report } from '../../../core/kernel/report.ts';
import { within, type Check, type CheckedSettings } from '../../../core/settings/checks/check.ts';
import { attemptChain, lacks } from '../../../core/settings/checks/needs.ts';
import { mayStoreBudgets, mayStoreLimits } from './state.ts';
import { checkZone } from './time-zones.ts';
import { countedBy } from './compile-node.ts';
import { LARGEST_CAP, parseCap, type Cap } from '../../../core/tenants/amounts.ts';

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

type Budgets = readonly Budget[] | undefined;

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

/** Another check reports a cap that cannot be read. */
const amountOf = (budget: Budget): Cap => checkCap(budget, () => {}) ?? { unit: 'usd', amount: LARGEST_CAP };

/** Reports budgets and limits that have no effect because the chains of server.yaml, or of a config, lack their plugins. */
export const checkNeeds: Check = (settings) => {
  const { server } = settings;
  if (!server) return {};
  const checkLimits = (node: { readonly limits?: RateLimits }, report: Report) => checkRateLimits(node, server, report);
  const hasBudgets = settings.inline?.hasBudgets ?? (countsBudgets(settings) || mayStoreBudgets(server));
  return {
    key: checkLimits,
    team: checkLimits,
    organization: checkLimits,
    server({ chains }, report) {
      if (hasBudgets && lacks([chains?.attempt], 'budget'))
        report({ path: ['chains', 'attempt'], message: withoutBudget('this chain') });
      if (chains?.entry && mayStoreLimits(server)) checkStoredLimits(chains.entry, report);
    },
    target({ path }, report, config) {
      const { layers, isServers, where } = attemptChain(path, config, server);
      if (!hasBudgets || isServers || !lacks(layers, 'budget')) return;
      report({ path: [], message: withoutBudget(where) });
    },
  };
};

const withoutBudget = (where: string): string =>
  `budgets of keys, teams and organizations need the plugin "budget", which ${where} does not include`;

const countsBudgets = ({ keys, teams }: CheckedSettings): boolean =>
  [...(keys?.keys ?? []), ...Object.values(teams?.teams ?? {}), ...Object.values(teams?.organizations ?? {})].some(
    ({ budgets }) => budgets !== undefined,
  );

function checkStoredLimits(entry: ChainList, report: Report): void {
  const missing = ['limit', 'limit-tokens'].filter((plugin) => lacks([entry], plugin));
  if (missing.length === 0) return;
  const names = missing.map((plugin) => `"${plugin}"`).join(' and ');
  report({
    path: ['chains', 'entry'],
    message: `limits of the state store need ${names}, which this chain does not include`,
  });
}

/** Limits by model apply where a request is sent, which needs no plugin. */
function checkRateLimits({ limits }: { readonly limits?: RateLimits }, { chains }: ServerFile, report: Report): void {
  if (!limits || !chains?.entry) return;
  const needed = [
    { key: 'requests', plugin: 'limit' },
    { key: 'concurrency', plugin: 'limit' },
    { key: 'tokens', plugin: 'limit-tokens' },
  ] as const;
  for (const { key, plugin } of needed) {
    if (limits[key] === undefined || !lacks([chains.entry], plugin)) continue;
    const message = `\`${key}\` needs the plugin "${plugin}", which \`chains.entry\` of server.yaml does not include`;
    report({ path: ['limits', key], on: 'key', message });
  }
}
