import { TreeFragment, type SyntaxNode, type Tree } from '@lezer/common';
import { parser } from '@lezer/yaml';

/** A part of a settings file as far as it can be read: a text that is being written has no other form yet. Offsets are those of the text. */
export type YamlNode =
  | { readonly kind: 'map'; readonly from: number; readonly entries: readonly YamlEntry[] }
  | { readonly kind: 'seq'; readonly from: number; readonly items: readonly YamlNode[] }
  | { readonly kind: 'scalar'; readonly from: number; readonly to: number; readonly text: string };

interface YamlEntry {
  readonly key: string;
  readonly from: number;
  readonly to: number;
  readonly value: YamlNode | undefined;
}

/** Where a text ends: the keys and indexes around it, and the word that is being written there. */
export interface YamlPlace {
  readonly path: readonly (string | number)[];
  /** `item`: of a list, a value or the first key of a map. */
  readonly in: 'key' | 'value' | 'item';
  readonly word: { readonly from: number; readonly quote: string };
}

/** Deeper texts are read to there. */
const MAX_DEPTH = 200;
/** The end of a longer word is completed. */
const MAX_WORD = 256;

const childrenOf = (node: SyntaxNode): readonly SyntaxNode[] => {
  const children: SyntaxNode[] = [];
  for (let child = node.firstChild; child; child = child.nextSibling)
    if (child.name !== 'Comment') children.push(child);
  return children;
};

/** In a list whose end is not written yet, the parser takes a value for the key of a map without braces. */
const isNoMap = (node: SyntaxNode): boolean =>
  node.name === 'FlowMapping' && !node.getChild('{') && !node.getChild('Pair')?.getChild(':');

/** The value of a pair; the parser may have lost what is behind the colon. */
const valueOf = (pair: SyntaxNode): SyntaxNode | undefined => {
  const children = childrenOf(pair);
  const colon = children.findIndex(({ name }) => name === ':');
  return colon < 0 ? undefined : children[colon + 1];
};

const textOf = ({ from, to }: SyntaxNode, text: string): string =>
  text.slice(from, to).replace(/^(["'])(.*?)\1?$/s, '$2');

function nodeOf(node: SyntaxNode | undefined, text: string, depth: number): YamlNode | undefined {
  if (!node || node.type.isError || depth > MAX_DEPTH) return undefined;
  const { name, from, to } = node;
  if (name === 'Literal' || name === 'QuotedLiteral' || name === 'Alias')
    return { kind: 'scalar', from, to, text: textOf(node, text) };
  if (name.endsWith('Sequence')) return { kind: 'seq', from, items: itemsOf(node, text, depth) };
  if (name.endsWith('Mapping') && !isNoMap(node)) {
    const pairs = node.getChildren('Pair');
    return {
      kind: 'map',
      from: name === 'FlowMapping' ? from : (pairs[0]?.from ?? from),
      entries: pairs.flatMap((pair) => {
        const key = pair.getChild('Key');
        const value = nodeOf(valueOf(pair), text, depth + 1);
        return key ? [{ key: textOf(key, text), from: key.from, to: key.to, value }] : [];
      }),
    };
  }
  const inner = childrenOf(node).findLast(({ type }) => !type.isError);
  return name.startsWith('BlockLiteral') ? undefined : nodeOf(inner, text, depth + 1);
}

/** An item of a block that has no value yet is an empty text: the others keep their numbers. */
function itemsOf(node: SyntaxNode, text: string, depth: number): readonly YamlNode[] {
  const items: YamlNode[] = [];
  for (const { name, from, to, node: own } of childrenOf(node)) {
    if (name === '-') items.push({ kind: 'scalar', from, to, text: '' });
    if (name !== 'Item') continue;
    const item = nodeOf(own, text, depth + 1) ?? { kind: 'scalar', from, to: from, text: '' };
    items.splice(node.name === 'BlockSequence' ? -1 : items.length, 1, item);
  }
  return items;
}

/** The last whole text: the next one differs from it by a letter. */
let last: { readonly text: string; readonly tree: Tree; readonly root: YamlNode | undefined } | undefined;

/** Parts that the last whole text has, too, are not parsed again. */
function parse(text: string): Tree {
  if (!last) return parser.parse(text);
  const { text: old, tree } = last;
  const most = Math.min(old.length, text.length);
  let [start, end] = [0, 0];
  while (start < most && old[start] === text[start]) start += 1;
  while (end < most - start && old.at(-1 - end) === text.at(-1 - end)) end += 1;
  const change = { fromA: start, toA: old.length - end, fromB: start, toB: text.length - end };
  return parser.parse(text, TreeFragment.applyChanges(TreeFragment.addTree(tree), [change]));
}

export function readYaml(text: string): YamlNode | undefined {
  if (last?.text === text) return last.root;
  const tree = parse(text);
  const root = nodeOf(tree.topNode.getChild('Document')?.firstChild ?? undefined, text, 0);
  last = { text, tree, root };
  return root;
}

/** Undefined: in a comment or in a text of several lines. */
export function placeAt(text: string, offset: number): YamlPlace | undefined {
  const before = text.slice(0, offset);
  // Any letter: where nothing is written yet, it shows what would be there.
  const marked = `${before}x`;
  const at = parse(marked).resolveInner(marked.length, -1);
  if (/^(?:Comment|BlockLiteral)/.test(at.name) || marked.slice(at.from, at.to).includes('\n')) return undefined;
  const quote = at.name === 'QuotedLiteral' ? (before[at.from] ?? '') : '';
  const word = /[^\s,{}[\]"']*$/.exec(before.slice(-MAX_WORD))![0];
  const from = quote === '' ? offset - word.length : at.from + 1;
  return { ...wayTo(at, marked), word: { from, quote } };
}

function wayTo(at: SyntaxNode, text: string): Pick<YamlPlace, 'path' | 'in'> {
  const path: (string | number)[] = [];
  let inside: YamlPlace['in'] | undefined;
  for (let node = at, parent = at.parent; parent && path.length <= MAX_DEPTH; node = parent, parent = parent.parent) {
    if (parent.name === 'Item') {
      path.unshift(placeInList(node, parent.parent));
      inside ??= 'item';
    } else if (parent.name === 'Pair' && node.name !== 'Key') {
      const key = parent.getChild('Key');
      path.unshift(key ? textOf(key, text) : '');
      // A text below its key begins a map.
      inside ??= text.slice(key?.to, node.from).includes('\n') ? 'key' : 'value';
    } else if (parent.name.endsWith('Mapping') && !isNoMap(parent)) inside ??= 'key';
  }
  return { path, in: inside ?? 'key' };
}

function placeInList(node: SyntaxNode, list: SyntaxNode | null): number {
  const isBlock = list?.name === 'BlockSequence';
  const before = (list ? childrenOf(list) : []).filter(
    ({ name, from }) => name === (isBlock ? '-' : 'Item') && from < node.from,
  );
  return before.length - Number(isBlock);
}

export function nodeAt(root: YamlNode | undefined, path: readonly (string | number)[]): YamlNode | undefined {
  return path.reduce<YamlNode | undefined>((node, step) => {
    if (typeof step === 'number') return node?.kind === 'seq' ? node.items[step] : undefined;
    return node?.kind === 'map' ? node.entries.find(({ key }) => key === step)?.value : undefined;
  }, root);
}

/** The texts of a map's members; undefined: a member is no text. */
export const memberOf = (node: YamlNode | undefined, key: string): string | undefined => {
  const value = nodeAt(node, [key]);
  return value?.kind === 'scalar' ? value.text : undefined;
};
