import type { StoreRules } from '../../../../core/ports/store-rules.ts';
import { announcementOf, ChainKeys, ChainReading, dropOf, nextRow } from './audit-chain.ts';
import * as checks from './checks.ts';
import { countingCalls, noCounter } from './counting.ts';
import { epochEvent, placeOf, writeEntities } from './entity-writes.ts';
import * as ledger from './rollup-cells.ts';
import { KeyEncryptionKeys } from './sealing.ts';

export const storeRules: StoreRules = {
  ring: (text) => KeyEncryptionKeys.parse(text),
  counting: countingCalls,
  noCounter,
  writeEntities,
  placeOf,
  auditChain(ring) {
    const keys = new ChainKeys(ring);
    return {
      next: (event, by, after, at) => nextRow(event, by, { after, at, keys }),
      announcement: (after, at) => announcementOf({ after, at, keys }),
      dropOf,
      check: (known) => new ChainReading(keys, known),
    };
  },
  ledger,
  epochEvent,
  checks,
};
