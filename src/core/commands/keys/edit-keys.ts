import { isDeepStrictEqual } from 'node:util';
import { isAlias, isCollection, isMap, isNode, isScalar, isSeq, stringify, type Pair, type YAMLSeq } from 'yaml';
import { YamlFile } from '../../settings/source/yaml-file.ts';

/** An edited keys.yaml. Each character outside of the edit stays: printing the tree would lose comments and layout. */
export type FileEdit = { readonly text: string } | { readonly problem: string };

/** The fields of a new entry, in this order. */
export type NewEntry = Readonly<Record<string, string | readonly string[]>>;

export interface Cut {
  readonly from: number;
  readonly to: number;
  readonly insert?: string;
}

export const BY_HAND = 'the layout of the file does not allow a safe edit: edit it by hand';

/** Removes the entry at `index`. Comments around the entry stay; those inside it are removed with it. */
export function removeEntry(text: string, index: number): FileEdit {
  const list = findList(text);
  if (!list || list.seq.flow || list.seq.items[index] === undefined) return { problem: BY_HAND };
  return checked(text, cutFromBlock(text, list, index), (keys) => keys.toSpliced(index, 1));
}

/** Appends an entry, with `comment` above it. */
export function appendEntry(text: string, entry: NewEntry, comment?: string): FileEdit {
  const list = findList(text);
  if (!list) return { problem: BY_HAND };
  const edited = list.seq.flow
    ? replaceEmptyList(text, list, { entry, comment })
    : appendLines(text, list, { entry, comment });
  return edited === undefined ? { problem: BY_HAND } : checked(text, edited, (keys) => [...keys, entry]);
}

interface List {
  readonly pair: Pair;
  readonly seq: YAMLSeq;
}

export function findList(text: string): List | undefined {
  const { document, syntaxErrors } = YamlFile.parse('keys.yaml', text);
  const { contents } = document;
  if (syntaxErrors.length > 0 || !isMap(contents) || contents.flow) return undefined;
  const pair = contents.items.find(({ key }) => isScalar(key) && key.value === 'keys');
  return pair && isSeq(pair.value) ? { pair, seq: pair.value } : undefined;
}

/** Accepts an edit only if the content is as intended: after a block scalar a comment can become text. */
export function checked(before: string, after: string, expected: (keys: readonly unknown[]) => unknown): FileEdit {
  const [old, now] = [before, after].map((text) => YamlFile.parse('keys.yaml', text));
  if (!old || !now || now.syntaxErrors.length > 0) return { problem: BY_HAND };
  const [was, is] = [plain(old), plain(now)];
  const same = was && is && isDeepStrictEqual(is, { ...was, keys: expected(was.keys) });
  return same ? { text: after } : { problem: BY_HAND };
}

function plain({ document }: YamlFile): { readonly keys: readonly unknown[] } | undefined {
  try {
    const value: unknown = document.toJS();
    return typeof value === 'object' && value !== null && 'keys' in value && Array.isArray(value.keys)
      ? { ...value, keys: value.keys }
      : undefined;
  } catch {
    // An alias whose anchor was in the removed entry.
    return undefined;
  }
}

function cutFromBlock(text: string, { pair, seq }: List, index: number): string {
  const indicator = indicatorOf(seq, index) ?? 0;
  const lineStart = text.lastIndexOf('\n', indicator - 1) + 1;
  const ownLine = text.slice(lineStart, indicator).trim() === '';
  const lineEnd = endOfLine(text, endOf(seq.items[index], text));
  const lines: Cut = ownLine ? { from: lineStart, to: nextLine(text, lineEnd) } : { from: indicator, to: lineEnd };
  const cuts = [ownLine ? withoutDoubleGap(text, lines) : lines];
  // A key without a value is null, not a list.
  if (seq.items.length === 1) cuts.push(insertAt(afterColon(pair), ' []'));
  return splice(text, cuts);
}

