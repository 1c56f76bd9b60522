import { mayHoldCredential } from '../values/credential-names.ts';
import { fromPointer, valueAt } from '../schema/pointer.ts';
import { SECRET_SHAPE } from '../values/show.ts';
import type { Values } from '../values/values.ts';

export type Conceal = (text: string) => string;

/** Shorter values are not secrets, and replacing every `8` would garble a message. */
const SHORTEST = 4;

/**
 * Messages of later passes quote values, also of fields that no schema marks as secret (a plugin's options) and of a secret
 * written in place of a name. So a referenced value is shown as its reference, and a secret, or text of that shape, as `[secret]`.
 */
export function createConceal({ json, origins }: Pick<Values, 'json' | 'origins'>): Conceal {
  const hidden = new Map<string, string>();
  const hide = (text: string, name: string) => {
    if (text.length >= SHORTEST) for (const form of formsOf(text)) hidden.set(form, `[${name}]`);
  };
  for (const [pointer, { secret, sources, contents }] of origins) {
    const value = secret ? valueAt(json, fromPointer(pointer, json)) : undefined;
    if (typeof value === 'string' || typeof value === 'number') hide(String(value), 'secret');
    for (const [index, text] of contents.entries()) hide(text, sources[index] ?? 'secret');
  }
  // Longest first: one value may be part of another.
  const values = [...hidden].sort(([a], [b]) => b.length - a.length);
  return (text) =>
    values
      .reduce((rest, [value, name]) => rest.replaceAll(value, () => name), text)
      .replaceAll(new RegExp(SECRET_SHAPE, 'g'), '[secret]');
}

/** Values that the schema marks as secret, and contents of references whose names sound like a secret. */
export function secretsIn({ json, origins }: Pick<Values, 'json' | 'origins'>): readonly string[] {
  const found = [...origins].flatMap(([pointer, { secret, sources, contents }]) => {
    const value = secret ? valueAt(json, fromPointer(pointer, json)) : undefined;
    const named = contents.filter((_, index) => namesSecret(sources[index] ?? ''));
    return [...(typeof value === 'string' || typeof value === 'number' ? [String(value)] : []), ...named];
  });
  return [...new Set(found)].filter((text) => text !== '');
}

/** A referenced file holds text that should not be in the settings, so it counts as secret; a variable counts by its name. */
const namesSecret = (source: string): boolean =>
  source.startsWith('file:') || mayHoldCredential(source.slice('env:'.length).toLowerCase().replaceAll('_', '-'));

/** The text itself, and escaped as in a JSON string. */
const formsOf = (text: string): readonly string[] => [text, JSON.stringify(text).slice(1, -1)];
