import { isMap, isSeq, parseDocument, stringify } from 'yaml';
import type { FileDraft, DraftWish } from '../../../core/process/console-port.ts';
import type { InForce } from '../../../core/process/reload.ts';
import { loadSettings } from '../../../core/settings/read/load.ts';
import { sentFiles, withStoredObjects, type FileRead } from '../../../core/settings/source/files.ts';
import { join, relative, resolve } from 'node:path';
import { maskSecrets } from '../settings/mask-secrets.ts';

const CONTEXT_LINES = 3;
const MAX_DIAGNOSTICS = 50;

/** Lists of files to which an entry is added. */
const LISTS = { providers: 'catalog.yaml', keys: 'keys.yaml', prices: 'prices.yaml' } as const;

/**
 * Writes an entry as a patch of the file that would hold it. Only lines are added, so that no other line of the file, and no secret of it, is in
 * the patch but three lines before: they are left out where one of them has a secret.
 */
export async function draftOf(folder: string, { files, settings }: InForce, wish: DraftWish): Promise<FileDraft> {
  const name = LISTS[wish.list];
  const path = join(folder, name);
  const read = files.contents.files.get(path);
  const before = read && 'text' in read ? read.text : '';
  const added = linesToAdd(before, wish);
  if (!added)
    return {
      folder: resolve(folder),
      file: name,
      patch: '',
      problem: `\`${wish.list}\` of ${name} is not a list of lines: add the entry by hand`,
    };
  const { at, lines } = added;
  const kept = before === '' ? [] : before.replace(/\n$/, '').split('\n');
  const after = [...kept.slice(0, at), ...lines, ...kept.slice(at)];
  const replaced = new Map<string, FileRead>(files.contents.files).set(path, { text: `${after.join('\n')}\n` });
  const sent = sentFiles(() => ({ ...files.contents, files: replaced }));
  const { stored } = settings;
  const source = stored ? withStoredObjects(sent, () => stored) : sent;
  // Without the environment: what a reference names is not read.
  const loaded = await loadSettings(folder, { env: {}, files: source, fakeMissing: true });
  const ofPatch = loaded.diagnostics.filter(
    ({ file, line }) => relative(folder, file) === name && line > at && line <= at + lines.length,
  );
  return {
    folder: resolve(folder),
    file: name,
    patch: patchOf(name, before, { kept, at, lines, hidden: maskSecrets(before, loaded.secrets()).masked }),
    diagnostics: ofPatch.slice(0, MAX_DIAGNOSTICS).map((one) => ({ ...one, file: name })),
  };
}

/** Undefined: the list is written in one line, or is no list. */
function linesToAdd(
  text: string,
  { list, entry }: DraftWish,
): { readonly at: number; readonly lines: readonly string[] } | undefined {
  const document = parseDocument(text, { keepSourceTokens: true });
  const root = document.contents;
  if (document.errors.length > 0) return undefined;
  const total = text === '' ? 0 : text.replace(/\n$/, '').split('\n').length;
  if (root === null) return { at: total, lines: [`${list}:`, ...itemLines(entry, '  ')] };
  if (!isMap(root) || root.flow) return undefined;
  const value = root.get(list, true);
  if (value === undefined) return { at: total, lines: [`${list}:`, ...itemLines(entry, '  ')] };
  if (!isSeq(value) || value.flow || value.items.length === 0) return undefined;
  const [first] = value.items;
  const [last] = value.items.slice(-1);
  const start = rangeOf(first)?.[0];
  const end = rangeOf(last)?.[1];
  if (start === undefined || end === undefined) return undefined;
  const lineStart = text.lastIndexOf('\n', start) + 1;
  const indent = /^ */.exec(text.slice(lineStart))?.[0] ?? '';
  if (!text.slice(lineStart).startsWith(`${indent}-`)) return undefined;
  // The end of a block is behind its last line break.
  return { at: text.slice(0, end).replace(/\s*$/, '').split('\n').length, lines: itemLines(entry, indent) };
}

const rangeOf = (node: unknown): readonly number[] | undefined =>
  typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range)
    ? (node.range as readonly number[])
    : undefined;

const itemLines = (entry: object, indent: string): readonly string[] =>
  stringify([entry], { lineWidth: 0 })
    .trimEnd()
    .split('\n')
    .map((line) => (line === '' ? line : indent + line));

interface Change {
  readonly kept: readonly string[];
  readonly at: number;
  readonly lines: readonly string[];
  /** Lines with a secret, or with a part or the digest of one. */
  readonly hidden: readonly { readonly line: number }[];
}

/** A unified diff that only adds lines. A context with a secret is left out: `git apply --unidiff-zero` takes it then. */
function patchOf(name: string, before: string, { kept, at, lines, hidden }: Change): string {
  const context = (from: number, to: number): readonly string[] => {
    return hidden.some(({ line }) => line > from && line <= to) ? [] : kept.slice(Math.max(0, from), to);
  };
  const [above, below] = [context(at - CONTEXT_LINES, at), context(at, at + CONTEXT_LINES)];
  const start = above.length > 0 || below.length > 0 ? at - above.length + 1 : at;
  const size = above.length + below.length;
  const isNew = before === '';
  return [
    isNew ? '--- /dev/null' : `--- a/${name}`,
    `+++ b/${name}`,
    `@@ -${isNew ? '0,0' : `${start},${size}`} +${above.length > 0 || below.length > 0 ? start : at + 1},${size + lines.length} @@`,
    ...above.map((line) => ` ${line}`),
    ...lines.map((line) => `+${line}`),
    ...below.map((line) => ` ${line}`),
    '',
  ].join('\n');
}
