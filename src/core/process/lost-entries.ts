import type { LoadResult, Settings } from '../settings/read/load.ts';
import { storedEntryName } from '../settings/read/stored-catalog.ts';
import type { Diagnostic } from '../settings/source/diagnostic.ts';
import { nameOf } from '../settings/source/stored-objects.ts';

/**
 * The mistakes of stored objects that serve and that this gateway cannot use as they are now stored. At a start such an object
 * has no effect; a reload must not take away what serves. Another gateway may have written what is valid with its own files only.
 */
export function lostEntries(before: Settings, { settings, diagnostics }: LoadResult): readonly Diagnostic[] {
  const served = ({ kind, id }: LeftOut): boolean =>
    before.stored?.objects.has(nameOf({ kind, id })) === true &&
    !before.leftOut.some((one) => one.kind === kind && one.id === id);
  return (settings?.leftOut ?? [])
    .filter(served)
    .flatMap(({ kind, id }) =>
      diagnostics
        .filter(({ file }) => file.endsWith(`/${storedEntryName(id, kind)}`))
        .map((one) => ({ ...one, severity: 'error' as const })),
    );
}

type LeftOut = Settings['leftOut'][number];
