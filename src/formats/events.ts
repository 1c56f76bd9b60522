import type {
  CodePart,
  CodeResultPart,
  FormatName,
  JsonObject,
  McpCallPart,
  McpResultPart,
  MediaPart,
  OpaquePart,
  RedactedThinkingPart,
  ToolCallPart,
} from './conversation.ts';
import type { Maker, Signed } from './maker.ts';
import { noLosses, type LossNotes } from './losses/reply-losses.ts';

/** Why a generation ended, in OpenAI's vocabulary (docs/protocols/replies.md#finish-reasons). */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/**
 * Tokens of one generation, normalised so that parts sum: `input` includes cached and cache-write tokens, `output` includes reasoning,
 * `total` is their sum (docs/protocols/replies.md#usage).
 */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly total: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  /** The part of `cacheWrite` that is kept for an hour. */
  readonly cacheWrite1h?: number;
  readonly reasoning?: number;
  /** The parts of `input`, cached ones included, and of `output` that are sound or pictures. */
  readonly inputAudio?: number;
  readonly inputImage?: number;
  readonly outputAudio?: number;
  readonly outputImage?: number;
  /** The parts of `cacheRead` that are sound or pictures. */
  readonly cacheReadAudio?: number;
  readonly cacheReadImage?: number;
  /** Tokens that tools of the provider put into the prompt; a part of `input`. */
  readonly toolUse?: number;
  /** Searches that the provider made, in the web and in stored files. */
  readonly searches?: number;
  readonly fileSearches?: number;
  /** Answers for which the provider searched its maps. */
  readonly mapSearches?: number;
  /** Containers of the provider in which code of the model ran. */
  readonly containers?: number;
  /** Pictures made. */
  readonly images?: number;
  /** The service tier that the provider reports; absent: its standard one. */
  readonly tier?: 'batch' | 'flex' | 'priority';
  /** Where the provider processed the request, if that changes its price (Anthropic's `inference_geo`). */
  readonly geo?: 'us' | 'eu';
  /** Anthropic's `speed: fast`. */
  readonly fast?: boolean;
  /** Tokens of a predicted output (OpenAI `prediction`) that the answer used, and those that it did not use. */
  readonly acceptedPrediction?: number;
  readonly rejectedPrediction?: number;
  /** Seconds of sound, of a model that counts no tokens (docs/protocols/audio.md#usage). The counts of tokens are 0 then. */
  readonly seconds?: number;
  /** Usage of further models that the provider called for this one, such as an advisor. It is in none of the counts above. */
  readonly otherModels?: readonly UsageOfModel[];
  /** The provider's own counts, where they cannot be true and the counts above are corrected (counts.ts). */
  readonly claimed?: Usage;
}

interface UsageOfModel {
  /** Undefined: the provider does not name it. */
  readonly model: string | undefined;
  readonly usage: Usage;
}

/** The tier of a usage; undefined for standard ones and for tiers without prices of their own, such as OpenAI's `scale`. */
export const pricedTier = (tier: unknown): Usage['tier'] =>
  tier === 'priority' || tier === 'flex' || tier === 'batch' ? tier : undefined;

/** Length of an upstream's message that is searched for words: it may send a megabyte, and patterns take quadratic time. */
export const SEARCHED = 2048;

/** A failure the provider reported, before or inside a reply, in provider-neutral form. */
export interface UpstreamFailure {
  /** HTTP status of the reply, or the equivalent status of the failure (an in-stream `overloaded_error` is 529). */
  readonly status: number;
  readonly message: string;
  /** The provider's own error type: `rate_limit_error`, `RESOURCE_EXHAUSTED`. */
  readonly kind?: string;
  /** The provider's machine-readable code, if any. */
  readonly code?: string;
  readonly param?: string;
  /** Wait requested in the body (Google's RetryInfo), in milliseconds. */
  readonly retryAfterMs?: number;
  /** Details of Google's errors, for clients of its API. */
  readonly details?: readonly JsonObject[];
  /** The provider has counted the whole reply: its last usage is what it charges. */
  readonly isCounted?: true;
}

export interface LogprobToken {
  readonly token: string;
  readonly logprob: number;
  /** Bytes of the token, as reported: a token can be half of a character. `null`: it has none. */
  readonly bytes?: readonly number[] | null;
  readonly top?: readonly Omit<LogprobToken, 'top'>[];
}

export interface UrlCitation {
  readonly url: string;
  readonly title?: string;
  /** UTF-16 offsets into the concatenated answer text. */
  readonly start: number;
  readonly end: number;
}

interface BlockPlace {
  readonly choice: number;
  readonly block: number;
}

/**
 * One step of a generation. A reply, streamed or not, is a list of these; a plain reply decodes to the same list with
 * whole parts where a stream has fragments, so folding both gives the same message.
 *
 * `choice` is the answer's index (0 unless several were requested). `block` is the upstream's content block: it counts
 * up, and fragments of one block carry the same number. Upstreams may interleave calls, and send other blocks between the
 * fragments of one (streams/call-order.ts). A list ends with exactly one of `end` and `error`.
 */
