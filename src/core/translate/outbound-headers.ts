import { formats } from '../../formats/index.ts';
import type { Exchange, ResolvedTarget, Target } from '../kernel/index.ts';
import type { Loss } from '../../formats/conversation.ts';
import type { ModelFeatures } from '../../formats/format.ts';

type Headers = Readonly<Record<string, string>>;

export interface HeaderSources {
  /** Lower-case names of the caller's headers that the config forwards. */
  readonly forward: readonly string[];
  /** The caller's headers that the target's API takes. */
  readonly ofCaller: Headers;
  /** The headers that the format sets. */
  readonly ofFormat: Headers | undefined;
  readonly ofProvider: Headers;
}

/** No headers from the caller. Compared by identity. */
const NO_HEADERS: Headers = Object.freeze({});

const JSON_BODY = Object.freeze({ 'content-type': 'application/json' });

/** Headers whose values are lists: each source may add entries. */
const LISTS: readonly string[] = Object.values(formats).flatMap(({ requestHeaders }) =>
  requestHeaders ? [requestHeaders.features.header] : [],
);

/**
 * Headers of a request to an upstream, without credentials. They are merged in this order, later ones winning: the
 * caller's forwarded and mapped headers, the format's, the provider's, the caller's for the target's API. Lists are joined.
 */
export function outboundHeaders({ request, mappedHeaders }: Exchange, sources: HeaderSources): Headers {
  const { forward, ofCaller, ofFormat, ofProvider } = sources;
  // The path of nearly every request: the caller sends no such headers.
  if (forward.length === 0 && ofCaller === NO_HEADERS && !mappedHeaders)
    return ofFormat ? { ...ofFormat, ...ofProvider, ...JSON_BODY } : ownHeaders(ofProvider);
  const forwarded: Record<string, string> = {};
  for (const name of forward) {
    const value = request.headers[name];
    // node:http joins repeated headers. Only `set-cookie`, which is never forwarded, arrives as an array.
    // `hasOwn` excludes inherited properties: a header may be called `constructor`.
    if (value !== undefined && Object.hasOwn(request.headers, name)) forwarded[name] = [value].flat().join(', ');
  }
  for (const [name, { value }] of Object.entries(mappedHeaders ?? {})) forwarded[name] = value;
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

/** A provider's headers with the body's, made once for each place of a model. */
const own = new WeakMap<Headers, Headers>();

function ownHeaders(ofProvider: Headers): Headers {
  let headers = own.get(ofProvider);
  if (!headers) own.set(ofProvider, (headers = Object.freeze({ ...ofProvider, ...JSON_BODY })));
  return headers;
}

/** The names of comma lists, each once, in the order they come. */
export const namesIn = (lists: readonly string[]): readonly string[] => [
  ...new Set(lists.flatMap((list) => list.split(',').map((name) => name.trim())).filter((name) => name !== '')),
];

/** The features that the caller requests, in the API's own header or in the gateway's. */
function featuresOf({ longContext, request }: Exchange, features: ModelFeatures): readonly string[] {
  const { header, ownHeaders } = features;
  const bySuffix = longContext ? features.longContext : undefined;
  const apiHeader = request.headers[header];
  if (
    bySuffix === undefined &&
    apiHeader === undefined &&
    (!request.head.own || ownHeaders.every((name) => request.header(name) === undefined))
  )
    return NONE;
  const lists = [apiHeader, ...ownHeaders.map((name) => request.header(name)), bySuffix].flat();
  return namesIn(lists.filter((list) => list !== undefined));
}

const NONE: readonly never[] = [];

/**
 * Features are sent on every route, because they belong to the model. The version belongs to the body: it goes only
 * with a body of this API, and not to a host that has it in the body (docs/protocols/vertex-ai.md#claude-version).
 */
export function callerHeaders(
  exchange: Exchange,
  { format: name, host }: Pick<ResolvedTarget, 'format' | 'host'>,
): Readonly<Record<string, string>> {
  const { requestHeaders } = formats[name];
  if (!requestHeaders) return NO_HEADERS;
  const { features, version: versionHeader } = requestHeaders;
  const wanted = featuresOf(exchange, features);
  const isOwnBody = host === 'direct' && exchange.operation?.format.name === name;
  const version = isOwnBody ? exchange.request.headers[versionHeader] : undefined;
  if (wanted.length === 0 && !version) return NO_HEADERS;
  return {
    ...(wanted.length > 0 && { [features.header]: wanted.join(',') }),
    ...(typeof version === 'string' && version !== '' && { [versionHeader]: version }),
  };
}

const WITH_FEATURES = Object.values(formats).flatMap(({ name, requestHeaders }) =>
  requestHeaders ? [{ name, features: requestHeaders.features }] : [],
);

/**
 * Features are losses at a target of another API, whether header or body requests them, unless the config forwards the
 * header (docs/protocols/messages-route.md#dropped-fields): a caller must learn that no longer context is available.
 */
export function lostFeatures(
  exchange: Exchange,
  { forwardHeaders }: Pick<Target, 'forwardHeaders'>,
  { format }: Pick<ResolvedTarget, 'format'>,
): readonly Loss[] {
  let lost: readonly Loss[] = NONE;
  for (let at = 0; at < WITH_FEATURES.length; at += 1) {
    const { name, features } = WITH_FEATURES[at]!;
    if (name === format || forwardHeaders.includes(features.header)) continue;
    const requested = featuresOf(exchange, features);
    if (requested.length === 0) continue;
    const has = features.elsewhere?.[format];
    const missing = has ? requested.filter((feature) => !has.test(feature)) : requested;
    lost = [...lost, ...missing.map((feature) => lostFeature(features, feature, features.owner))];
  }
  return lost;
}

/** All such headers of the caller. The cache key contains them, because they change replies. */
export const spokenHeaders = ({ longContext, request }: Exchange): readonly (string | undefined)[] =>
  Object.values(formats).flatMap(({ requestHeaders }) => {
    if (!requestHeaders) return [];
    const { version, features } = requestHeaders;
    return [
      ...[version, features.header].map((name) => request.headers[name]?.toString()),
      ...features.ownHeaders.map((name) => request.header(name)),
      ...(longContext ? [features.longContext] : []),
    ];
  });

export const lostFeature = ({ header }: Pick<ModelFeatures, 'header'>, name: string, reason: string): Loss => ({
  param: `${header}: ${name}`,
  action: 'dropped',
  reason,
});
