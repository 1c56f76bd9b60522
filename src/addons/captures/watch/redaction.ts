import { isUtf8 } from 'node:buffer';
import { secretsInBody } from '../../../formats/body-secrets.ts';
import { withMarks } from '../../../core/record/scrub.ts';
import { mayHoldCredential } from '../../../core/settings/values/credential-names.ts';
import type { TimedPiece, WrittenBytes } from '../file/captured.ts';
import { KnownTexts, SHORTEST } from './known-texts.ts';
import { markedThroughDeltas, markedThroughEscapes } from './views.ts';

/** Each credential of a request is searched in all of its bytes: a request may not have them by the thousand. */
const MOST_OWN = 128;

/** A request has too many credentials to be redacted in a short time. */
export class TooManyCredentials extends Error {}

/** Headers about the connection, not the message: they are left out. */
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

export type TimedBytes = readonly [ms: number, bytes: Buffer];

/** A credential, its parts, and how they are written in JSON and in URLs, as bytes are searched: latin1 has a character for each. */
const formsOf = (value: string): readonly string[] => {
  const bare = value.replace(/^[\w-]+ +/, '').trim();
  const cookies = value.split(';').flatMap((pair) => /^\s*[^=\s]+=(.+)$/.exec(pair)?.[1]?.trim() ?? []);
  const basic = /^basic +/i.test(value.trim()) ? Buffer.from(bare, 'base64').toString() : '';
  return [value.trim(), bare, basic, basic.slice(basic.indexOf(':') + 1), ...cookies]
    .flatMap((one) => [one, JSON.stringify(one).slice(1, -1), encodeURIComponent(one.toWellFormed())])
    .filter(({ length }) => length >= SHORTEST)
    .map((one) => toLatin(Buffer.from(one)));
};

/** The secrets of one version of the settings are the same for all of its requests. */
const OF_SETTINGS = new WeakMap<readonly string[], KnownTexts>();

function knownIn(secrets: readonly string[]): KnownTexts {
  let known = OF_SETTINGS.get(secrets);
  if (!known) OF_SETTINGS.set(secrets, (known = new KnownTexts(secrets.flatMap(formsOf))));
  return known;
}

/**
 * Replaces credentials by marks of the same length: those of the request, of its calls and of the settings, and texts in the form of one. Of
 * a text in pieces it also finds one that lies across them.
 */
export class Redaction {
  readonly #ofSettings: KnownTexts;
  readonly #own: readonly string[];

  /**
   * @param own credentials that are known to be some; headers and bodies may have more
   * Throws TooManyCredentials.
   */
  constructor(
    ofSettings: readonly string[],
    {
      own,
      headers,
      bodies,
    }: {
      readonly own: readonly string[];
      readonly headers: readonly Headers[];
      readonly bodies: readonly Buffer[];
    },
  ) {
    const ofHeaders = headers.flatMap((all) =>
      Object.entries(all).flatMap(([name, value]) => (mayHoldCredential(name) ? (value ?? []) : [])),
    );
    const all = new Set([...own, ...ofHeaders, ...bodies.flatMap(secretsInBody)].flatMap(formsOf));
    if (all.size > MOST_OWN) throw new TooManyCredentials();
    this.#ofSettings = knownIn(ofSettings);
    this.#own = [...all];
  }

  text(text: string): string {
    return this.#marked(Buffer.from(text)).toString();
  }

  bytes(bytes: Buffer): WrittenBytes {
    return written(this.#marked(bytes));
  }

  pieces(timed: readonly TimedBytes[]): readonly TimedPiece[] {
    const whole = this.#marked(Buffer.concat(timed.map(([, bytes]) => bytes)), this.#markedStream);
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

  #marked(bytes: Buffer, marked: (text: string) => string = this.#markedText): Buffer {
    const before = toLatin(bytes);
    const after = marked(before);
    return after === before ? bytes : Buffer.from(after, 'latin1');
  }

  readonly #markedText = (text: string): string => markedThroughEscapes(text, this.#markedAsWritten);

  readonly #markedStream = (text: string): string => markedThroughDeltas(text, this.#markedText);

  readonly #markedAsWritten = (before: string): string => {
    const known = Buffer.from(before, 'latin1');
    // All are searched in the text as it was: those that overlap leave nothing of each other.
    for (const [from, to] of this.#ofSettings.placesIn(before)) known.fill('*', from, to);
    for (const one of this.#own)
      for (let at = before.indexOf(one); at >= 0; at = before.indexOf(one, at + one.length))
        known.fill('*', at, at + one.length);
    return withMarks(toLatin(known));
  };
}

const toLatin = (bytes: Buffer): string => bytes.toString('latin1');

const written = (bytes: Buffer): WrittenBytes =>
  isUtf8(bytes) ? bytes.toString() : { base64: bytes.toString('base64') };