export type GenerationEvent =
  | {
      readonly type: 'start';
      readonly id?: string;
      readonly model?: string;
      /** Unix seconds, where the provider reports the time of its answer. */
      readonly created?: number;
      /** Top-level reply fields without a neutral place, by their wire name. Only `extrasFormat` writes them again. */
      readonly extras?: JsonObject;
      readonly extrasFormat?: FormatName;
    }
  | (BlockPlace & {
      readonly type: 'text';
      readonly text: string;
      /** See `TextPart`; the same for all fragments of a block. */
      readonly spoken?: boolean;
      readonly phase?: string;
      /** The fragments that `text` joins, as JSON literals (json/literal.ts), for `StreamEncoder.pushBytes`. */
      readonly literals?: readonly string[];
    })
  /** `inline`: see `ThinkingPart`; the same for all fragments of a block. */
  | (BlockPlace & { readonly type: 'thinking'; readonly text: string; readonly inline?: boolean })
  /** Belongs to the block (text or thinking) of the same number; whole, never a fragment. */
  | (BlockPlace & { readonly type: 'signature'; readonly signature: string; readonly maker?: Maker })
  | (RedactedThinkingPart & BlockPlace)
  | { readonly type: 'refusal'; readonly choice: number; readonly text: string }
  /** `call` counts the calls of this choice from 0. The decoding format creates an id where the provider sent none. */
  | (BlockPlace & Omit<ToolCallPart, 'arguments' | 'cache' | 'itemId'> & { readonly call: number })
  | {
      readonly type: 'tool_arguments';
      readonly choice: number;
      readonly call: number;
      readonly text: string;
      /** The upstream says that the call has ended. */
      readonly last?: boolean;
    }
  /** `data` is base64. */
  | (BlockPlace & Pick<MediaPart, 'type' | 'stored' | keyof Signed> & { readonly mime: string; readonly data: string })
  | (CodePart & BlockPlace)
  | (CodeResultPart & BlockPlace)
  | (McpCallPart & BlockPlace)
  | (McpResultPart & BlockPlace)
  | { readonly type: 'citation'; readonly choice: number; readonly citation: UrlCitation }
  | {
      readonly type: 'logprobs';
      readonly choice: number;
      readonly tokens: readonly LogprobToken[];
      /** The tokens belong to the refusal, not to the text. */
      readonly refusal?: boolean;
    }
  /** A block or an extra that only `format` understands. An attached one follows the part of its number. */
  | (OpaquePart & BlockPlace)
  /** Running totals: the last one wins. Formats emit one whenever the provider reports new counts. */
  | {
      readonly type: 'usage';
      readonly usage: Usage;
      readonly raw?: JsonObject;
      /** The format `raw` is written in. A client of that format gets all of `raw`. */
      readonly format?: FormatName;
    }
  | {
      readonly type: 'finish';
      readonly choice: number;
      readonly reason: FinishReason;
      /** The provider's own finish reason, for clients that are not strict. */
      readonly native?: string;
      readonly stopSequence?: string;
      readonly message?: string;
    }
  | { readonly type: 'ping' }
  | { readonly type: 'error'; readonly failure: UpstreamFailure }
  | { readonly type: 'end' };

export type EventOf<T extends GenerationEvent['type']> = Extract<GenerationEvent, { type: T }>;

/** An event of one answer, not of the whole reply. */
export type ChoiceEvent = Extract<GenerationEvent, { choice: number }>;

/** The state of a reply so far. Mutable, cumulative, one object per reply: reading it costs nothing per chunk. */
export interface Signals extends LossNotes {
  /** Content has arrived: non-empty text, thinking, a tool name, a refusal, media, a signature, a finish. */
  content: boolean;
  /** A part of the answer itself has arrived: content that is not only a signature, a provider's note or a finish. */
  answered: boolean;
  /**
   * A text, a refusal, a call or media has arrived. A pass-through reader that was not asked to
   * (`ClientContext.awaitsOutput`) may not see it behind thoughts.
   */
  output: boolean;
  /** Nothing but a content filter's stop has arrived so far. */
  blocked: boolean;
  /** The upstream has begun an item of its answer, of which it may show nothing for minutes, such as hidden thinking. */
  begun: boolean | undefined;
  /** An event of a stream that passes through had an id. */
  named?: boolean;
  /** Counts every event that is not a ping or a comment. */
  progress: number;
  /** Characters of the answer so far, as far as they were read without a parser; for an estimate of its tokens. */
  text: number;
  usage: Usage | undefined;
  finish: FinishReason | undefined;
  /** The provider's own word for `finish`, where it is another. */
  nativeFinish: string | undefined;
  /** The model that the provider reports. */
  model: string | undefined;
  failure: UpstreamFailure | undefined;
  /** The provider ended the reply properly. */
  ended: boolean;
  /** A plain reply whose pieces are of use before its end, such as sound: it may leave with its first bytes. */
  flows?: boolean;
}

export function createSignals(): Signals {
  return {
    content: false,
    answered: false,
    output: false,
    blocked: false,
    begun: undefined,
    progress: 0,
    text: 0,
    usage: undefined,
    finish: undefined,
    nativeFinish: undefined,
    model: undefined,
    failure: undefined,
    ended: false,
    ...noLosses(),
  };
}

/**
 * The most answers of one reply. APIs return up to 128. Each answer costs as much as one of some hundred bytes, even
 * when the upstream sends three bytes for it.
 */
export const MAX_CHOICES = 1024;
export const TOO_MANY_CHOICES = `it has more than ${MAX_CHOICES} answers`;

/** Real names of models and replies have some tens of characters. */
const MAX_REPEATED = 512;

/**
 * An upstream name that every chunk of a stream repeats. Undefined for one so long that the stream would become a
 * multiple of the received bytes: the client's context has another name.
 */
export function repeatable(name: string | undefined): string | undefined {
  return name !== undefined && name.length <= MAX_REPEATED ? name : undefined;
}
