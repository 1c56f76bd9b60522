import type { ListPlace, Placed } from '../../kernel/report.ts';
import type { ChainItem } from './compile.ts';

/** The plugins of one level in a list of the settings, each with its place: a number is its index in the list. */
export interface ListPart {
  readonly items: readonly ChainItem[];
  readonly indexes: readonly (number | Placed)[];
}

/** The chains that a list of a config or a target replaces or changes. */
export interface OuterChains {
  readonly request: ListPart;
  readonly attempt: ListPart;
}

export const pluginOf = (item: ChainItem): string => (typeof item === 'string' ? item : item.plugin);

export const instanceOf = (item: ChainItem): string => (typeof item === 'string' ? item : (item.name ?? item.plugin));

/** The part of the list at `list`, as another list has it: with the place of each item here. */
export const inherited = ({ items, indexes }: ListPart, list: ListPlace): ListPart => ({
  items,
  indexes: indexes.map((index) => inheritedFrom(index, list)),
});

function inheritedFrom(index: number | Placed, { file, path }: ListPlace): Placed {
  if (typeof index === 'number') return { at: [], from: { file, path: [...path, index] } };
  const { at, from = { file, path: [...path, ...at] }, options } = index;
  return { at: [], from, ...(options && { options }) };
}
