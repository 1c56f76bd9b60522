import { isMap, isSeq, parseDocument, stringify } from 'yaml';
import type { FileDraft, DraftWish } from '../../../core/process/console-port.ts';
import type { InForce } from '../../../core/process/reload.ts';
import { loadSettings } from '../../../core/settings/read/load.ts';
import { editedFiles } from '../../../core/settings/read/edited-files.ts';
import { join, relative, resolve } from 'node:path';
import { maskSecrets } from '../settings/mask-secrets.ts';
import { unifiedDiff } from './unified-diff.ts';

const MAX_DIAGNOSTICS = 50;

const LISTS = { providers: 'catalog.yaml', keys: 'keys.yaml', prices: 'prices.yaml' } as const;

/**
 * Writes an entry as a patch of the file that would hold it. Only lines are added, so that no other line of the file, and no secret of it, is in
 * the patch but three lines around: they are left out where one of them has a secret.
 */
export async function draftOf(folder: string, { files, settings }: InForce, wish: DraftWish): Promise<FileDraft> {
  const name = LISTS[wish.list];
  const read = files.contents.files.get(join(folder, name));
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
  const after = [...kept.slice(0, at), ...lines, ...kept.slice(at), ''].join('\n');
  const source = editedFiles(folder, { contents: files.contents, stored: settings.stored }, { [name]: after });
  // Without the environment: what a reference names is not read.
  const loaded = await loadSettings(folder, { env: {}, files: source, fakeMissing: true });
  const ofPatch = loaded.diagnostics.filter(
    ({ file, line }) => relative(folder, file) === name && line > at && line <= at + lines.length,
  );
  const hidden = new Set(maskSecrets(before, loaded.secrets()).masked.map(({ line }) => line));
  const patch = unifiedDiff(name, { before, after }, hidden);
  return {
    folder: resolve(folder),
    file: name,
    patch: patch?.text ?? '',
    cut: patch?.cut ?? false,
    ...(!patch && { problem: `the last line of ${name} has a secret and no line break: end the line first` }),
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
