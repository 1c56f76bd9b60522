import type { Leaf } from './leaves.ts';

/** Leaves at the same place in all items of lists: `messages.*.content`. */
export interface LeafGroup {
  readonly pattern: string;
  readonly leaves: readonly Leaf[];
}

export function groupsOf(leaves: Iterable<Leaf>): readonly LeafGroup[] {
  const groups = Map.groupBy(leaves, ({ path, value }) => `${typeof value} ${patternOf({ path })}`);
  return [...groups].map(([pattern, group]) => ({ pattern, leaves: group }));
}

export const patternOf = ({ path }: Pick<Leaf, 'path'>): string =>
  path.map((name) => (typeof name === 'number' ? '*' : name)).join('\u0000');

/** Few distinct words that occur often: an enumeration, whose writer is likely to reject any other word. */
export function isEnumeration({ leaves }: LeafGroup): boolean {
  const words = new Set(leaves.map(({ value }) => value));
  return words.size * 2 <= leaves.length && [...words].every((word) => typeof word === 'string' && WORD.test(word));
}

const WORD = /^[a-z_]{1,24}$/i;

export function halves({ pattern, leaves }: LeafGroup): readonly [LeafGroup, LeafGroup] {
  const middle = leaves.length >> 1;
  return [
    { pattern, leaves: leaves.slice(0, middle) },
    { pattern, leaves: leaves.slice(middle) },
  ];
}
