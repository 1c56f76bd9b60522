import { isUtf8 } from 'node:buffer';
import { secretsInBody } from '../../../formats/body-secrets.ts';
import { withMarks } from '../../../core/record/scrub.ts';
import { mayHoldCredential } from '../../../core/settings/values/credential-names.ts';
import type { TimedPiece, WrittenBytes } from '../file/captured.ts';

/** Shorter texts occur in many words, and no real credential is so short. */
const SHORTEST = 8;

/** About the connection, not the message. */
const OF_THE_WIRE: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
  'content-encoding',
  'date',
  'host',
]);

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Bytes and their moments, before they are written. */
export type TimedBytes = readonly [ms: number, bytes: Buffer];

/** A credential, its parts, and how they are written in JSON and in URLs. */
const formsOf = (value: string): readonly string[] => {
  const bare = value.replace(/^[\w-]+ +/, '').trim();
  const cookies = value.split(';').flatMap((pair) => /^\s*[^=\s]+=(.+)$/.exec(pair)?.[1]?.trim() ?? []);
  return [value.trim(), bare, ...cookies].flatMap((one) => [
    one,
    JSON.stringify(one).slice(1, -1),
    encodeURIComponent(one.toWellFormed()),
  ]);
};

/**
 * Replaces credentials by marks of the same length: those of the request, of its calls and of the settings, and texts in the form of one. Of
 * a text in pieces it also finds one that lies across them.
 */
export class Redaction {
  readonly #secrets: readonly string[];

  /** @param texts in which bodies may name servers with credentials of their own */
  constructor(known: readonly string[], headers: readonly Headers[], bodies: readonly Buffer[]) {
    const ofHeaders = headers.flatMap((all) =>
      Object.entries(all).flatMap(([name, value]) => (mayHoldCredential(name) ? (value ?? []) : [])),
    );
    const all = [...known, ...ofHeaders, ...bodies.flatMap(secretsInBody)].flatMap(formsOf);
    // As the bytes are searched: latin1 has a character for each. The longest first, because one may be part of another.
    const latin = [...new Set(all)].filter(({ length }) => length >= SHORTEST).map((one) => toLatin(Buffer.from(one)));
    this.#secrets = latin.toSorted((one, other) => other.length - one.length);
  }

  text(text: string): string {
    return this.#marked(Buffer.from(text)).toString();
  }

  bytes(bytes: Buffer): WrittenBytes {
    return written(this.#marked(bytes));
  }

  pieces(timed: readonly TimedBytes[]): readonly TimedPiece[] {
    const whole = this.#marked(Buffer.concat(timed.map(([, bytes]) => bytes)));
    let at = 0;
    return timed.map(([ms, { length }]) => [ms, written(whole.subarray(at, (at += length)))]);
  }

  /** @param except names of headers that are left out, because the gateway set them as credentials */
  headers(headers: Headers, except: readonly string[] = []): Record<string, string> {
    const entries = Object.entries(headers).flatMap(([name, value]): [string, string][] => {
      const lower = name.toLowerCase();
      if (value === undefined || OF_THE_WIRE.has(lower)) return [];
      const isSecret = mayHoldCredential(lower) || except.includes(name);
      return [[lower, isSecret ? '[secret]' : this.text([value].flat().join(', '))]];
    });
    return Object.fromEntries(entries);
  }

  #marked(bytes: Buffer): Buffer {
    const before = toLatin(bytes);
    const known = this.#secrets.reduce(
      (text, secret) => (text.includes(secret) ? text.replaceAll(secret, '*'.repeat(secret.length)) : text),
      before,
    );
    const after = withMarks(known);
    return after === before ? bytes : Buffer.from(after, 'latin1');
  }
}

const toLatin = (bytes: Buffer): string => bytes.toString('latin1');

const written = (bytes: Buffer): WrittenBytes =>
  isUtf8(bytes) ? bytes.toString() : { base64: bytes.toString('base64') };
