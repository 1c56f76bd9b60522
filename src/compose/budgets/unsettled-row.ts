import type { Attempt, Exchange } from '../../plugin/index.ts';
import type { PriceList } from '../../prices/price-list.ts';
import { geoOf } from '../../record/cost-place.ts';
import { payerOf } from '../../record/payer.ts';
import type { LedgerRow } from '../../state/ledger.ts';
import { named, NO_SUMS } from '../ledger/ledger-rows.ts';
import type { AttemptEstimate } from './attempt-estimate.ts';

interface Sent {
  readonly estimate: AttemptEstimate;
  readonly prices: PriceList;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** The row of the ledger if the process ends before the attempt is settled: its cost is the reserve. */
export function unsettledRow(
  exchange: Exchange,
  attempt: Attempt,
  { estimate: { amounts, tier, isPriced }, prices, at }: Sent,
): LedgerRow {
  const { req, organization, user, priceVersion } = payerOf(exchange, prices, at);
  const { slug, model, provider, region } = attempt.resolved!;
  return {
    ...NO_SUMS,
    req,
    att: attempt.number,
    kind: 'expired',
    at: Math.floor(at),
    key: named(exchange.caller?.keyId),
    user: named(user),
    team: named(exchange.caller?.team),
    organization: named(organization),
    config: named(exchange.config?.id),
    asked: named(`@${slug}/${model}`),
    model: named(model),
    status: 'lost',
    src: isPriced || amounts.usd > 0 ? 'lost' : 'none',
    tier: tier ?? '',
    geo: named(geoOf(provider, region)),
    priceVersion,
    nano: amounts.usd,
    held: amounts.usd,
    ms: 0,
    firstMs: undefined,
  };
}
