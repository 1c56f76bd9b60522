import type { Loss } from './conversation.ts';

/** A body that is read key by key, without parsing all of it. */
export interface BodyView {
  has(key: string): boolean;
  value(key: string): unknown;
}
/** A value to set at a path of a body; `undefined` removes the field. */
export interface BodyEdit {
  readonly path: readonly string[];
  readonly value: unknown;
  readonly source: string;
}

/** A body that can also be searched as text, which costs a hundredth of parsing it. */
export interface SearchableBody extends BodyView {
  contains(text: string): boolean;
  /**
   * True when the text may match: a search for names of ASCII letters.
   * @param keys a text that matches has one of them: most bodies have none, and finding that out allocates nothing
   */
  mayMatch(pattern: RegExp, keys?: readonly string[]): boolean;
}

/** Edits that a body needs before it is passed through, and the losses they cause. */
export interface Cleaning {
  readonly edits: readonly BodyEdit[];
  /** Headers beside the body, with lower-case names. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly losses: readonly Loss[];
}
