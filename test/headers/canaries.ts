/** A value that names its owner and is valid in headers, tokens and lists. No owner or name contains a `~`. */
export const canary = (owner: string, what: string): string => `canary~${owner}~${what}~`;

export interface Canary {
  /** `header`, `gateway`, `caller`, or the slug of an entry. */
  readonly owner: string;
  readonly what: string;
}

/** Canaries in plain text and in base64, the form of `Basic` credentials. */
export const canariesIn = (text: string): readonly Canary[] =>
  [text, ...decodedWords(text)].flatMap((form) =>
    [...form.matchAll(/canary~([^~\s]+)~([^~\s]+)~/g)].map(([, owner = '', what = '']) => ({ owner, what })),
  );

const decodedWords = (text: string): readonly string[] =>
  (text.match(/[A-Za-z0-9+/_-]{16,}/g) ?? []).map((word) => Buffer.from(word, 'base64').toString('latin1'));
