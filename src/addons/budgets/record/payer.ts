import type { Exchange } from '../../../core/kernel/index.ts';
import { uuidv7 } from '../../../core/kernel/ids.ts';
import type { PriceList } from '../prices/price-list.ts';
import type { Payer } from '../../../core/record/costs.ts';

const UUID = /^([0-9a-f]{8})([0-9a-f]{4})(7[0-9a-f]{3})([89ab][0-9a-f]{3})([0-9a-f]{12})$/;

/** The id of a request in the ledger: the base of the ids of its reply. */
const ledgerIdOf = ({ replyId }: Pick<Exchange, 'replyId'>, wallMs: number): string =>
  UUID.test(replyId) ? replyId.replace(UUID, '$1-$2-$3-$4-$5') : uuidv7(wallMs);

export function payerOf({ id, replyId, caller }: Exchange, prices: PriceList | undefined, wallMs: number): Payer {
  const req = ledgerIdOf({ replyId }, wallMs);
  return {
    req,
    requestId: id === req ? '' : id,
    organization: caller?.organization,
    user: caller?.owner,
    priceVersion: prices?.version ?? '',
  };
}
