import { createHmac, randomBytes } from 'node:crypto';
import { Secret } from '../../plugin/index.ts';
import type { Settings } from '../read/load.ts';

/** New in every process, so that a digest says nothing to who sees it; a short secret could be guessed from its plain hash. */
const KEY = randomBytes(32);

/** Equal for equal text, in this process only. */
export const privateDigest = (text: string): string => createHmac('sha256', KEY).update(text).digest('base64');

/** Equal when two loads say the same, secrets included. A comment may differ, nothing else. */
export function fingerprint({ server, catalog, keys, gateway, hash, files }: Settings): string {
  return privateDigest(JSON.stringify([hash, files, reveal([server, catalog, keys, [...gateway]])]));
}

/** A Secret would write itself as its source, whatever it holds. */
function reveal(value: unknown): unknown {
  if (value instanceof Secret) return { secret: value.reveal() };
  if (Array.isArray(value)) return value.map(reveal);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, reveal(inner)]));
}
