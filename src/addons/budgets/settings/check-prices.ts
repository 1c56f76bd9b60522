import type { CustomHosts, PriceRule, UsdPrices } from '../../../../schemas/types.generated.ts';
import { withoutVersion } from '../../../core/kernel/model-ids.ts';
import { matches } from '../../../core/catalog/globs.ts';
import type { PriceTable } from '../prices/price-table.ts';
import type { Report } from '../../../core/kernel/report.ts';
import { pricesGiven, priceFilesOf } from './price-files.ts';
import { within, type Check, type CheckedSettings } from '../../../core/settings/checks/check.ts';
import { checkProviderName } from '../../../core/settings/checks/names.ts';

export const checkPrices: Check = (settings) => {
  const { rules } = priceFilesOf(settings);
  return {
    others({ reporter }) {
      for (const [index, rule] of (rules?.prices ?? []).entries())
        checkRule(rule, settings, within(reporter('prices.yaml'), 'prices', index));
    },
    key: ({ custom_hosts: hosts }, report) => checkHostPrices(hosts, settings, within(report, 'custom_hosts')),
    config: ({ file, report }) => checkHostPrices(file.custom_hosts, settings, within(report, 'custom_hosts')),
  };
};

export function checkRule(rule: PriceRule, settings: CheckedSettings, report: Report): void {
  const { rules, table } = priceFilesOf(settings);
  if (rule.id !== undefined && rules && rules.prices.find(({ id }) => id === rule.id) !== rule)
    report({ path: ['id'], message: `there is another rule \`${rule.id}\`` });
  if (rule.entry !== undefined) checkProviderName(rule.entry, settings, within(report, 'entry'));
  if (rule.host !== undefined && rule.entry !== undefined)
    report({ path: ['host'], message: 'a host of a caller is no entry of the catalog: leave out `entry`' });
  if (rule.provider !== undefined) checkProviderName(rule.provider, settings, within(report, 'provider'));
  checkDays(rule, report);
  if (rule.usd) checkDecimals(rule.usd, within(report, 'usd'));
  if (rule.long) checkDecimals(rule.long.usd, within(report, 'long', 'usd'));
  if (rule.factor !== undefined && !(Math.abs(rule.factor * 1e6 - Math.round(rule.factor * 1e6)) < 1e-6))
    report({ path: ['factor'], message: 'a factor has at most six decimals' });
  checkOrder(rule, settings, report);
  checkDiscount(rule, table, report);
}

/** A budget in USD refuses requests to a host without a price. The state store may have the rule. */
function checkHostPrices({ hosts = [] }: Partial<CustomHosts> = {}, settings: CheckedSettings, report: Report): void {
  if (settings.inline || settings.server?.state?.owns?.includes('prices')) return;
  const rules = priceFilesOf(settings).rules?.prices ?? [];
  const unpriced = hosts.find((host) => !rules.some((rule) => rule.host !== undefined && matches(rule.host, host)));
  if (unpriced === undefined) return;
  const message = `no rule of prices.yaml is for the host ${unpriced}: the cost of requests to it is unknown, and budgets in USD refuse them`;
  report({ path: [], on: 'key', severity: 'warning', message });
}

/** The first rule that fits a request is in force. */
function checkOrder(rule: PriceRule, settings: CheckedSettings, report: Report): void {
  const rules = priceFilesOf(settings).rules?.prices ?? [];
  const provider = rule.provider ?? settings.catalog?.providers.find(({ slug }) => `@${slug}` === rule.entry)?.provider;
  const later = { ...rule, ...(provider !== undefined && { provider }) };
  const index = rules.findIndex((earlier) => earlier === rule || covers(earlier, later));
  if (index < 0 || rules[index] === rule) return;
  const message = `this rule is never in force: \`prices[${index}]\`, for \`${rules[index]!.model}\`, stands before it and fits all of its requests; move this one before it`;
  report({ path: ['model'], severity: 'warning', message });
}

/** True where every request of the later rule fits the earlier one. */
function covers(earlier: PriceRule, later: PriceRule): boolean {
  const same = (key: 'entry' | 'provider' | 'region' | 'tier') =>
    earlier[key] === undefined || earlier[key] === later[key];
  return (
    (earlier.host === undefined) === (later.host === undefined) &&
    same('entry') &&
    same('provider') &&
    same('region') &&
    same('tier') &&
    (earlier.from === undefined || (later.from !== undefined && earlier.from <= later.from)) &&
    (earlier.until === undefined || (later.until !== undefined && earlier.until >= later.until)) &&
    (matches(earlier.model, later.model) || matches(earlier.model, withoutVersion(later.model))) &&
    matches(earlier.host ?? '', later.host ?? '')
  );
}

function checkDays({ from, until }: PriceRule, report: Report): void {
  for (const [name, day] of Object.entries({ from, until }))
    if (day !== undefined && !isDay(day)) report({ path: [name], message: `there is no day ${day}` });
  if (from !== undefined && until !== undefined && until < from)
    report({ path: ['until'], message: `\`until\` is before \`from\`, ${from}` });
}

function isDay(text: string): boolean {
  const moment = Date.parse(text);
  return !Number.isNaN(moment) && new Date(moment).toISOString().startsWith(text);
}

function checkDecimals(usd: UsdPrices, report: Report): void {
  for (const { name, usd: price, pico } of pricesGiven(usd))
    if (pico === undefined)
      report({ path: [name], message: `${price} has more decimals than prices have: six of a million tokens` });
}

/** A factor needs prices to apply to. A pattern may name models that the table does not have yet. */
function checkDiscount({ model, provider, entry, usd }: PriceRule, table: PriceTable, report: Report): void {
  if (usd || model.includes('*') || provider === undefined || entry !== undefined) return;
  if (table.find(provider, model)) return;
  report({
    path: ['model'],
    severity: 'warning',
    message: `no price of ${model} at ${provider} is shipped, so its cost stays unknown: give \`usd\``,
  });
}