/** Of two blank lines around an entry one remains, and none at the end of a file without a final newline. */
function withoutDoubleGap(text: string, { from, to }: Cut): Cut {
  if (to === text.length && !text.endsWith('\n')) return { from: text.slice(0, from).replace(/\r?\n$/, '').length, to };
  const blankBefore = /(^|\n)[ \t]*\r?\n$/.test(text.slice(0, from));
  const blankAfter = /^[ \t]*\r?\n/.exec(text.slice(to));
  return { from, to: blankBefore && blankAfter ? to + blankAfter[0].length : to };
}

function appendLines(text: string, { seq }: List, added: Added): string {
  const indicator = indicatorOf(seq, 0) ?? 0;
  const indent = indicator - (text.lastIndexOf('\n', indicator - 1) + 1);
  return splice(text, [insertAt(endOfLine(text, endOf(seq.items.at(-1), text)), lines(text, added, indent))]);
}

/** `keys: []`. Undefined: a list in brackets that has entries or comments in it. */
function replaceEmptyList(text: string, { seq, pair }: List, added: Added): string | undefined {
  const [start = 0, end = 0] = seq.range ?? [];
  if (text.slice(start + 1, end - 1).trim() !== '') return undefined;
  const key = isScalar(pair.key) ? (pair.key.range?.[0] ?? 0) : 0;
  const indent = key - (text.lastIndexOf('\n', key - 1) + 1) + 2;
  const from = text.slice(0, start).trimEnd().length;
  return splice(text, [{ from, to: end }, insertAt(endOfLine(text, end), lines(text, added, indent))]);
}

interface Added {
  readonly entry: NewEntry;
  readonly comment: string | undefined;
}

/** An entry as separate lines, to insert at the end of a line. */
function lines(text: string, { entry, comment }: Added, indent: number): string {
  const eol = lineEndOf(text);
  const above = comment === undefined ? [] : ['', ...comment.split('\n').map((line) => `# ${line}`)];
  const added = [...above, ...formatEntry(entry).split('\n')];
  return added.map((line) => (line === '' ? eol : `${eol}${' '.repeat(indent)}${line}`)).join('');
}

export const lineEndOf = (text: string): string => /\r?\n/.exec(text)?.[0] ?? '\n';

/** Formats an entry, `- id: …`, for keys.yaml without indentation. */
export const formatEntry = (entry: NewEntry): string => stringify([entry], { lineWidth: 0 }).trimEnd();

export const splice = (text: string, cuts: readonly Cut[]): string =>
  cuts
    .toSorted((a, b) => b.from - a.from)
    .reduce((rest, { from, to, insert = '' }) => rest.slice(0, from) + insert + rest.slice(to), text);

export const insertAt = (offset: number, insert: string): Cut => ({ from: offset, to: offset, insert });

/** The offset of the `-` before an item. Undefined: the list is in brackets. */
function indicatorOf({ srcToken }: YAMLSeq, index: number): number | undefined {
  const tokens = srcToken?.type === 'block-seq' ? (srcToken.items[index]?.start ?? []) : [];
  return tokens.find(({ type }) => type === 'seq-item-ind')?.offset;
}

/** The offset after the colon of `keys:`, and after an anchor or tag of its value. */
function afterColon({ srcToken }: Pair): number {
  const tokens = srcToken && 'sep' in srcToken ? (srcToken.sep ?? []) : [];
  const last = tokens.findLast(({ type }) => type === 'map-value-ind' || type === 'anchor' || type === 'tag');
  return last ? last.offset + last.source.length : 0;
}

/** The offset of a value's end. Comments after it belong to the next token. */
export function endOf(node: unknown, text: string): number {
  if (isCollection(node) && !node.flow) {
    const last: unknown = node.items.at(-1);
    return endOf(
      typeof last === 'object' && last !== null && 'value' in last && !isNode(last) ? last.value : last,
      text,
    );
  }
  const end = isAlias(node) || isScalar(node) || isCollection(node) ? (node.range?.[1] ?? 0) : 0;
  return text.slice(0, end).trimEnd().length;
}

export function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  if (end === -1) return text.length;
  return text[end - 1] === '\r' ? end - 1 : end;
}

function nextLine(text: string, lineEnd: number): number {
  const end = text.indexOf('\n', lineEnd);
  return end === -1 ? text.length : end + 1;
}
