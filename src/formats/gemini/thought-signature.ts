import { Buffer } from 'node:buffer';
import type { ThinkingPart } from '../conversation.ts';
import { ENVELOPE, readEnvelope, writeEnvelope } from '../envelope.ts';
import { makerOf, tagOf, type Maker, type Signed } from '../maker.ts';
import { optional } from './wire.ts';

/** The maker of the signatures that models of this format accept. */
export const OWN_MAKER: Maker = 'gemini';

/**
 * Thought signatures inside a call id, for clients that keep no other field of a call
 * (docs/protocols/replies.md#signature-in-the-id). They are in base64url, because the ids of other providers cannot
 * hold `+/=`.
 */
const SEPARATOR = '__thought__';

/** Documented escape value in place of a lost signature (docs/protocols/gemini.md#missing-signature). */
export const SKIP_SIGNATURE = 'skip_thought_signature_validator';

export function splitCallId(id: string): { readonly id: string; readonly signature?: string } {
  const at = id.indexOf(SEPARATOR);
  if (at < 0) return { id };
  const signature = toBase64(id.slice(at + SEPARATOR.length));
  return signature === '' ? { id: id.slice(0, at) } : { id: id.slice(0, at), signature };
}

/** Converts base64url to base64 with padding. Standard base64 stays unchanged. */
export function toBase64(text: string): string {
  const standard = text.replaceAll('-', '+').replaceAll('_', '/');
  const missing = (4 - (standard.length % 4)) % 4;
  return missing === 3 ? standard : standard + '='.repeat(missing);
}

/** The value of `thoughtSignature`, of the type bytes: the envelope of another maker's signature is in base64. */
export function signatureForClient({ type, signature, maker }: Signed & { readonly type: string }): string | undefined {
  const made = makerOf({ type, ...optional('maker', maker) });
  if (signature === undefined || made === OWN_MAKER) return signature;
  const envelope = writeEnvelope(
    type === 'thinking'
      ? { kind: 'thinking', maker: made, signature }
      : { kind: 'signature', maker: made, signature, of: type === 'tool_call' ? 'call' : 'text' },
  );
  return Buffer.from(envelope).toString('base64');
}

/** Reads `thoughtSignature` of a part that a client of this API sends. Every untagged one is Gemini's. */
export function signatureOfClient(type: string, value: string | undefined): Signed {
  if (value === undefined) return {};
  if (!value.startsWith(ENVELOPE_BYTES)) return { signature: value, ...tagOf({ type, maker: OWN_MAKER }) };
  const envelope = readEnvelope(Buffer.from(value, 'base64').toString());
  // The signature of a thought that a call carries is not one of the call.
  if (type === 'tool_call' && envelope?.kind === 'thinking') return {};
  if (!envelope || envelope.kind === 'redacted') return { signature: value, maker: 'other' };
  return { signature: envelope.signature, ...tagOf({ type, maker: envelope.maker }) };
}

/** The thought that `thoughtSignature` of a call carries (carried-thought.ts). */
export function thoughtOnCall(value: string | undefined): ThinkingPart | undefined {
  if (!value?.startsWith(ENVELOPE_BYTES)) return undefined;
  const envelope = readEnvelope(Buffer.from(value, 'base64').toString());
  if (envelope?.kind !== 'thinking' || envelope.text === undefined) return undefined;
  const { text, signature, maker } = envelope;
  return { type: 'thinking', text, signature, ...tagOf({ type: 'thinking', maker }) };
}

/** Base64 of `gh1`, the whole groups of three bytes that every envelope begins with. */
const ENVELOPE_BYTES = Buffer.from(ENVELOPE.slice(0, 3)).toString('base64');

/** Every body with such an envelope contains this text. */
export const SIGN_OF_ENVELOPE = `"${ENVELOPE_BYTES}`;
