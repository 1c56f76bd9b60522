import { createHmac, randomBytes } from 'node:crypto';
import { Secret } from '../../plugin/index.ts';
import type { Settings } from '../read/load.ts';

/** Random in every process, so that a digest reveals nothing: a short secret could be guessed from its plain hash. */
const KEY = randomBytes(32);

/** A digest that is equal for equal text, within this process only. */
export const privateDigest = (text: string): string => createHmac('sha256', KEY).update(text).digest('base64');

/** Equal when two loads have the same content, secrets included. Only comments may differ. */
export function fingerprint({ server, catalog, keys, gateway, hash, files }: Settings): string {
  return privateDigest(JSON.stringify([hash, files, reveal([server, catalog, keys, [...gateway]])]));
}

/** Replaces each Secret with its value: a Secret serializes as its source, whatever its value. */
function reveal(value: unknown): unknown {
  if (value instanceof Secret) return { secret: value.reveal() };
  if (Array.isArray(value)) return value.map(reveal);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, reveal(inner)]));
}
