import type { JsonObject } from '../conversation.ts';
import { stringOf } from '../json/read.ts';

/**
 * Signatures of other providers in this API, for clients that return them with the conversation
 * (docs/protocols/replies.md#foreign-signatures). They are marked: Claude answers a foreign signature with a 400, so a
 * body must show which signatures are not Claude's, even one that is passed through.
 *
 * Only thinking has a signature here. Google's signature of a text or an image is written into a thinking block without
 * text after it, and is moved back when the client returns it.
 */
const THOUGHT = 'foreign.thought.';
const TEXT = 'foreign.text.';
/** Begins every marked signature. */
export const FOREIGN = 'foreign.';

export function markThought(signature: string): string {
  return isFromGoogle(signature) ? THOUGHT + signature : signature;
}

export function markText(signature: string): string {
  return TEXT + signature;
}

export function unmarkThought(signature: string | undefined): string | undefined {
  return signature?.startsWith(THOUGHT) ? signature.slice(THOUGHT.length) : signature;
}

/** The signature of the preceding text or image, if the block exists to carry one. */
export function textSignature(block: JsonObject): string | undefined {
  const signature = block.type === 'thinking' ? stringOf(block.signature) : undefined;
  return signature?.startsWith(TEXT) ? signature.slice(TEXT.length) : undefined;
}

/**
 * True for a thinking block that Claude did not write: its signature is marked, or empty, as this gateway writes
 * unsigned thoughts.
 */
export function isForeignThinking(block: JsonObject): boolean {
  if (block.type !== 'thinking') return false;
  const signature = stringOf(block.signature);
  return signature === '' || (signature?.startsWith(FOREIGN) ?? false);
}

/**
 * The shortest of Google's recorded signatures has 72 characters; a much shorter one proves nothing about its maker.
 */
const SHORTEST = 64;

/** Protobuf tags of length-delimited fields 1 and 2, which all signatures are wrapped in. */
const WRAPPERS = new Set([0x0a, 0x12]);

/**
 * True for a thought signature that Google made. Such a signature is on a thinking part after a fallback between
 * providers, and Claude answers it with a 400. The signatures of both are base64 of protobuf and do not name their
 * maker. Measured on all recorded ones: inside the wrappers, Google's bytes begin with 01, Claude's with a version in
 * field 1 (08). Any other signature counts as Claude's.
 */
export function isFromGoogle(signature: string): boolean {
  if (signature.length < SHORTEST) return false;
  const bytes = Buffer.from(signature.slice(0, 64), 'base64');
  let at = 0;
  while (WRAPPERS.has(bytes[at] ?? 0)) {
    at += 1;
    // The length is a varint, seven bits per byte.
    while ((bytes[at] ?? 0) >= 0x80) at += 1;
    at += 1;
  }
  return bytes[at] === 0x01;
}
