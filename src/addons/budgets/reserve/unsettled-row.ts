import type { Attempt, Exchange } from '../../../core/kernel/index.ts';
import type { PriceList } from '../prices/price-list.ts';
import { geoOf } from '../../../core/record/costs.ts';
import { payerOf } from '../record/payer.ts';
import type { LedgerRow } from '../../../core/ports/ledger.ts';
import { lostRow, named } from '../ledger/ledger-rows.ts';
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
  const { req, requestId, organization, user, priceVersion } = payerOf(exchange, prices, at);
  const { slug, model, provider, region } = attempt.resolved!;
  return lostRow({
    req,
    requestId: named(requestId),
    att: attempt.number,
    at: Math.floor(at),
    key: named(exchange.caller?.keyId),
    user: named(user),
    team: named(exchange.caller?.team),
    organization: named(organization),
    config: named(exchange.config?.id),
    asked: named(`@${slug}/${model}`),
    model: named(model),
    src: isPriced || amounts.usd > 0 ? 'lost' : 'none',
    tier: tier ?? '',
    geo: named(geoOf(provider, region)),
    priceVersion,
    held: amounts.usd,
  });
}
