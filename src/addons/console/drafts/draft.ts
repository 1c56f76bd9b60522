import { isMap, isSeq, parseDocument, stringify } from 'yaml';
import type { FileDraft, DraftWish } from '../../../core/process/console-port.ts';
import type { InForce } from '../../../core/process/reload.ts';
import type { Diagnostic } from '../../../core/settings/source/diagnostic.ts';
import { loadSettings } from '../../../core/settings/read/load.ts';
import { sentFiles, withStoredObjects, type FileRead, type FolderRead } from '../../../core/settings/source/files.ts';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { maskSecrets } from '../settings/mask-secrets.ts';
import { textPatch } from './text-patch.ts';

const CONTEXT_LINES = 3;
const MAX_DIAGNOSTICS = 50;

/** Lists of files to which an entry is added. */
const LISTS = { providers: 'catalog.yaml', keys: 'keys.yaml' } as const;

type EntryWish = Extract<DraftWish, { readonly list: unknown }>;

/** Writes a wish as a patch of the file that would hold it. */
export async function draftOf(folder: string, inForce: InForce, wish: DraftWish): Promise<FileDraft> {
  const file = 'file' in wish ? wish.file : LISTS[wish.list];
  const read = inForce.files.contents.files.get(join(folder, file));
  const before = read && 'text' in read ? read.text : '';
  const draft = { folder: resolve(folder), file };
  if ('file' in wish) {
    const { text } = wish;
    const { diagnostics } = await loadWith(folder, inForce, { file, text });
    return { ...draft, patch: textPatch(file, before, text), diagnostics };
  }
  const added = linesToAdd(before, wish);
  if (!added) {
    const problem = `\`${wish.list}\` of ${file} is not a list of lines: add the entry by hand`;
    return { ...draft, patch: '', problem };
  }
  const { at, lines } = added;
  const kept = before === '' ? [] : before.replace(/\n$/, '').split('\n');
  const after = [...kept.slice(0, at), ...lines, ...kept.slice(at)];
  const { diagnostics, secrets } = await loadWith(folder, inForce, { file, text: `${after.join('\n')}\n` });
  return {
    ...draft,
    patch: patchOf(file, before, { kept, at, lines, hidden: maskSecrets(before, secrets).masked }),
    diagnostics: diagnostics.filter(({ line }) => line > at && line <= at + lines.length),
  };
}

/** The settings with another text of a file: its mistakes, and the secrets of all files. Without the environment: what a reference names is not read. */
async function loadWith(
  folder: string,
  { files, settings: { stored } }: InForce,
  { file, text }: { readonly file: string; readonly text: string },
): Promise<{ readonly diagnostics: readonly Diagnostic[]; readonly secrets: readonly string[] }> {
  const replaced = new Map<string, FileRead>(files.contents.files).set(join(folder, file), { text });
  const sent = sentFiles(() => ({ folders: withFile(files.contents.folders, join(folder, file)), files: replaced }));
  const source = stored ? withStoredObjects(sent, () => stored) : sent;
  const loaded = await loadSettings(folder, { env: {}, files: source, fakeMissing: true });
  const own = loaded.diagnostics.filter((one) => relative(folder, one.file) === file).slice(0, MAX_DIAGNOSTICS);
  return { diagnostics: own.map((one) => ({ ...one, file })), secrets: loaded.secrets() };
}

/** A file that is not there yet is in the list of its folder, and its folder in that of the settings. */
function withFile(folders: ReadonlyMap<string, FolderRead>, path: string): Map<string, FolderRead> {
  const all = new Map(folders);
  const [folder, above] = [dirname(path), dirname(dirname(path))];
  const namesOf = (one: string): Extract<FolderRead, { readonly names: unknown }> => {
    const known = all.get(one);
    return known && 'names' in known ? known : { names: [], folders: [] };
  };
  const own = namesOf(folder);
  if (!own.names.includes(basename(path))) all.set(folder, { ...own, names: [...own.names, basename(path)] });
  const outer = namesOf(above);
  if (all.has(above) && !outer.folders.includes(basename(folder)))
    all.set(above, { names: [...outer.names, basename(folder)], folders: [...outer.folders, basename(folder)] });
  return all;
}

/** Undefined: the list is written in one line, or is no list. */
function linesToAdd(
  text: string,
  { list, entry }: EntryWish,
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
