import type { ServerFile } from '../../../../schemas/types.generated.ts';
import type { RestartOnly } from '../../../core/process/restart-only.ts';
import type { Check } from '../../../core/settings/checks/check.ts';
import { parseBytes } from '../../../core/kernel/units.ts';
import { valueAt } from '../../../core/settings/schema/pointer.ts';

export interface KeptRecordsSettings {
  readonly days: number;
  readonly maxBytes: number;
}

interface WrittenRecords {
  readonly days?: number;
  readonly max_bytes?: number | string;
}

/** A build without a store has no such key. */
const writtenIn = (server: ServerFile): WrittenRecords | undefined =>
  // The schema has been checked.
  valueAt(server, ['state', 'records']) as WrittenRecords | undefined;

/** `state.records` of server.yaml. Undefined: no records are kept on disk. */
export function keptRecordsOf(server: ServerFile): KeptRecordsSettings | undefined {
  const records = writtenIn(server);
  return records && { days: records.days ?? 7, maxBytes: parseBytes(records.max_bytes ?? '2GiB') };
}

export const RECORDS_AT_START: readonly RestartOnly[] = [
  { path: ['state', 'records'], read: (_, file) => JSON.stringify(keptRecordsOf(file)) },
];

/** Records are kept beside the ledger, in the folder of the store. */
export const checkKeptRecords: Check = () => ({
  server(file, report) {
    if (writtenIn(file) && valueAt(file, ['state', 'store', 'type']) === 'memory')
      report({
        path: ['state', 'records'],
        on: 'key',
        message: 'a store in memory has no folder for records; write `store: { type: sqlite, dir: … }`',
      });
  },
});
