/** Kinds of text of a reply. tool_result: of a tool that the vendor runs. error: the message of a failed upstream. Media are no texts. */
export type TextKind = 'text' | 'thinking' | 'refusal' | 'tool_arguments' | 'tool_result' | 'error';

export const TEXT_KINDS: readonly TextKind[] = [
  'text',
  'thinking',
  'refusal',
  'tool_arguments',
  'tool_result',
  'error',
];

/** One text of a reply: all pieces that a client joins. Each answer and block has its own for each kind. */
export interface TextChannel {
  readonly kind: TextKind;
  /** The number of the answer; 0 unless several were requested. */
  readonly answer: number;
  /** The number of the block, item or call in its answer. */
  readonly block: number;
  /** A signature of the upstream covers the text: a change of it ends the reply. */
  readonly signed: boolean;
}

/** The decision of a transform about the text that it was given. */
export interface TextResult {
  /** Takes the place of the given text without its last `keep` characters. */
  readonly text: string;
  /** The number of characters (UTF-16 units) at the end that are undecided: they do not leave, and are given again. Default: 0. */
  readonly keep?: number;
}

/**
 * Changes one text of a reply. It gets what it kept and the next piece, and `final` with the last one, which may be empty.
 * A GatewayError that it throws ends the reply in the error shape of the client's API.
 */
export type TextTransform = (text: string, final: boolean) => TextResult | string;

/** The characters of the given text from `from` to `to`, at least one, became `text`. */
export interface TextEdit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** The result of a transform that joins. */
export interface EditedText extends TextResult {
  /** All changes, in order: they go into the pieces that they change. Default: none. */
  readonly edits?: readonly TextEdit[];
}

/** Registered: a plugin may have loaded another copy of this module. */
const JOINS = Symbol.for('gatehouse.joins');

/** A transform to which pieces that come together are given as one, because it says what it changes. */
export interface JoiningTransform {
  (text: string, final: boolean): EditedText;
  readonly [JOINS]: true;
}

export const joining = (transform: (text: string, final: boolean) => EditedText): JoiningTransform =>
  Object.assign(transform, { [JOINS]: true as const });

export const isJoining = (transform: TextTransform): transform is JoiningTransform => JOINS in transform;

/** The transform of a channel; undefined: the text passes. */
export type OpenTransform = (channel: TextChannel) => TextTransform | undefined;
