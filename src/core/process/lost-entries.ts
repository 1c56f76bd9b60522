import type { LoadResult, Settings } from '../settings/read/load.ts';
import type { Diagnostic } from '../settings/source/diagnostic.ts';
import { isCompiled, storedName, type StoredObject, type StoredObjects } from '../settings/source/stored-objects.ts';

/**
 * The mistakes of stored entries of the catalog and gateway configs that serve and that this gateway cannot use as they are now stored. At a
 * start such an object has no effect; a reload must not take away what serves. Another gateway may have written what is valid with its own
 * files only.
 */
export function lostEntries(
  before: Settings,
  { settings, diagnostics }: LoadResult,
  stored: StoredObjects | undefined,
): readonly Diagnostic[] {
  const lost = [...(stored?.objects.values() ?? [])].filter(
    (one) => isCompiled(one.kind) && has(before, one) && !has(settings, one),
  );
  return lost.flatMap((one) =>
    diagnostics
      .filter(({ file }) => file.endsWith(`/${storedName(one)}`))
      .map((one) => ({ ...one, severity: 'error' as const })),
  );
}

/** Whether settings have an object from which they are compiled. */
export const has = (settings: Settings | undefined, { kind, id }: Pick<StoredObject, 'kind' | 'id'>): boolean =>
  kind === 'configs'
    ? settings?.gateway.has(id) === true
    : settings?.catalog.providers.some(({ slug }) => slug === id) === true;
