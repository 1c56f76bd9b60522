import type { FormatName, JsonObject } from '../conversation.ts';
import {
  pricedTier,
  type GenerationEvent,
  type FinishReason,
  type LogprobToken,
  type UrlCitation,
  type Usage,
} from '../events.ts';
import type { ClientContext } from '../format.ts';
import { claimOf, outputWithin, sound, type Count } from '../counts.ts';
import { stringOf, compact, isObject } from '../json/object.ts';

/** Fields around the choices of a reply, the same in a plain body and in every chunk. */
export interface ReplyEnvelope {
  readonly id?: string | undefined;
  readonly model?: string | undefined;
  readonly created?: number | undefined;
  readonly extras?: JsonObject | undefined;
  readonly extrasFormat?: FormatName | undefined;
}

/** Fields that the events hold. `obfuscation` pads one chunk, and a falsy `error` means that there is none. */
const PLACED: ReadonlySet<string> = new Set([
  'id',
  'object',
  'created',
  'model',
  'choices',
  'usage',
  'obfuscation',
  'error',
]);

/** Optional reply fields of OpenAI (docs/protocols/openai-chat.md#reply). A strict client gets no others. */
const STANDARD: ReadonlySet<string> = new Set(['service_tier', 'system_fingerprint', 'moderation']);

export function decodeEnvelope(body: JsonObject): GenerationEvent {
  const id = stringOf(body.id);
  const model = stringOf(body.model);
  const { created } = body;
  const extras = Object.entries(body).filter(([key]) => !PLACED.has(key));
  return {
    type: 'start',
    ...(id && { id }),
    ...(model && { model }),
    ...(typeof created === 'number' && { created }),
    ...(extras.length > 0 && { extras: Object.fromEntries(extras), extrasFormat: 'openai-chat' as const }),
  };
}

/** The fields before `choices`. The client's context supplies those that the reply lacks. */
export function encodeEnvelope(envelope: ReplyEnvelope, object: string, client: ClientContext): JsonObject {
  const { id, model, created, extras, extrasFormat } = envelope;
  const own = {
    id: id ?? client.id,
    object,
    created: created ?? client.created,
    model: model ?? client.model,
  };
  if (extrasFormat !== 'openai-chat' || !extras) return own;
  const known = Object.entries(extras).filter(([key]) => !client.strict || STANDARD.has(key));
  return { ...own, ...Object.fromEntries(known) };
}

const WORDS: ReadonlySet<string> = new Set(['stop', 'length', 'tool_calls', 'content_filter', 'function_call']);

/**
 * OpenAI itself ends a forced function call with `stop`, which a client of another API reads as a finished answer, so
 * with calls the reason is `tool_calls`. A missing or unknown word is `stop`
 * (docs/protocols/replies.md#missing-finish-reason).
 */
export function mapFinish(word: string | undefined, calls: boolean): FinishReason {
  return (word === undefined ? undefined : FINISHES.get(word)) ?? (calls ? 'tool_calls' : 'stop');
}

const FINISHES: ReadonlyMap<string, FinishReason> = new Map([
  ['length', 'length'],
  ['content_filter', 'content_filter'],
  ['tool_calls', 'tool_calls'],
  ['function_call', 'tool_calls'],
  // GLM
  ['sensitive', 'content_filter'],
  ['model_context_window_exceeded', 'length'],
  // Mistral
  ['model_length', 'length'],
]);

interface DecodedFinish {
  readonly reason: FinishReason;
  /** The provider's own finish reason. */
  readonly native: string | undefined;
  /** The call was sent as the deprecated `function_call`. */
  readonly legacy: boolean;
}

/** A native reason that OpenAI defines is the `finish_reason`. Any other goes into `native_finish_reason`. */
export function encodeFinish({ reason: mapped, native, legacy }: DecodedFinish, strict: boolean): JsonObject {
  if (native !== undefined && WORDS.has(native)) return { finish_reason: native };
  const reason = legacy && mapped === 'tool_calls' ? 'function_call' : mapped;
  return { finish_reason: reason, ...(!strict && native !== undefined && { native_finish_reason: native }) };
}

/** Citations and log probabilities (docs/protocols/openai-chat.md#annotations-and-log-probabilities). */

export function decodeCitation(raw: unknown): UrlCitation | undefined {
  if (!isObject(raw)) return undefined;
  const url = stringOf(raw.url);
  if (url === undefined) return undefined;
  const title = stringOf(raw.title);
  const [start, end] = [raw.start_index, raw.end_index].map((at) => (typeof at === 'number' ? at : 0));
  return { url, start: start ?? 0, end: end ?? 0, ...(title && { title }) };
}

export function encodeCitation({ url, title, start, end }: UrlCitation): JsonObject {
  return { type: 'url_citation', url_citation: { start_index: start, end_index: end, url, title: title ?? '' } };
}

export function decodeLogprobs(raw: unknown): LogprobToken[] {
  return Array.isArray(raw) ? raw.flatMap(decodeToken) : [];
}

