import type { ChainItem, RateLimits, ServerFile } from '../../../../schemas/types.generated.ts';
import type { Check, CheckedSettings } from '../../../core/settings/checks/check.ts';
import { attemptChain, has } from '../../../core/settings/checks/needs.ts';
import type { Report } from '../../../core/kernel/report.ts';
import { mayStoreBudgets, mayStoreLimits } from './owned-kinds.ts';

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
      if (hasBudgets && chains?.attempt && !has(chains.attempt, 'budget'))
        report({ path: ['chains', 'attempt'], message: withoutBudget('this chain') });
      if (chains?.entry && mayStoreLimits(server)) checkStoredLimits(chains.entry, report);
    },
    target({ path }, report, config) {
      const { items, where } = attemptChain(path, config, server);
      if (!hasBudgets || !items || items === server.chains?.attempt || has(items, 'budget')) return;
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

/** The store may get limits at any time. */
function checkStoredLimits(entry: readonly ChainItem[], report: Report): void {
  const missing = ['limit', 'limit-tokens'].filter((plugin) => !has(entry, plugin));
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
    if (limits[key] === undefined || has(chains.entry, plugin)) continue;
    const message = `\`${key}\` needs the plugin "${plugin}", which \`chains.entry\` of server.yaml does not include`;
    report({ path: ['limits', key], on: 'key', message });
  }
}
