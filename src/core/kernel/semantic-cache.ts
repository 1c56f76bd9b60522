import type { Attempt } from './attempt.ts';
import type { Exchange } from './exchange.ts';
import type { CachedReply } from './reply-cache.ts';
import type { ComparedText, EmbeddingCall, KeptText, TextFacts, TextPlace, Uncompared } from './semantic.ts';
import type { Sender } from './sending.ts';
import type { SemanticSettings } from './settings.ts';

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
  /** The first fact that must be equal in which two texts differ. */
  unequalFact(one: TextFacts, other: TextFacts): keyof TextFacts | undefined;
  /** Whether the words that both texts have come in the same order. For near texts only: it reads both. */
  inSameOrder(one: TextFacts, other: TextFacts): boolean;
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
  add(
    place: TextPlace,
    text: Pick<ComparedText, 'text' | 'facts'> & { readonly key: string },
    vector?: Float32Array,
  ): void;
  /** Notes that the reply to a stored text was used. */
  use(kept: KeptText): void;
  /** Forgets a stored text, whose reply is gone. */
  remove(kept: KeptText): void;
  /** The same cache, whose calls for vectors this sender makes. For dry runs. */
  through(send: Sender): SemanticCache;
  /** Whether a reply may answer other texts: it is text alone and complete, without a tool call, media or a refusal. */
  isText(reply: CachedReply, exchange: Exchange): boolean;
}
