import { formats } from '../formats/index.ts';
import type { Exchange } from '../plugin/index.ts';

type Headers = Readonly<Record<string, string>>;

export interface HeaderSources {
  /** Lower-case names of the caller's headers that the config forwards. */
  readonly forward: readonly string[];
  /** The caller's headers for the target's API (caller-headers.ts). */
  readonly ofCaller: Headers;
  /** The headers that the format sets. */
  readonly ofFormat: Headers | undefined;
  readonly ofProvider: Headers;
}

/** No headers from the caller. Compared by identity. */
export const NO_HEADERS: Headers = Object.freeze({});

const JSON_BODY = Object.freeze({ 'content-type': 'application/json' });

/** Headers whose values are lists: each source may add entries. */
const LISTS: readonly string[] = Object.values(formats).flatMap(({ features }) => (features ? [features.header] : []));

/**
 * Headers of a request to an upstream, without credentials. They are merged in this order, later ones winning: the
 * caller's forwarded headers, the format's, the provider's, the caller's for the target's API. Lists are joined.
 */
export function outboundHeaders({ request }: Exchange, sources: HeaderSources): Headers {
  const { forward, ofCaller, ofFormat, ofProvider } = sources;
  // The path of nearly every request: the caller sends no such headers.
  if (forward.length === 0 && ofCaller === NO_HEADERS) return { ...ofFormat, ...ofProvider, ...JSON_BODY };
  const forwarded: Record<string, string> = {};
  for (const name of forward) {
    const value = request.headers[name];
    // node:http joins repeated headers. Only `set-cookie`, which is never forwarded, arrives as an array.
    // `hasOwn` excludes inherited properties: a header may be called `constructor`.
    if (value !== undefined && Object.hasOwn(request.headers, name)) forwarded[name] = [value].flat().join(', ');
  }
  const layers = [forwarded, ofFormat ?? {}, ofProvider, ofCaller];
  const headers: Record<string, string> = {};
  for (const layer of layers) Object.assign(headers, layer);
  Object.assign(headers, JSON_BODY);
  for (const name of LISTS) {
    const given = layers.map((layer) => layer[name]).filter((list) => list !== undefined);
    if (given.length > 0) headers[name] = namesIn(given).join(',');
  }
  return headers;
}

/** The names of comma lists, each once, in the order they come. */
export const namesIn = (lists: readonly string[]): readonly string[] => [
  ...new Set(lists.flatMap((list) => list.split(',').map((name) => name.trim())).filter((name) => name !== '')),
];
