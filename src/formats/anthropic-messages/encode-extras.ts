import type { JsonObject, Conversation } from '../conversation.ts';
import { RequestFault } from '../faults.ts';
import type { RequestTarget } from '../request-target.ts';
import { reportMetadata } from '../labels.ts';
import type { RequestContext, WireMessage } from './request-context.ts';
import { compact, isObject, objectOf, stringOf, listOf } from '../json/object.ts';
import { isResidency, residencyIn } from '../residency.ts';
import { shownText } from '../json/shown.ts';

/** The version that published clients of Claude on Vertex AI send (docs/protocols/vertex-ai.md#claude-version). */
export const VERTEX_VERSION = 'vertex-2023-10-16';

/**
 * The API has the model in the body. Vertex AI has it in the path (docs/protocols/vertex-ai.md#claude-on-vertex-ai), except for a token
 * count (docs/protocols/vertex-ai.md#claude-token-count).
 */
export function isModelInBody({ host, modelInBody }: RequestTarget): boolean {
  return host === 'direct' || modelInBody === true;
}

/** The direct API takes these two from headers: the provider sets the version, and `betasOf` returns the betas. */
const HEADER_FIELDS = new Set(['anthropic_version', 'anthropic_beta']);

const SERVICE_TIERS: ReadonlyMap<string, string> = new Map([
  ['auto', 'auto'],
  ['default', 'standard_only'],
]);

