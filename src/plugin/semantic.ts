import type { CachedReply, Sender } from './capabilities.ts';
import type { Attempt, Exchange } from './exchange.ts';
import type { SemanticSettings } from './settings.ts';

// The semantic cache: a request gets the cached reply to another one when the two differ in the last user text alone,
// and the texts are near.

/** What a vector does not show reliably. Texts that differ in one of these facts never stand for each other. */
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
export type SemanticResult = 'hit' | 'unfit' | 'first' | 'differs' | 'below_threshold' | 'late' | 'failed';

/** What became of a look-up by meaning. */
export interface SemanticLookup {
  readonly result: SemanticResult;
  /** Of `unfit` why, of `differs` the fact, of `failed` the code of the error. */
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
  readonly result: 'success' | 'late' | 'failed';
}

export interface EmbedRequest {
  readonly exchange: Exchange;
  readonly attempt: Attempt;
  readonly settings: SemanticSettings;
  readonly texts: readonly string[];
}

/** Vectors of length 1, in the order of the texts; undefined when they are late or the call failed. */
export interface Embedded {
  readonly vectors: readonly Float32Array[] | undefined;
  /** Undefined when the catalog entry was not found. */
  readonly call: EmbeddingCall | undefined;
  /** Code of the error of a failed call. */
  readonly error?: string | undefined;
}

export interface SemanticCache {
  /** Splits the request into the text that may differ and the rest. */
  split(exchange: Exchange, attempt: Attempt): ComparedText | Uncompared;
  /** Texts of a group, the least recently used first. */
  texts(place: TextPlace): readonly KeptText[];
  /** The first fact in which two texts differ; undefined: they may stand for each other. */
  differsIn(one: TextFacts, other: TextFacts): keyof TextFacts | undefined;
  /** Code of the error with which a call for vectors would fail before anything is sent. */
  problem(request: EmbedRequest): string | undefined;
  /** Never rejects. The time of the settings bounds it. */
  embed(request: EmbedRequest): Promise<Embedded>;
  /** The cosine of a stored text and a vector; undefined while the text has no vector. */
  similarity(kept: KeptText, vector: Float32Array): number | undefined;
  /** The vector of a stored text, if it is known. */
  vectorOf(kept: KeptText): Float32Array | undefined;
  /** Keeps the vector of a stored text. */
  keepVector(kept: KeptText, vector: Float32Array): void;
  /** Stores a text with the key of its reply. */
  add(place: TextPlace, text: Pick<ComparedText, 'text' | 'facts'> & { readonly key: string }, vector?: Float32Array): void;
  /** Notes that the reply to a stored text was used. */
  use(kept: KeptText): void;
  /** Forgets a stored text, whose reply is gone. */
  remove(kept: KeptText): void;
  /** The same cache, whose calls for vectors this sender makes. For dry runs. */
  through(send: Sender): SemanticCache;
  /** Whether a reply may answer other texts: it is text alone and complete, without a tool call, media or a refusal. */
  isText(reply: CachedReply, exchange: Exchange): boolean;
}
