import type { Payer } from './costs.ts';
import type { RequestRecord } from './record.ts';

/** Where the costs of ended requests are written. */
export interface CostLedger {
  add(record: RequestRecord, payer: Payer): void;
}
