import type { LoadResult, Settings } from '../settings/read/load.ts';
import { storedEntryName } from '../settings/read/stored-catalog.ts';
import type { Diagnostic } from '../settings/source/diagnostic.ts';
import { storedProviders, type StoredObjects } from '../settings/source/stored-objects.ts';

/**
 * The mistakes of stored entries of the catalog that serve and that this gateway cannot use as they are now stored. At a start such an entry
 * has no effect; a reload must not take away what serves. Another gateway may have written what is valid with its own files only.
 */
export function lostEntries(
  { catalog: before }: Settings,
  { settings, diagnostics }: LoadResult,
  stored: StoredObjects | undefined,
): readonly Diagnostic[] {
  const served = new Set(before.providers.map(({ slug }) => slug));
  const now = new Set(settings?.catalog.providers.map(({ slug }) => slug));
  const lost = storedProviders(stored).filter(({ id }) => served.has(id) && !now.has(id));
  return lost.flatMap(({ id }) =>
    diagnostics
      .filter(({ file }) => file.endsWith(`/${storedEntryName(id)}`))
      .map((one) => ({ ...one, severity: 'error' as const })),
  );
}
