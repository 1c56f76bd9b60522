import type { ServerFile } from '../../../../schemas/types.generated.ts';
import type { RestartOnly } from '../../../core/process/restart-only.ts';
import type { Check } from '../../../core/settings/checks/check.ts';
import { parseBytes } from '../../../core/kernel/units.ts';

export interface KeptRecordsSettings {
  readonly days: number;
  readonly maxBytes: number;
}

/** `state.records` of server.yaml. Undefined: no records are kept on disk. */
export function keptRecordsOf({ state }: Pick<ServerFile, 'state'>): KeptRecordsSettings | undefined {
  const { records } = state ?? {};
  return records && { days: records.days ?? 7, maxBytes: parseBytes(records.max_bytes ?? '2GiB') };
}

export const RECORDS_AT_START: readonly RestartOnly[] = [
  { path: ['state', 'records'], read: (_, file) => JSON.stringify(keptRecordsOf(file)) },
];

/** Records are kept beside the ledger, in the folder of the store. */
export const checkKeptRecords: Check = () => ({
  server({ state }, report) {
    if (state?.records && state.store.type === 'memory')
      report({
        path: ['state', 'records'],
        on: 'key',
        message: 'a store in memory has no folder for records; write `store: { type: sqlite, dir: … }`',
      });
  },
});
