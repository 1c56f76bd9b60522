import { ERRORS } from '../../../plugin/error-codes.ts';
import { isObject } from '../../../formats/json/object.ts';

const CODE = /^[a-z][a-z0-9_]{0,62}$/;
const TYPES: ReadonlySet<unknown> = new Set(Object.values(ERRORS).map(({ type }) => type));
const MAX_CODES = 50;

/** Why the errors that a plugin declares cannot be used. They are labels of metrics, and clients branch on them. */
export function ownErrorsFault(errors: Readonly<Record<string, unknown>>): string | undefined {
  const entries = Object.entries(errors);
  if (entries.length > MAX_CODES) return `a plugin has at most ${MAX_CODES}`;
  for (const [code, own] of entries) {
    if (!CODE.test(code)) return `"${code}" is no code: lower-case letters, digits and _`;
    if (Object.hasOwn(ERRORS, code)) return `"${code}" is a code of the gateway's own`;
    const { status, type }: Readonly<Record<string, unknown>> = isObject(own) ? own : {};
    if (!Number.isInteger(status) || Number(status) < 400 || Number(status) > 599)
      return `the status of "${code}" is not from 400 to 599`;
    if (!TYPES.has(type)) return `the type of "${code}" is not one of ${[...TYPES].join(', ')}`;
  }
  return undefined;
}
