import { isMap, isScalar, type Pair, type YAMLMap } from 'yaml';
import {
  BY_HAND,
  checked,
  endOf,
  endOfLine,
  findList,
  insertAt,
  lineEndOf,
  splice,
  type Cut,
  type FileEdit,
} from './edit-keys.ts';

interface Rotation {
  /** Digest of the new key. */
  readonly digest: string;
  readonly previous: { readonly digest: string; readonly expires_at: string };
}

/** Replaces the digest of the entry at `index`, and writes or replaces its `previous`. Every other character stays. */
export function rotateEntry(text: string, index: number, rotation: Rotation): FileEdit {
  const entry = findList(text)?.seq.items[index];
  const cuts = isMap(entry) ? cutsOf(text, entry, rotation) : undefined;
  if (!cuts) return { problem: BY_HAND };
  return checked(text, splice(text, cuts), (keys) =>
    keys.map((key, at) => (at === index ? { ...Object(key), ...rotation } : key)),
  );
}

function cutsOf(text: string, entry: YAMLMap, { digest, previous }: Rotation): readonly Cut[] | undefined {
  const pair = pairOf(entry, 'digest');
  const value = pair && rangeOf(pair.value, text);
  if (!value || !isScalar(pair.value)) return undefined;
  const replaced: Cut = { ...value, insert: JSON.stringify(digest) };
  const written = `{ digest: ${JSON.stringify(previous.digest)}, expires_at: ${JSON.stringify(previous.expires_at)} }`;
  const old = pairOf(entry, 'previous');
  if (old) {
    const oldValue = rangeOf(old.value, text);
    return oldValue && [replaced, { ...oldValue, insert: written }];
  }
  if (entry.flow) return [replaced, insertAt(value.to, `, previous: ${written}`)];
  const start = isScalar(pair.key) ? pair.key.range?.[0] : undefined;
  if (start === undefined) return undefined;
  const indent = ' '.repeat(start - (text.lastIndexOf('\n', start - 1) + 1));
  return [replaced, insertAt(endOfLine(text, value.to), `${lineEndOf(text)}${indent}previous: ${written}`)];
}

const pairOf = (entry: YAMLMap, name: string): Pair | undefined =>
  entry.items.find(({ key }) => isScalar(key) && key.value === name);

function rangeOf(node: unknown, text: string): { readonly from: number; readonly to: number } | undefined {
  const from = isScalar(node) || isMap(node) ? node.range?.[0] : undefined;
  return from === undefined ? undefined : { from, to: endOf(node, text) };
}
