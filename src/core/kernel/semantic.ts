// The semantic cache: a request gets the cached reply to another one when the two differ in the last user text alone,
// and the texts are near.

/** Facts that a vector does not show reliably. A reply never serves two texts that differ in one of the first three. */
export interface TextFacts {
  /** Numbers, number words, dates and units, in order. */
  readonly numbers: string;
  /** Negations and words with an opposite, in alphabetical order. */
  readonly polarity: string;
  /** Capitalised words and words with digits, in alphabetical order. */
  readonly names: string;
  /** All other words of content, in order. */
  readonly words: string;
}

/** A request whose last user text may differ from that of a stored one. */
export interface ComparedText {
  readonly text: string;
  readonly facts: TextFacts;
  /** The bytes of `messages` before and after the text: they must be equal. */
  readonly around: readonly [Buffer, Buffer];
}

/**
 * Why a request is compared exactly only. operation: it generates no text. last_turn: the last message is not a user's
 * text. media, tools: a message has a part that is no text, a tool call or a tool's result. long_text, empty_text: the
 * text has too many words, or none. large_body: reading its messages would block the process.
 */
export type Uncompared = 'operation' | 'last_turn' | 'media' | 'tools' | 'long_text' | 'empty_text' | 'large_body';

/** Which texts are compared with each other. */
export interface TextPlace {
  /** Who shares replies; the bounds of the store apply to each scope. */
  readonly scope: string;
  /** Digest of the whole request except the text. */
  readonly group: string;
}

/** A stored text, by the key of its reply. */
export interface KeptText {
  readonly key: string;
  readonly facts: TextFacts;
  /** Undefined once its vector is known. */
  readonly text: string | undefined;
}

/**
 * hit: a near text was found. unfit: the request is compared exactly only. first: no text is stored in its group.
 * differs: every stored text differs in a fact. below_threshold: no vector is near enough. late, failed: there were no
 * vectors.
 */
type SemanticResult = 'hit' | 'unfit' | 'first' | 'differs' | 'below_threshold' | 'late' | 'failed';

/** The result of a look-up in the semantic cache. */
export interface SemanticLookup {
  readonly result: SemanticResult;
  /** With `unfit` why, with `differs` the fact, with `failed` the code of the error. */
  readonly reason?: string | undefined;
  /** The greatest cosine of the texts that were compared. */
  readonly similarity?: number | undefined;
  /** The call for vectors; undefined when none was made. */
  readonly embedding?: EmbeddingCall | undefined;
}

/** A call for vectors. Times are monotonic milliseconds. */
export interface EmbeddingCall {
  readonly slug: string;
  /** As in `ResolvedTarget`. */
  readonly modelLabel: string;
  readonly from: number;
  readonly to: number;
  /** Input tokens that the upstream reports. */
  readonly tokens: number | undefined;
  /** By which the call is priced; undefined where nothing was sent, or the upstream refused. */
  readonly sent?:
    | {
        readonly provider: string;
        readonly model: string;
        readonly region: string | undefined;
        /** The model that the upstream reports. */
        readonly answered: string | undefined;
        /** Bytes of the request. */
        readonly bytes: number;
      }
    | undefined;
  readonly result: 'success' | 'late' | 'failed';
}
