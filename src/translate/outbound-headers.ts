import { formats } from '../formats/index.ts';
import type { Exchange } from '../plugin/index.ts';

type Headers = Readonly<Record<string, string>>;

export interface HeaderSources {
  /** Lower-case names of the caller's headers that the config lets through. */
  readonly forward: readonly string[];
  /** What the caller says in headers to the API that is spoken at the target (caller-headers.ts). */
  readonly ofCaller: Headers;
  /** What the format says in headers and not in the body. */
  readonly ofFormat: Headers | undefined;
  readonly ofProvider: Headers;
}

/** What callers say in headers when they say nothing. */
export const NOTHING: Headers = Object.freeze({});

const JSON_BODY = Object.freeze({ 'content-type': 'application/json' });

/** Several speakers may each ask for some of these. */
const LISTS: readonly string[] = Object.values(formats).flatMap(({ features }) => (features ? [features.header] : []));

/**
 * Headers of a request to an upstream, credentials apart. They start from nothing: those of the caller that the config names,
 * then the format's, the provider's, and what the caller says to that API, each over the one before; lists are joined.
 */
export function outboundHeaders({ request }: Exchange, sources: HeaderSources): Headers {
  const { forward, ofCaller, ofFormat, ofProvider } = sources;
  // Nearly every request: the caller has said nothing here, and the provider's headers are known.
  if (forward.length === 0 && ofCaller === NOTHING) return { ...ofFormat, ...ofProvider, ...JSON_BODY };
  const forwarded: Record<string, string> = {};
  for (const name of forward) {
    const value = request.headers[name];
    // Lists of one header arrive joined; only `set-cookie`, which is never forwarded, arrives as an array.
    // Not what every object has: a header may be called `constructor`.
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
