import type { JsonObject } from '../conversation.ts';
import type { LogprobToken, UrlCitation } from '../events.ts';
import { compact } from '../json/compact.ts';
import { isObject } from '../json/object.ts';
import { stringOf } from '../json/read.ts';

/**
 * Decodes and encodes citations and log probabilities
 * (docs/protocols/openai-chat.md#annotations-and-log-probabilities).
 */

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
