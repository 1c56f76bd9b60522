import type { Loss } from '../formats/conversation.ts';
import type { ModelFeatures } from '../formats/format.ts';
import { formats } from '../formats/index.ts';
import type { Exchange, ResolvedTarget, Target } from '../plugin/index.ts';
import { NOTHING, namesIn } from './outbound-headers.ts';

/** The features that a caller asks for: in the API's own header, or in the gateway's. */
function featuresOf({ request }: Exchange, { header, ownHeaders }: ModelFeatures): readonly string[] {
  const spoken = request.headers[header];
  if (spoken === undefined && ownHeaders.every((name) => request.header(name) === undefined)) return NONE;
  const lists = [spoken, ...ownHeaders.map((name) => request.header(name))].flat();
  return namesIn(lists.filter((list) => list !== undefined));
}

const NONE: readonly never[] = [];

/**
 * The caller's headers for the API that the target speaks. Features count on every route: they belong to the model. The version belongs
 * to the body, so it travels with bodies that were written for this API and with no other, and to no host that has it in the body instead
 * (docs/protocols/vertex-ai.md#claude-version).
 */
export function callerHeaders(
  exchange: Exchange,
  { format: name, host }: Pick<ResolvedTarget, 'format' | 'host'>,
): Readonly<Record<string, string>> {
  const format = formats[name];
  const { features, versionHeader } = format;
  const asked = features ? featuresOf(exchange, features) : [];
  const isOwnBody = host === 'direct' && exchange.operation?.format === format;
  const version = isOwnBody && versionHeader !== undefined ? exchange.request.headers[versionHeader] : undefined;
  if (asked.length === 0 && !version) return NOTHING;
  return {
    ...(features && asked.length > 0 && { [features.header]: asked.join(',') }),
    ...(versionHeader !== undefined && typeof version === 'string' && version !== '' && { [versionHeader]: version }),
  };
}

const WITH_FEATURES = Object.values(formats).flatMap(({ name, features }) => (features ? [{ name, features }] : []));

/**
 * Features that cannot be sent because the target speaks another API. They are losses, whether the header or the body asks for them
 * (docs/protocols/messages-route.md#dropped-fields): a caller who asks for a longer context must learn that there is none. Nothing is
 * lost where the config forwards the header.
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

/** All that callers can say so, whoever is asked: with other versions or features an answer is another. */
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
