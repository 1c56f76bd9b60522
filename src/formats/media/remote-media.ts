import type { JsonObject, MediaPart } from '../conversation.ts';
import { isObject } from '../json/object.ts';
import { toDataUri } from './media-types.ts';

/** A top-level key of a body and what follows. */
export type MediaPath = readonly [string, ...(string | number)[]];

/** Media that a body references by URL instead of holding it. */
export interface RemoteMedia {
  /** The part that holds it, as errors name it: `messages[0].content[1]`. */
  readonly param: string;
  readonly url: string;
  /** As far as the caller or the URL shows it. */
  readonly media: MediaPart['media'];
  readonly mime: string | undefined;
  /** Path in the body of the value that holds the URL. */
  readonly path: MediaPath;
  /** The value with the bytes in place of the URL; undefined when this part cannot hold media of that type. */
  embed(content: FetchedMedia): unknown;
}

/** A part that names a file which the gateway stores, by its id or by an address that ends with it. */
export interface FileReference extends RemoteMedia {
  /** The value with another address of the file, which its target reads itself. */
  link(uri: string, mime: string): unknown;
}

/** True for a text that names a stored file. */
export type IsStored = (text: string) => boolean;

export interface FetchedMedia {
  /** Without parameters, in lower case. */
  readonly mime: string;
  /** Text is UTF-8. */
  readonly data: Buffer;
  /** The file's name, for a part that has none of its own. */
  readonly name?: string;
}

/** Where media are sent. */
interface MediaPlace {
  readonly host: string;
  /** The caller wrote the body in the upstream's format. */
  readonly native: boolean;
  /** The operator lets URLs pass to an upstream that fetches them (`remote_media.pass`). */
  readonly pass?: boolean;
  /** See `RequestTarget`. */
  readonly extensions?: ReadonlySet<string> | undefined;
}

/** URL support of an upstream that does not fetch all media itself. */
export interface MediaByUrl {
  /** Whether the upstream takes this URL unchanged. */
  fetches(media: Pick<RemoteMedia, 'url' | 'media' | 'mime'>, place: MediaPlace): boolean;
  /** Types that the upstream reads when it gets the bytes. */
  readonly types: ReadonlySet<string>;
  /** A body in the upstream's own format is sent as it is. */
  readonly ownUrlsPass?: boolean;
}

/** Any URL except data URIs, which hold their bytes already. */
export const isAddress = (text: unknown): text is string =>
  typeof text === 'string' && /^(?!data:)[a-z][a-z0-9+.-]*:\/\//i.test(text);

/** The addresses that `find` finds in the objects of a list. The decoder refuses malformed content. */
export function mediaIn(
  list: unknown,
  path: MediaPath,
  find: (item: JsonObject, path: MediaPath) => readonly FileReference[],
): readonly FileReference[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((item: unknown, at) => (isObject(item) ? find(item, [...path, at]) : []));
}

/** Whether a value names a stored file. */
export const namesStored =
  (isStored: IsStored) =>
  (value: unknown): value is string =>
    typeof value === 'string' && isStored(value);

/** `messages[0].content[1]`, as all errors write it. */
export const writtenPath = (path: MediaPath): string =>
  path.map((step, at) => (typeof step === 'number' ? `[${step}]` : at === 0 ? step : `.${step}`)).join('');

export const dataUriOf = ({ mime, data }: FetchedMedia): string => toDataUri(mime, data.toString('base64'));

/** The value with a replacement at a path; only containers on the path are copied. A missing path changes nothing. */
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
