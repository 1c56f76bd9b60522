import { Buffer } from 'node:buffer';
import { isObject, parseJson, stringOf } from './json/object.ts';
import { readMaker, type Maker } from './maker.ts';

/**
 * A signature of one maker in the API of another (docs/protocols/replies.md#foreign-signatures):
 * `gh1.<maker>.<kind>.<base64url of JSON>`. An API that has one field for all signatures gets the maker in this form,
 * and so does every body that the client sends back, even one that is passed through.
 */
export type Envelope =
  | {
      readonly kind: 'thinking';
      readonly maker: Maker;
      readonly signature: string;
      /** The signed text. Absent where the block beside the signature holds it. */
      readonly text?: string;
    }
  | { readonly kind: 'redacted'; readonly maker: Maker; readonly data: string }
  | {
      readonly kind: 'signature';
      readonly maker: Maker;
      readonly signature: string;
      /** The kind of part that the signature belongs to. */
      readonly of: SignedKind;
    };

export type SignedKind = 'call' | 'text' | 'picture';

/** Begins every envelope. Signatures are base64, which has no dot. */
export const ENVELOPE = 'gh1.';

/** Maximum length of an envelope, which a client may have written. The longest recorded signature has 9,260 characters. */
const MAX_LENGTH = 1024 * 1024;

const PARTS = /^gh1\.([a-z0-9-]{1,64})\.([trs])\.([A-Za-z0-9_-]+)$/;

export function writeEnvelope(envelope: Envelope): string {
  switch (envelope.kind) {
    case 'thinking': {
      const { maker, text, signature } = envelope;
      return written(maker, 't', text === undefined ? { signature } : { text, signature });
    }
    case 'redacted':
      return written(envelope.maker, 'r', { data: envelope.data });
    case 'signature':
      return written(envelope.maker, 's', { for: envelope.of, signature: envelope.signature });
  }
}

function written(maker: Maker | 'any', kind: string, value: object): string {
  return `${ENVELOPE}${maker}.${kind}.${Buffer.from(JSON.stringify(value)).toString('base64url')}`;
}

/** Undefined for text that begins like an envelope and is none. */
export function readEnvelope(text: string): Envelope | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const [, tag, kind, encoded] = PARTS.exec(text) ?? [];
  const value = encoded === undefined ? undefined : parseJson(Buffer.from(encoded, 'base64url').toString());
  if (!isObject(value)) return undefined;
  const { maker = 'other' } = readMaker(tag);
  if (kind === 'r') {
    const data = stringOf(value.data);
    return data === undefined ? undefined : { kind: 'redacted', maker, data };
  }
  const signature = stringOf(value.signature);
  if (!signature) return undefined;
  if (kind === 's') return isSignedKind(value.for) ? { kind: 'signature', maker, signature, of: value.for } : undefined;
  const signed = stringOf(value.text);
  return { kind: 'thinking', maker, signature, ...(signed !== undefined && { text: signed }) };
}

/** A summary that a model wrote in place of a conversation, in the same form: `gh1.<maker>.c.<…>`. Any model can read it. */
const SUMMARY = /^gh1\.[a-z0-9-]{1,64}\.c\.([A-Za-z0-9_-]+)$/;

/** The tag names no maker: the text is anybody's. */
export function writeSummary(text: string): string {
  return written('any', 'c', { text });
}

export function readSummary(text: string): string | undefined {
  const [, encoded] = text.length > MAX_LENGTH ? [] : (SUMMARY.exec(text) ?? []);
  const value = encoded === undefined ? undefined : parseJson(Buffer.from(encoded, 'base64url').toString());
  return isObject(value) ? stringOf(value.text) : undefined;
}

/** A text in an envelope, and the envelope of another text in its place. */
export interface SealedText {
  readonly text: string;
  readonly written: (text: string) => string;
}

/** The base64 of all envelopes begins with it: that of three bytes. */
const IN_BASE64 = Buffer.from(ENVELOPE.slice(0, 3)).toString('base64');

/** The text that the value seals: a summary, or a thought. @param coding that of the value, where its API has bytes there */
export function sealedText(value: unknown, coding: 'plain' | 'base64' = 'plain'): SealedText | undefined {
  if (typeof value !== 'string') return undefined;
  if (coding === 'base64') {
    const inner = value.startsWith(IN_BASE64) ? sealedText(Buffer.from(value, coding).toString()) : undefined;
    return inner && { ...inner, written: (text) => Buffer.from(inner.written(text)).toString(coding) };
  }
  if (!value.startsWith(ENVELOPE)) return undefined;
  const summary = readSummary(value);
  if (summary !== undefined) return { text: summary, written: writeSummary };
  const envelope = readEnvelope(value);
  if (envelope?.kind !== 'thinking' || envelope.text === undefined) return undefined;
  return { text: envelope.text, written: (text) => writeEnvelope({ ...envelope, text }) };
}

const isSignedKind = (value: unknown): value is SignedKind =>
  value === 'call' || value === 'text' || value === 'picture';
