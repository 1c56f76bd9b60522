import type { ModelLimits } from '../../formats/format.ts';
import { LIMITS } from './table.generated.ts';

/** A version behind the name that the table need not list: `@20250929`, `@default`, `-20250929`, `-latest`. */
const VERSION = /(?:@[A-Za-z0-9]+|-20[0-9]{6}|-latest)$/;

/** The limits of a model; undefined for a model that the table does not know under this name or without its version. */
export function modelLimits(provider: string, model: string): ModelLimits | undefined {
  return LIMITS.get(`${provider}/${model}`) ?? LIMITS.get(`${provider}/${model.replace(VERSION, '')}`);
}
