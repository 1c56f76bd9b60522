import { MAX_LEDGER_LABELS } from '../../../core/ports/ledger.ts';
import type { Settings } from '../../../core/settings/read/load.ts';
import { valueAt } from '../../../core/settings/schema/pointer.ts';

/** The metadata that the ledger keeps, sorted. A build without the add-on of the store has no such key. */
export function ledgerLabelsOf({ server }: Pick<Settings, 'server'>): readonly string[] {
  const names = valueAt(server, ['state', 'ledger_labels']);
  return Array.isArray(names) ? names.map(String).toSorted().slice(0, MAX_LEDGER_LABELS) : [];
}