function decodeToken(raw: unknown): LogprobToken[] {
  if (!isObject(raw) || typeof raw.token !== 'string' || typeof raw.logprob !== 'number') return [];
  const { token, logprob } = raw;
  const top = decodeLogprobs(raw.top_logprobs);
  return [compact({ token, logprob, bytes: bytesOf(raw.bytes), top: top.length > 0 ? top : undefined })];
}

function bytesOf(raw: unknown): readonly number[] | null | undefined {
  if (raw === null) return null;
  return Array.isArray(raw) && raw.every((byte) => typeof byte === 'number') ? raw : undefined;
}

/** Returns `null` when both lists are empty: the form of a reply whose request did not set `logprobs`. */
export function encodeLogprobs(content: readonly LogprobToken[], refusal: readonly LogprobToken[]): JsonObject | null {
  if (content.length === 0 && refusal.length === 0) return null;
  return { content: encodeTokens(content), refusal: encodeTokens(refusal) };
}

function encodeTokens(tokens: readonly LogprobToken[]): JsonObject[] | null {
  if (tokens.length === 0) return null;
  return tokens.map((token) => ({ ...encodeToken(token), top_logprobs: (token.top ?? []).map(encodeToken) }));
}

/** `bytes` holds UTF-8 bytes, not character codes (docs/protocols/replies.md#log-probabilities). */
function encodeToken({ token, logprob, bytes }: LogprobToken): JsonObject {
  return { token, logprob, bytes: bytes === undefined ? [...Buffer.from(token, 'utf8')] : bytes };
}

/**
 * Decodes OpenAI's usage (docs/protocols/openai-chat.md#reply-usage). Returns undefined when it has no counts. DeepSeek and Moonshot
 * count tokens read from their cache under names of their own.
 *
 * @param tier `service_tier`, which is beside the usage
 */
export function decodeUsage(raw: JsonObject, tier?: unknown): Usage | undefined {
  const input = claimOf(raw.prompt_tokens);
  const given = claimOf(raw.completion_tokens);
  if (input === undefined && given === undefined) return undefined;
  const output = outputWithin(claimOf(raw.total_tokens), input, given);
  const usage: { -readonly [K in keyof Usage]: Usage[K] } = { input: input ?? 0, output, total: (input ?? 0) + output };
  addClaims(usage, raw, CACHED_BESIDE);
  const { prompt_tokens_details: ofPrompt, completion_tokens_details: ofCompletion } = raw;
  if (isObject(ofPrompt)) addClaims(usage, ofPrompt, OF_PROMPT);
  if (isObject(ofCompletion)) addClaims(usage, ofCompletion, OF_COMPLETION);
  const priced = pricedTier(tier);
  if (priced !== undefined) usage.tier = priced;
  return sound(usage);
}

type Claims = readonly (readonly [claim: Count, field: string])[];

/** Beside the details: DeepSeek's name, and Moonshot's. */
const CACHED_BESIDE: Claims = [
  ['cacheRead', 'cached_tokens'],
  ['cacheRead', 'prompt_cache_hit_tokens'],
];
const OF_PROMPT: Claims = [
  ['cacheRead', 'cached_tokens'],
  ['cacheWrite', 'cache_write_tokens'],
  ['inputAudio', 'audio_tokens'],
  ['inputImage', 'image_tokens'],
];
const OF_COMPLETION: Claims = [
  ['reasoning', 'reasoning_tokens'],
  ['outputAudio', 'audio_tokens'],
  ['outputImage', 'image_tokens'],
  ['acceptedPrediction', 'accepted_prediction_tokens'],
  ['rejectedPrediction', 'rejected_prediction_tokens'],
];

/** Later claims win. */
function addClaims(to: { -readonly [K in Count]?: number }, from: JsonObject, claims: Claims): void {
  for (const [claim, field] of claims) {
    const value = claimOf(from[field]);
    if (value !== undefined) to[claim] = value;
  }
}

export function usageEvent(raw: unknown, tier?: unknown): GenerationEvent | undefined {
  const usage = isObject(raw) ? decodeUsage(raw, tier) : undefined;
  return usage && isObject(raw) ? { type: 'usage', usage, raw } : undefined;
}

/**
 * Encodes OpenAI's usage (docs/protocols/openai-chat.md#reply-usage, docs/protocols/replies.md#usage). The two details
 * that cost dashboards read are always present, as OpenAI sends them; others when the provider counts them.
 */
export function encodeUsage(usage: Usage, strict: boolean): JsonObject {
  const { cacheRead, cacheWrite } = usage;
  // JSON.stringify leaves undefined fields out.
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.total,
    prompt_tokens_details: {
      cached_tokens: cacheRead ?? 0,
      cache_write_tokens: cacheWrite,
      audio_tokens: usage.inputAudio,
    },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning ?? 0,
      audio_tokens: usage.outputAudio,
      accepted_prediction_tokens: usage.acceptedPrediction,
      rejected_prediction_tokens: usage.rejectedPrediction,
    },
    cache_read_input_tokens: strict ? undefined : cacheRead,
    cache_creation_input_tokens: strict ? undefined : cacheWrite,
  };
}
