import type { LoadResult, Settings } from '../settings/read/load.ts';
import type { Diagnostic } from '../settings/source/diagnostic.ts';
import { nameOf, storedName } from '../settings/source/stored-objects.ts';

/**
 * The mistakes of stored objects that serve and that this gateway cannot use as they are now stored. At a start such an object
 * has no effect; a reload must not take away what serves. Another gateway may have written what is valid with its own files only.
 */
export function lostEntries(before: Settings, { settings, diagnostics }: LoadResult): readonly Diagnostic[] {
  const served = (one: LeftOut): boolean => before.stored?.objects.has(nameOf(one)) === true && !isLeftOut(before, one);
  return (settings?.leftOut ?? [])
    .filter(served)
    .flatMap((one) =>
      diagnostics
        .filter(({ file }) => file.endsWith(`/${storedName(one)}`))
        .map((found) => ({ ...found, severity: 'error' as const })),
    );
}

type LeftOut = Settings['leftOut'][number];

export const isLeftOut = ({ leftOut }: Settings, { kind, id }: LeftOut): boolean =>
  leftOut.some((one) => one.kind === kind && one.id === id);
