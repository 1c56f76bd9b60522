import type { ExtensionSetting } from '../../../schemas/types.generated.ts';
import type { Location } from './provider.ts';

/** For an API that refuses every field that it does not document. */
export const NO_EXTENSIONS: ReadonlySet<string> = new Set();

/** `extensions` of an entry. Undefined: all of them. */
export function readExtensions(
  setting: ExtensionSetting | undefined,
  byDefault: Location['extensions'],
): Location['extensions'] {
  if (setting === undefined) return byDefault;
  if (setting === 'keep') return undefined;
  return setting === 'drop' ? NO_EXTENSIONS : new Set(setting);
}
