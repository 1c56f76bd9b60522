import type { JsonObject } from '../conversation.ts';
import { RequestFault } from '../format.ts';

/** Rules of Google Cloud labels (wire.md C10). Lower-case and caseless letters of any script count as letters. */
const MAX_LABELS = 64;
const KEY = /^[\p{Ll}\p{Lo}][\p{Ll}\p{Lo}\p{N}_-]{0,62}$/u;
const VALUE = /^[\p{Ll}\p{Lo}\p{N}_-]{0,63}$/u;

/** Labels the caller wrote are checked and never rewritten: a changed label would land costs on the wrong account. */
export function checkLabels(labels: JsonObject): JsonObject {
  const entries = Object.entries(labels);
  if (entries.length > MAX_LABELS) fail('labels', `there are ${entries.length} labels, ${MAX_LABELS} are allowed`);
  for (const [key, value] of entries) {
    const param = `labels.${key}`;
    if (!KEY.test(key)) fail(param, 'a key has 1 to 63 lowercase letters, digits, "_" or "-" and begins with a letter');
    if (typeof value !== 'string') fail(param, 'a value is a string');
    if (!VALUE.test(value)) fail(param, 'a value has at most 63 lowercase letters, digits, "_" or "-"');
  }
  return labels;
}

function fail(param: string, reason: string): never {
  throw new RequestFault('invalid_value', `${param} is not a valid label: ${reason}.`, param);
}
