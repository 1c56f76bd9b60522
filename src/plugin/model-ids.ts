/**
 * The order of ids in lists of models: aliases, then `@slug/model`, each by code units. It is the same on every system, and
 * pages of a list rely on it.
 */
export function compareModelIds(one: string, other: string): number {
  const placed = Number(one.startsWith('@')) - Number(other.startsWith('@'));
  if (placed !== 0 || one === other) return placed;
  return one < other ? -1 : 1;
}
