/** A value that says whose it is: fit for headers, tokens and lists. No name here has a `~` in it. */
export const canary = (owner: string, what: string): string => `canary~${owner}~${what}~`;

export interface Canary {
  /** `header`, `gateway`, `caller`, or the slug of an entry. */
  readonly owner: string;
  readonly what: string;
}

/** As they are, and in base64, as `Basic` credentials are written. */
export const canariesIn = (text: string): readonly Canary[] =>
  [text, ...decodedWords(text)].flatMap((form) =>
    [...form.matchAll(/canary~([^~\s]+)~([^~\s]+)~/g)].map(([, owner = '', what = '']) => ({ owner, what })),
  );

const decodedWords = (text: string): readonly string[] =>
  (text.match(/[A-Za-z0-9+/_-]{16,}/g) ?? []).map((word) => Buffer.from(word, 'base64').toString('latin1'));
