import type { PluginLevel } from '../../../plugin/index.ts';
import type { ListPlace, Placed, Report } from '../../kernel/report.ts';
import type { ChainItem, ListChecks } from './compile.ts';
import { keptAs } from './kept-plugins.ts';
import { instanceOf, pluginOf, type ListPart } from './list-part.ts';

type EntryOptions = Readonly<Record<string, unknown>>;

/** An added entry stands beside another one, which says its chain. */
type AddedItem = Exclude<ChainItem, string> & { readonly before?: string; readonly after?: string };

/** Changes of chains in place of a list that replaces them. */
export interface ChainChanges {
  readonly add?: readonly AddedItem[];
  readonly remove?: readonly string[];
  /** By the name of the entry. EntryOptions that are not named here stay. */
  readonly options?: Readonly<Record<string, EntryOptions>>;
}

export const isChanges = <List extends readonly unknown[] | ChainChanges>(
  list: List,
): list is Exclude<List, readonly unknown[]> => !Array.isArray(list);

interface ChangeSetup extends Pick<ListChecks, 'nearest'> {
  readonly list: ListPlace;
  /** Entries that no change may remove. Default: none. */
  readonly always?: readonly ChainItem[];
  /** Whether no plugin after this one runs. */
  readonly ends: (item: ChainItem) => boolean;
}

interface Entry {
  readonly item: ChainItem;
  readonly index: number | Placed;
}

/** A chain while changes are made, and whether one was. */
interface Changing {
  readonly level: PluginLevel;
  entries: Entry[];
  isChanged: boolean;
}

/** The changed chains by level: what is removed goes first, then entries are added in their order, and options set. */
export function changeChains(
  { add = [], remove = [], options = {} }: ChainChanges,
  chains: Readonly<Partial<Record<PluginLevel, ListPart>>>,
  report: Report,
  setup: ChangeSetup,
): Partial<Record<PluginLevel, ListPart>> {
  const changing = Object.entries(chains).map(([level, part]) => toChanging(level as PluginLevel, part));
  const { path } = setup.list;
  for (const [index, name] of remove.entries())
    removeEntries(changing, name, within(report, [...path, 'remove', index]), setup);
  for (const [index, item] of add.entries())
    addEntry(changing, { item, index: { at: ['add', index] } }, within(report, [...path, 'add', index]), setup);
  for (const [name, own] of Object.entries(options)) {
    const at = { file: setup.list.file, path: [...path, 'options', name] };
    setOptions(changing, { name, own, at }, within(report, at.path), setup);
  }
  return Object.fromEntries(changing.filter(({ isChanged }) => isChanged).map((one) => [one.level, toPart(one)]));
}

const toChanging = (level: PluginLevel, { items, indexes }: ListPart): Changing => ({
  level,
  entries: items.map((item, at) => ({ item, index: indexes[at]! })),
  isChanged: false,
});

const toPart = ({ entries }: Changing): ListPart => ({
  items: entries.map(({ item }) => item),
  indexes: entries.map(({ index }) => index),
});

type ReportAt = (message: string, more?: { readonly key?: string; readonly suggestion?: string | undefined }) => void;

const within =
  (report: Report, path: ListPlace['path']): ReportAt =>
  (message, { key, suggestion } = {}) =>
    report({ path: key === undefined ? path : [...path, key], message, ...(suggestion && { suggestion }) });

function removeEntries(chains: readonly Changing[], name: string, report: ReportAt, setup: ChangeSetup): void {
  const found = find(chains, name, report, setup);
  if (!found) return;
  const { chain, isNamed } = found;
  const { always = [] } = setup;
  if (chain.entries.some(({ item }) => isNamed(item) && keptAs(item, always)))
    return report(`"${name}" has \`always: true\` in server.yaml: no list removes it`);
  chain.entries = chain.entries.filter(({ item }) => !isNamed(item));
  chain.isChanged = true;
}

function addEntry(
  chains: readonly Changing[],
  { item: added, index }: { readonly item: AddedItem; readonly index: Placed },
  report: ReportAt,
  setup: ChangeSetup,
): void {
  const { before, after, ...item } = added;
  const [key, name] = before === undefined ? ['after', after ?? ''] : ['before', before];
  const found = find(chains, name, (message, more) => report(message, { ...more, key }), setup);
  if (!found) return;
  const { chain, isNamed } = found;
  const { entries } = chain;
  const isBeside = (entry: Entry): boolean => isNamed(entry.item);
  let at = before === undefined ? entries.findLastIndex(isBeside) : entries.findIndex(isBeside) - 1;
  // A guard in front of that entry reads what the added plugin makes of the request.
  if (before !== undefined) while (at >= 0 && keptAs(entries[at]!.item, setup.always ?? [])) at -= 1;
  if (entries.slice(0, at + 1).some((entry) => setup.ends(entry.item)))
    return report(`no plugin after "${pluginOf(entries.find(({ item: one }) => setup.ends(one))!.item)}" runs`, {
      key,
    });
  chain.entries = [...entries.slice(0, at + 1), { item, index }, ...entries.slice(at + 1)];
  chain.isChanged = true;
}

function setOptions(
  chains: readonly Changing[],
  { name, own, at }: { readonly name: string; readonly own: EntryOptions; readonly at: ListPlace },
  report: ReportAt,
  setup: ChangeSetup,
): void {
  const found = find(chains, name, report, setup);
  if (!found) return;
  const { chain, isNamed } = found;
  chain.entries = chain.entries.map((entry) => {
    const { item, index } = entry;
    if (!isNamed(item)) return entry;
    const before = typeof item === 'string' ? { plugin: item } : item;
    const place = typeof index === 'number' ? { at: [index] } : index;
    return { item: { ...before, options: { ...before.options, ...own } }, index: { ...place, options: at } };
  });
  chain.isChanged = true;
}

/** The chain with entries of this name: of an instance, else of a plugin. */
function find(chains: readonly Changing[], name: string, report: ReportAt, { nearest }: ChangeSetup) {
  for (const nameOf of [instanceOf, pluginOf]) {
    const isNamed = (item: ChainItem): boolean => nameOf(item) === name;
    const chain = chains.find(({ entries }) => entries.some(({ item }) => isNamed(item)));
    if (chain) return { chain, isNamed };
  }
  const names = chains.flatMap(({ entries }) => entries.map(({ item }) => instanceOf(item)));
  const where = chains.map(({ level }) => `the ${level} chain`).join(' and ');
  report(`${where} here: no plugin has the name "${name}"`, { suggestion: nearest(name, names) });
  return undefined;
}
