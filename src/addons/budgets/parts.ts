import type { AddOnParts } from '../../core/process/add-on-parts.ts';
import { BUDGET_METRICS, budgetFamilies } from './metrics.ts';
import budget from './plugins/budget/index.ts';
import limit from './plugins/limit/index.ts';
import limitTokens from './plugins/limit-tokens/index.ts';
import { dryBudgets, openBudgets } from './process.ts';
import { checkBudgets, checkCaps, checkNeeds } from './settings/check-budgets.ts';
import { shownOfKey } from './cli/shown-key.ts';
import { checkPrices } from './settings/check-prices.ts';
import { checkState, compileState, STATE_AT_START } from './settings/state.ts';
import { compileNodeOf } from './settings/compile-node.ts';
import { checkStored } from './settings/check-stored.ts';
import { checkUnpriced, checkVendors } from './settings/check-models.ts';
import { extrasWithRule, readPriceFiles } from './settings/price-files.ts';
import { shippedPrice } from './prices/price-table.ts';
import { pricedModels, quoteCosts } from './record/quote-costs.ts';
import { periodsOf } from './limits/periods.ts';
import { MEMORY, SQLITE } from './store/sqlite/driver.ts';

export const parts: AddOnParts = {
  plugins: [limit, limitTokens, budget],
  checks: [checkBudgets, checkCaps, checkNeeds, checkPrices, checkState, checkStored, checkUnpriced, checkVendors],
  added: { shown: shownOfKey },
  metrics: BUDGET_METRICS,
  compileNode: compileNodeOf,
  periodAt: (budget, now) => periodsOf(budget, now).at(now),
  prices: { of: shippedPrice, withRule: extrasWithRule, models: pricedModels, quote: quoteCosts },
  extraFiles: [readPriceFiles],
  storeSettings: ({ state }) => compileState(state),
  restartOnly: STATE_AT_START,
  storeDrivers: [SQLITE, MEMORY],
  load: async (dir, env) => (await import('./cli/state/load-with-store.ts')).loadWithStore(dir, env),
  async openStore({ server }, tools, report) {
    const settings = compileState(server.state);
    if (!settings) return undefined;
    // Most gateways have no state store: they do not load the code.
    const { ReconnectingStore } = await import('./state/reconnecting-store.ts');
    return ReconnectingStore.open(
      { ...tools, families: tools.metrics && budgetFamilies(tools.metrics), settings },
      report,
    );
  },
  open: openBudgets,
  dry: dryBudgets,
};
