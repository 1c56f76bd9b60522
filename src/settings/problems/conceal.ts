import { mayHoldCredential } from '../checks/forward-headers.ts';
import { fromPointer, valueAt } from '../read/pointer.ts';
import { SECRET_SHAPE } from './show.ts';
import type { Values } from '../read/values.ts';

/** Takes out of a message what must not be shown. */
export type Conceal = (text: string) => string;

/** Values that short are no secrets, and taking out every `8` would garble a message. */
const SHORTEST = 4;

/**
 * Messages of later passes quote values: of settings whose schema does not know them as secret (a plugin's options), and of a
 * secret that somebody put where a name belongs. So what came by reference is named, and what is secret or looks like it is gone.
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
  // The longer first: one value may be a part of another.
  const values = [...hidden].sort(([a], [b]) => b.length - a.length);
  return (text) =>
    values
      .reduce((rest, [value, name]) => rest.replaceAll(value, () => name), text)
      .replaceAll(new RegExp(SECRET_SHAPE, 'g'), '[secret]');
}

/**
 * The secrets of a file as they are: what its schema says is one, and what came by a reference that calls it one, wherever that
 * stands. Other references (a region, a model's name) are no secrets.
 */
export function secretsIn({ json, origins }: Pick<Values, 'json' | 'origins'>): readonly string[] {
  const found = [...origins].flatMap(([pointer, { secret, sources, contents }]) => {
    const value = secret ? valueAt(json, fromPointer(pointer, json)) : undefined;
    const named = contents.filter((_, index) => callsItSecret(sources[index] ?? ''));
    return [...(typeof value === 'string' || typeof value === 'number' ? [String(value)] : []), ...named];
  });
  return [...new Set(found)].filter((text) => text !== '');
}

/** A file that a reference names holds what should not stand in the settings; a variable is called what it is. */
const callsItSecret = (source: string): boolean =>
  source.startsWith('file:') || mayHoldCredential(source.slice('env:'.length).toLowerCase().replaceAll('_', '-'));

/** As it is, and as JSON writes it. */
const formsOf = (text: string): readonly string[] => [text, JSON.stringify(text).slice(1, -1)];
