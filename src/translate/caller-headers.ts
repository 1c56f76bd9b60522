import type { Loss } from '../formats/conversation.ts';
import type { ModelFeatures } from '../formats/format.ts';
import { formats } from '../formats/index.ts';
import type { Exchange, ResolvedTarget, Target } from '../plugin/index.ts';
import { NO_HEADERS, namesIn } from './outbound-headers.ts';

/** The features that the caller requests, in the API's own header or in the gateway's. */
function featuresOf({ request }: Exchange, { header, ownHeaders }: ModelFeatures): readonly string[] {
  const apiHeader = request.headers[header];
  if (apiHeader === undefined && ownHeaders.every((name) => request.header(name) === undefined)) return NONE;
  const lists = [apiHeader, ...ownHeaders.map((name) => request.header(name))].flat();
  return namesIn(lists.filter((list) => list !== undefined));
}

const NONE: readonly never[] = [];

/**
 * The caller's headers for the API of the target. Features are sent on every route, because they belong to the model.
 * The version belongs to the body: it is sent only with a body written for this API, and not to a host that has it in
 * the body instead (docs/protocols/vertex-ai.md#claude-version).
 */
export function callerHeaders(
  exchange: Exchange,
  { format: name, host }: Pick<ResolvedTarget, 'format' | 'host'>,
): Readonly<Record<string, string>> {
  const format = formats[name];
  const { features, versionHeader } = format;
  const wanted = features ? featuresOf(exchange, features) : [];
  const isOwnBody = host === 'direct' && exchange.operation?.format === format;
  const version = isOwnBody && versionHeader !== undefined ? exchange.request.headers[versionHeader] : undefined;
  if (wanted.length === 0 && !version) return NO_HEADERS;
  return {
    ...(features && wanted.length > 0 && { [features.header]: wanted.join(',') }),
    ...(versionHeader !== undefined && typeof version === 'string' && version !== '' && { [versionHeader]: version }),
  };
}

const WITH_FEATURES = Object.values(formats).flatMap(({ name, features }) => (features ? [{ name, features }] : []));

/**
 * Features that cannot be sent because the target has another API. They are losses, whether the header or the body
 * requests them (docs/protocols/messages-route.md#dropped-fields): a caller who requests a longer context must learn
 * that it is not available. Nothing is lost if the config forwards the header.
 */
export function lostFeatures(
  exchange: Exchange,
  { forwardHeaders }: Pick<Target, 'forwardHeaders'>,
  { format }: Pick<ResolvedTarget, 'format'>,
): readonly Loss[] {
  return WITH_FEATURES.flatMap(({ name, features }) => {
    if (name === format || forwardHeaders.includes(features.header)) return [];
    return featuresOf(exchange, features).map((feature) => lostFeature(features, feature, features.owner));
  });
}

/**
 * All such headers of the caller, for any target. The cache key contains them, because other versions or features yield
 * other replies.
 */
export function spokenHeaders({ request }: Exchange): readonly (string | undefined)[] {
  const read = (name: string | undefined) => (name === undefined ? undefined : request.headers[name]?.toString());
  return Object.values(formats).flatMap(({ features, versionHeader }) => [
    read(versionHeader),
    read(features?.header),
    ...(features?.ownHeaders ?? []).map((name) => request.header(name)),
  ]);
}

export const lostFeature = ({ header }: Pick<ModelFeatures, 'header'>, name: string, reason: string): Loss => ({
  param: `${header}: ${name}`,
  action: 'dropped',
  reason,
});
