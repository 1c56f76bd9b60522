/** Lists of models: aliases, then `@slug/model`, by code units. Pages rely on this order. */
export function compareModelIds(one: string, other: string): number {
  const placed = Number(one.startsWith('@')) - Number(other.startsWith('@'));
  if (placed !== 0 || one === other) return placed;
  return one < other ? -1 : 1;
}

/** A version behind a name that tables of models need not list: `@20250929`, `-v2@20241022`, `@default`, `-20250929`, `-2025-09-29`, `-latest`. */
const VERSION = /(?:(?:-v[0-9])?@[A-Za-z0-9]+|-20[0-9]{6}|-20[0-9]{2}-[0-9]{2}-[0-9]{2}|-latest)$/;

export const withoutVersion = (model: string): string => model.replace(VERSION, '');
