import type { MediaPart } from '../conversation.ts';
import { isObject } from '../json/object.ts';

/** Media that a body names by its address instead of holding it. */
export interface RemoteMedia {
  /** The part it stands in, as errors name it: `messages[0].content[1]`. */
  readonly param: string;
  readonly url: string;
  /** As far as the caller or the address says it. */
  readonly media: MediaPart['media'];
  readonly mime: string | undefined;
  /** Where in the body the value stands that holds the address: a top-level key and what follows. */
  readonly path: readonly [string, ...(string | number)[]];
  /** What stands there with the bytes in it; undefined where this part cannot hold media of that type. */
  embed(content: FetchedMedia): unknown;
}

export interface FetchedMedia {
  /** Bare and lower-case. */
  readonly mime: string;
  /** Text is UTF-8. */
  readonly data: Buffer;
}

/** A place that does not fetch all media itself. */
export interface MediaByUrl {
  /** Whether it takes this address as it is. `native`: the caller wrote the body in the format that is spoken there. */
  fetches(media: Pick<RemoteMedia, 'url' | 'media' | 'mime'>, place: { host: string; native: boolean }): boolean;
  /** Types it reads when it is given the bytes. */
  readonly types: ReadonlySet<string>;
}

/** Any address; data URIs hold their bytes already. */
export const isAddress = (text: unknown): text is string =>
  typeof text === 'string' && /^(?!data:)[a-z][a-z0-9+.-]*:\/\//i.test(text);

/** The value with another one at a path; only what leads there is copied. A path that leads nowhere changes nothing. */
export function replaceAt(value: unknown, path: readonly (string | number)[], replacement: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return replacement;
  if (Array.isArray(value)) {
    return typeof step === 'number' && step in value
      ? value.with(step, replaceAt(value[step], rest, replacement))
      : value;
  }
  if (!isObject(value) || !Object.hasOwn(value, step)) return value;
  return { ...value, [step]: replaceAt(value[step], rest, replacement) };
}
