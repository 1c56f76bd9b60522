import type { Placed } from '../../kernel/report.ts';
import type { ChainItem } from './compile.ts';
import { instanceOf, pluginOf, type ListPart } from './list-part.ts';

/** Entries are the same by the plugin and the name of the instance. */
const isSame = (a: ChainItem, b: ChainItem): boolean => pluginOf(a) === pluginOf(b) && instanceOf(a) === instanceOf(b);

const isAlways = (item: ChainItem): boolean => typeof item !== 'string' && item.always === true;

export const alwaysIn = (chain: readonly ChainItem[] = []): readonly ChainItem[] => chain.filter(isAlways);

/** The entry of the chain that has this item's options; undefined: the item has its own, or no list must keep it. */
export const keptAs = (item: ChainItem, chain: readonly ChainItem[]): ChainItem | undefined =>
  chain.find((entry) => isAlways(entry) && isSame(entry, item));

export const hasOptions = (item: ChainItem): boolean => typeof item !== 'string' && item.options !== undefined;

/**
 * A list with the entries of server.yaml's chain that have `always: true`. One that the list names stays there, with
 * the options of server.yaml unless the list has its own. Another one runs before the next plugin of that chain that
 * the list has, at the latest before the plugin that ends the chain; without such a plugin first of all, because any
 * may reply.
 * @param chain with the places in server.yaml
 * @param ends whether no plugin after this one runs: `route`, `send`
 */
export function withKept(list: ListPart, chain: ListPart, ends: (item: ChainItem) => boolean): ListPart {
  const placed = list.items.map((item, at) => ({ item, index: list.indexes[at]! }));
  const isOwn = (index: number | Placed): boolean => typeof index === 'number';
  const taken = new Set<number | Placed>();
  for (const [always, entry] of [...chain.items.entries()].toReversed()) {
    if (!isAlways(entry)) continue;
    // Two entries may be the same plugin under one name: each is another item of the list, or is added.
    const named = placed.findLastIndex(({ item, index }) => isOwn(index) && !taken.has(index) && isSame(item, entry));
    const end = placed.findIndex(({ item }) => ends(item));
    if (named >= 0 && (end < 0 || named <= end)) {
      taken.add(placed[named]!.index);
      if (!hasOptions(placed[named]!.item)) placed[named] = { ...placed[named]!, item: entry };
      continue;
    }
    // Behind the end it would never run.
    if (named >= 0) placed.splice(named, 1);
    const next = chain.items
      .slice(always + 1)
      .map((later) => placed.findIndex(({ item }) => pluginOf(item) === pluginOf(later)))
      .find((at) => at >= 0);
    const latest = Math.max(end, 0);
    const from = chain.indexes[always]!;
    const index = { at: [], ...(typeof from === 'object' && from), kept: true };
    placed.splice(Math.min(next ?? latest, latest), 0, { item: entry, index });
  }
  return { items: placed.map(({ item }) => item), indexes: placed.map(({ index }) => index) };
}
