import { signal } from '@preact/signals';
import { holdsDrafts } from '../../parts/unsaved.ts';
import type { OpenText } from './load.ts';

/** A text that is not saved. It stays in memory while the page is open, whatever the address. */
export interface TextEdit {
  readonly text: string;
  /** The text with which the person began. */
  readonly of: OpenText;
}

export const edits = signal<Readonly<Record<string, TextEdit>>>({});
holdsDrafts(() => Object.keys(edits.value).length > 0);

export function edit(of: OpenText, text: string): void {
  const { [of.path]: before, ...others } = edits.value;
  const began = before?.of ?? of;
  edits.value = text === began.text && !began.isNew ? others : { ...others, [of.path]: { text, of: began } };
}

export function dropEdit(path: string): void {
  const { [path]: _, ...others } = edits.value;
  edits.value = others;
}

/** The text stays, as an edit of what is in force now. */
export function rebase(of: OpenText): void {
  const { [of.path]: before, ...others } = edits.value;
  if (before) edits.value = { ...others, [of.path]: { text: before.text, of } };
}

/** All texts that are not saved, with the one that is shown: the validator and the effect see them together. */
export const textsWith = (path: string, text: string): Readonly<Record<string, string>> => ({
  ...Object.fromEntries(Object.entries(edits.value).map(([name, one]) => [name, one.text])),
  [path]: text,
});

/** A browser's text may lack the end of its last line. */
const isSame = (one: string, other: string): boolean => one.trimEnd() === other.trimEnd();

/** An edit that has come into force is none. */
export function settle(now: OpenText): void {
  const own = edits.value[now.path];
  if (own && !now.isNew && isSame(own.text, now.text)) dropEdit(now.path);
}

/** Something else has come into force since the person began. */
export const isBehind = (one: TextEdit | undefined, now: OpenText): boolean =>
  one !== undefined && one.of.text !== now.text;
