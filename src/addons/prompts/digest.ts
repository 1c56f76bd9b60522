import { createHash } from 'node:crypto';
import type { PromptVersion } from '../../../schemas/types.generated.ts';

/**
 * Digest of a version with the text of every partial that it uses. The order of keys and the layout of the file do not
 * matter; `digest` itself and `note`, which is never sent, do not count.
 */
export function versionDigest(
  { digest: _, note: __, ...content }: PromptVersion,
  partials: ReadonlyMap<string, string>,
): string {
  const text = JSON.stringify(ordered({ content, partials: Object.fromEntries(partials) }));
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

/** The value with the keys of every object sorted. */
function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]) => [key, ordered(inner)]);
}
