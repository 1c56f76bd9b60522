import type { JsonObject } from '../conversation.ts';
import { RequestFault } from '../format.ts';
import type { RequestContext } from './request-context.ts';
import { shownText } from '../json/shown.ts';
import { isObject, objectOf } from '../json/object.ts';
import { stringOf } from '../json/read.ts';

/** The version that published clients of Claude on Vertex AI send (docs/protocols/vertex-ai.md#claude-version). */
export const VERTEX_VERSION = 'vertex-2023-10-16';

/** The direct API takes these two from headers: the provider sets the version, and betas.ts the betas. */
const HEADER_FIELDS = new Set(['anthropic_version', 'anthropic_beta']);

const SERVICE_TIERS: ReadonlyMap<string, string> = new Map([
  ['auto', 'auto'],
  ['default', 'standard_only'],
]);

/** Top-level fields besides model, messages, tools and sampling. */
export function encodeExtras(context: RequestContext): JsonObject {
  reportVersion(context);
  const fields = context.native ? ownExtras(context) : foreignExtras(context);
  const user = context.conversation.user ?? safetyIdentifier(context);
  const tier = serviceTier(context);
  return {
    ...fields,
    ...(user !== undefined && { metadata: { ...objectOf(fields.metadata), user_id: user } }),
    ...(tier !== undefined && { service_tier: tier }),
  };
}

/** On the direct API the provider sets the version in a header, to the one this encoder was written for. */
function reportVersion({ conversation, target, losses }: RequestContext): void {
  if (target.host === 'vertex' || typeof conversation.extras?.anthropic_version !== 'string') return;
  losses.dropped('anthropic_version', 'the gateway sets the API version itself');
}

/** Fields of a body written in this format are sent unchanged. */
function ownExtras({ conversation, target }: RequestContext): JsonObject {
  const entries = Object.entries(conversation.extras ?? {}).filter(
    ([key]) => target.host === 'vertex' || !HEADER_FIELDS.has(key),
  );
  return Object.fromEntries(entries);
}

function foreignExtras({ conversation, target, losses }: RequestContext): JsonObject {
  const extras = conversation.extras ?? {};
  for (const [key, value] of Object.entries(extras)) {
    if (HEADER_FIELDS.has(key) || value === null || (key === 'cache_control' && isObject(value))) continue;
    if (key !== 'safety_identifier') losses.dropped(key, 'Claude has no such field');
    else if (conversation.user !== undefined) losses.dropped(key, 'Claude has one user identifier: `user` was sent');
  }
  const version = stringOf(extras.anthropic_version);
  const cache = objectOf(extras.cache_control);
  return {
    ...(target.host === 'vertex' && version !== undefined && { anthropic_version: version }),
    // Callers of Claude write its markers into OpenAI bodies (docs/protocols/openai-chat.md#cache-markers). A marker here marks the end
    // of the whole prompt (docs/protocols/anthropic-messages.md#cache-control).
    ...(cache && { cache_control: cache }),
  };
}

function safetyIdentifier({ conversation, native }: RequestContext): string | undefined {
  return native ? undefined : stringOf(conversation.extras?.safety_identifier);
}

function serviceTier({ conversation, losses }: RequestContext): string | undefined {
  const { serviceTier: tier } = conversation;
  if (tier === undefined) return undefined;
  const known = SERVICE_TIERS.get(tier);
  if (known === undefined) losses.dropped('service_tier', `Claude has no tier \`${shownText(tier)}\``);
  return known;
}

/** Reports the fields of the conversation that Claude has no field for (docs/protocols/requests.md#parameters). */
export function reportUnknown(context: RequestContext): void {
  const { conversation, losses } = context;
  refuseAudio(context);
  const unknown: readonly (readonly [string, unknown])[] = [
    ['metadata', conversation.metadata],
    ['labels', conversation.labels],
    ['safety_settings', conversation.safetySettings],
    ['image_config', conversation.imageConfig],
    ['verbosity', conversation.verbosity],
  ];
  for (const [param, value] of unknown) if (value !== undefined) losses.dropped(param, 'Claude has no such setting');
}

/**
 * A caller who requests audio or images and gets text does not get the requested answer: a 400
 * (docs/protocols/requests.md#modalities).
 */
function refuseAudio({ conversation }: RequestContext): void {
  const other = conversation.modalities?.find((modality) => modality !== 'text');
  if (other !== undefined) {
    throw new RequestFault(
      'unsupported_parameter',
      `Claude answers in text, not in \`${shownText(other)}\`.`,
      'modalities',
    );
  }
  if (conversation.audio) throw new RequestFault('unsupported_parameter', 'Claude generates no audio.', 'audio');
}
