import type { TextKind } from './channels.ts';
import type { Found, Place, TextNode } from './walk.ts';

/** Where the texts of a format's replies are, in the events of a stream and in a plain body alike. */
export interface ReplyLayout {
  readonly root: TextNode;
  /** A stream says a text again, whole, so that the results of all texts are kept until its end. */
  readonly repeats: boolean;
  /**
   * No event says where a text ends, before the end of all: it rests when a text of another kind begins, and may go on later.
   */
  readonly rests: boolean;
  /** A reader for one reply. */
  open(): LayoutReader;
}

export interface LayoutReader {
  /** The channel of a text; undefined for what is no text of the answer. */
  locate(found: Found, root: Place): LocatedText | undefined;
  /** The texts that begin anew with the event, whatever had their numbers before. */
  begins?(root: Place): EndedTexts | undefined;
  /** The texts that end with the event. Default: none, before the end of all */
  ends?(root: Place): EndedTexts | undefined;
}

/** All texts of the reply, or those of a block. */
export type EndedTexts = 'all' | { readonly block: number };

export interface LocatedText {
  /** Different for each channel of a reply. */
  readonly key: string;
  readonly kind: TextKind;
  readonly answer: number;
  readonly block: number;
  /** piece: more of it may follow. whole: a text of its own. repeat: the whole text of the channel, once more. */
  readonly as: 'piece' | 'whole' | 'repeat';
}
