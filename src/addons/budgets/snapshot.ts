import type { PricesFile } from '../../../schemas/types.generated.ts';
import type { DefaultPlugin, SnapshotSource } from '../../core/compose/snapshot-part.ts';
import type { Metrics } from '../../core/record/metrics/registry.ts';
import { budgetFamilies } from './metrics.ts';
import { compilePrices, ownPrices, priceFilesOf } from './settings/price-files.ts';
import type { Gates } from './limits/gates.ts';
import type { RequestBudgets } from '../../core/kernel/index.ts';
import { gatedSender } from '../../core/send/send.ts';
import { composeRateLimits, type LimitNeeds, type RateLimitsSetup } from './limits/rate-limits.ts';
import { PriceList, PricesInForce } from './prices/price-list.ts';
import { CostHeader, requestPrices } from './record/request-prices.ts';
import { AttemptReservations } from './reserve/attempt-reservations.ts';
import { BudgetState } from './reserve/budget-state.ts';
import { compileState, mayStoreBudgets } from './settings/state.ts';

interface SourceSetup {
  readonly gates: Gates;
  /** Undefined in a dry run: each snapshot then counts from zero. */
  readonly budgets?: BudgetState;
  /** Undefined in a dry run, which counts no refusals and no addresses. */
  readonly metrics?: Pick<Metrics, 'families'>;
  readonly onPrices?: (prices: PricesInForce) => void;
}

const NO_BUDGETS: RequestBudgets = { reserve: () => undefined, preview() {} };

export const sourceOf = ({ gates, budgets, metrics, onPrices }: SourceSetup): SnapshotSource => ({
  compose({ loaded, settings, tenancy, shared: { clock } }) {
    const { server } = settings;
    const { tree } = tenancy;
    const state = compileState(server.state);
    const listOf = (file: PricesFile): PriceList => new PriceList(compilePrices(file), priceFilesOf(settings).table);
    const prices = new PricesInForce(listOf(ownPrices(settings)));
    const families = metrics && budgetFamilies(metrics);
    const rateLimited: RateLimitsSetup['rateLimited'] =
      families && ((node, limit) => families.rateLimitRefusals.add({ node, limit }));
    const limits = composeRateLimits(loaded, { settings, tree }, { gates, clock, rateLimited });
    const hasBudgets = tree.hasBudgets || mayStoreBudgets(server);
    const whenDown = state?.whenDown.budgets ?? 'refuse';
    const own = budgets ?? new BudgetState({ clock });
    const reserves = hasBudgets || own.ledger !== undefined;
    tenancy.onChange((changes) => {
      limits.change(changes);
      budgets?.change(changes);
    });
    tenancy.onPrices(() => {
      prices.replace(listOf(ownPrices({ ...settings, stored: tenancy.current.stored })), clock.now());
    });
    const granted = { gates: limits.gates };
    return {
      granted: {
        entry: granted,
        request: granted,
        attempt: {
          ...granted,
          budgets: reserves ? new AttemptReservations({ tree, prices, clock, whenDown, state: own }) : NO_BUDGETS,
        },
      },
      hasBudgets,
      plugins: [
        ...limitPlugins(limits.needs),
        // Other gateways do no work for it.
        ...(hasBudgets || state ? [{ level: 'attempt', name: 'budget', before: 'retry' } as const] : []),
      ],
      sender: limits.needs.targets ? (sender) => gatedSender(sender, limits.gates) : undefined,
      refuseAddress: limits.refuseAddress,
      costHeader: new CostHeader(prices),
      prices: () => requestPrices(prices.current),
      use() {
        budgets?.use(tree);
        limits.use();
        onPrices?.(prices);
      },
    };
  },
});

/** The plugins that the limits of callers need: limits that do not exist cost a request nothing. */
const limitPlugins = ({ callers, tokens }: LimitNeeds): readonly DefaultPlugin[] => [
  ...(callers ? [{ level: 'entry', name: 'limit', before: 'models' } as const] : []),
  ...(callers && tokens ? [{ level: 'entry', name: 'limit-tokens', before: 'config' } as const] : []),
];