/** Top-level fields besides model, messages, tools, thinking and sampling. */
export function encodeExtras(context: RequestContext): JsonObject {
  reportVersion(context);
  const fields = context.native ? ownExtras(context) : foreignExtras(context);
  const user = context.conversation.user ?? safetyIdentifier(context);
  const tier = serviceTier(context);
  if (user === undefined && tier === undefined) return fields;
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
  const { extras } = conversation;
  if (!extras) return {};
  for (const [key, value] of Object.entries(extras)) {
    if (HEADER_FIELDS.has(key) || isResidency(key) || value === null || (key === 'cache_control' && isObject(value)))
      continue;
    if (key !== 'safety_identifier') losses.dropped(key, 'Claude has no such field');
    else if (conversation.user !== undefined) losses.dropped(key, 'Claude has one user identifier: `user` was sent');
  }
  const version = stringOf(extras.anthropic_version);
  const { scope, ...cache } = objectOf(extras.cache_control) ?? {};
  if ((scope ?? null) !== null) losses.dropped('cache_control.scope', 'it needs a beta of the Messages API');
  return {
    ...(target.host === 'vertex' && version !== undefined && { anthropic_version: version }),
    ...(target.host === 'direct' && residencyIn(extras)),
    // Callers of Claude write its markers into OpenAI bodies (docs/protocols/openai-chat.md#cache-markers). A marker here marks the end
    // of the whole prompt (docs/protocols/anthropic-messages.md#cache-control).
    ...(Object.keys(cache).length > 0 && { cache_control: cache }),
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
  refuseAudio(context);
  const { conversation } = context;
  if (conversation.metadata) reportMetadata(conversation.metadata, context.target, context.losses);
  dropSet('safety_settings', conversation.safetySettings, context);
  dropSet('image_config', conversation.imageConfig, context);
  dropSet('verbosity', conversation.verbosity, context);
}

function dropSet(param: string, value: unknown, { losses }: RequestContext): void {
  if (value !== undefined) losses.dropped(param, 'Claude has no such setting');
}

/** A text is no answer to a request for audio or images: a 400 (docs/protocols/requests.md#modalities). */
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

/** The beta that sources of type `file` need (docs/protocols/anthropic-messages.md#betas). */
const FILES = 'files-api-2025-04-14';

/** Token syntax of a list in a header (RFC 9110, 5.6.2), so that a body cannot write further headers. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

/**
 * The `anthropic-beta` header, a comma-separated list (docs/protocols/anthropic-messages.md#headers): the betas that the caller's body
 * names in `anthropic_beta` (a string or a list) and those that the messages need. Undefined if there are none.
 * @param further betas that the body needs
 */
export function betasOf(
  { extras }: Conversation,
  messages: readonly WireMessage[],
  further: readonly string[],
): string | undefined {
  const requested = extras?.anthropic_beta;
  const needed = messages.some(needsFiles) ? [FILES, ...further] : further;
  if (requested === undefined) return needed.length > 0 ? needed.join(',') : undefined;
  const names = (listOf(requested) ?? [requested]).flatMap((entry) => (stringOf(entry) ?? '').split(','));
  const betas = new Set(names.map((name) => name.trim()).filter((name) => name !== ''));
  for (const name of betas) {
    if (!TOKEN.test(name))
      throw new RequestFault('invalid_value', '`anthropic_beta` holds an invalid beta name.', 'anthropic_beta');
  }
  for (const name of needed) betas.add(name);
  return betas.size > 0 ? [...betas].join(',') : undefined;
}

const needsFiles = ({ content }: WireMessage): boolean => content.some(holdsFile);

/** A tool result holds blocks of its own. */
function holdsFile(block: unknown): boolean {
  if (!isObject(block)) return false;
  return objectOf(block.source)?.type === 'file' || (listOf(block.content)?.some(holdsFile) ?? false);
}

/** `thinking` fixes the sampling of every generation (docs/protocols/anthropic-messages.md#sampling). */
export function encodeSampling(context: RequestContext, thinking: boolean): JsonObject {
  refuseSeveral(context);
  const { sampling } = context.conversation;
  const fixed = reasonForDefaults(context, thinking);
  const temperature = encodeTemperature(context, fixed);
  const { topP, topK } = sampling;
  const clashes = temperature !== undefined && !context.facts.temperatureWithTopP;
  const onTopP =
    (topP !== undefined && topP < 0.99 ? fixed : undefined) ??
    (clashes ? 'this model takes temperature or top_p, not both' : undefined);
  const fields = {
    temperature,
    top_p: unlessRefused('top_p', topP, onTopP, context),
    top_k: unlessRefused('top_k', topK, fixed, context),
    stop_sequences: encodeStop(context),
  };
  dropSet('frequency_penalty', sampling.frequencyPenalty, context);
  dropSet('presence_penalty', sampling.presencePenalty, context);
  dropSet('seed', sampling.seed, context);
  // `logprobs: false` is what Claude does anyway, and no loss.
  dropSet('logprobs', sampling.logprobs || undefined, context);
  dropSet('top_logprobs', sampling.topLogprobs, context);
  return compact(fields);
}

function refuseSeveral({ conversation }: RequestContext): void {
  const { n } = conversation.sampling;
  if (n !== undefined && n !== 1) {
    throw new RequestFault('unsupported_parameter', 'Claude gives one answer per request: `n` must be 1.', 'n');
  }
}

/** The reason why only the default can be sent; undefined when any value can be sent. */
function reasonForDefaults({ facts }: RequestContext, thinking: boolean): string | undefined {
  if (facts.fixedSampling) return 'this model accepts only the default';
  return thinking ? 'Claude accepts only the default while it thinks' : undefined;
}

function encodeTemperature(context: RequestContext, fixed: string | undefined): number | undefined {
  const { temperature } = context.conversation.sampling;
  if (temperature === undefined) return undefined;
  const value = Math.min(1, Math.max(0, temperature));
  // 1 is the default, which is never refused.
  if (fixed !== undefined && value !== 1) return unlessRefused('temperature', value, fixed, context);
  if (value !== temperature) context.losses.clamped('temperature', `Claude’s range is 0 to 1: ${value} was sent`);
  return value;
}

/** The value, or undefined and a loss when there is a reason against it. */
function unlessRefused(
  param: string,
  value: number | undefined,
  reason: string | undefined,
  { losses }: RequestContext,
): number | undefined {
  if (value === undefined || reason === undefined) return value;
  return losses.dropped(param, reason);
}

function encodeStop({ conversation, losses }: RequestContext): readonly string[] | undefined {
  const { stop } = conversation.sampling;
  if (!stop) return undefined;
  const kept = stop.filter((sequence) => sequence.trim() !== '');
  if (kept.length < stop.length) losses.dropped('stop', 'Claude refuses stop sequences of white space');
  return kept.length > 0 ? kept : undefined;
}
