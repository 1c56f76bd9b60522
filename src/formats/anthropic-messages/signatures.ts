import type { JsonObject } from '../conversation.ts';
import { ENVELOPE, readEnvelope, writeEnvelope, type Envelope } from '../envelope.ts';
import { stringOf } from '../json/object.ts';
import type { Maker } from '../maker.ts';

/**
 * Signatures of other makers in this API, for clients that return them with the conversation
 * (docs/protocols/replies.md#foreign-signatures). They are in an envelope: Claude answers a foreign signature with a
 * 400, so a body must show which signatures are not Claude's, even one that is passed through.
 *
 * Only thinking has a signature here. Google's signature of a text or a picture is written into a thinking block
 * without text after it, and is moved back when the client returns it.
 */

/** The maker of the signatures that models of this format accept. */
export const OWN_MAKER: Maker = 'claude';

/** Reasons of losses. */
export const FOREIGN_SIGNATURE = 'the signature of another provider';
export const FOREIGN_THINKING = 'the thinking of another provider';

/** Strings of this API that hold no signature of Claude begin with one of these. */
export const MARKS = [ENVELOPE, 'foreign.'] as const;

/** The signature of a thinking block. Claude's own stays as it is. */
export function thinkingSignature(signature: string, maker: Maker = OWN_MAKER): string {
  return maker === OWN_MAKER ? signature : writeEnvelope({ kind: 'thinking', maker, signature });
}

export function redactedData(data: string, maker: Maker = OWN_MAKER): string {
  return maker === OWN_MAKER ? data : writeEnvelope({ kind: 'redacted', maker, data });
}

/** An envelope in a block, or `unreadable` for a mark without one. Undefined for a block without a mark. */
export function envelopeIn(block: JsonObject): Envelope | 'unreadable' | undefined {
  const field = block.type === 'thinking' ? 'signature' : block.type === 'redacted_thinking' ? 'data' : undefined;
  const text = field && stringOf(block[field]);
  if (text === undefined || !MARKS.some((mark) => text.startsWith(mark))) return undefined;
  const envelope = readEnvelope(text);
  return envelope && (envelope.kind === 'redacted') === (field === 'data') ? envelope : 'unreadable';
}

/** The signature of the preceding text or picture, if the block exists to carry one. */
export function signatureOfPrevious(block: JsonObject): Extract<Envelope, { kind: 'signature' }> | undefined {
  const envelope = envelopeIn(block);
  return typeof envelope === 'object' && envelope.kind === 'signature' ? envelope : undefined;
}
