import type { ExtensionSetting } from '../../../schemas/types.generated.ts';
import type { Location } from './provider.ts';
import type { Spoken } from './definition.ts';

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

/** OpenAI's own APIs. The client's API and `api` of the entry decide which one a request is sent to. */
export const OPENAI_APIS: readonly Spoken[] = [
  { format: 'openai-chat', host: 'direct', extensions: NO_EXTENSIONS },
  { format: 'openai-responses', host: 'direct', extensions: NO_EXTENSIONS },
];
