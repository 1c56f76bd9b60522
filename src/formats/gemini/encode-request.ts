import type { Conversation, JsonObject, Tool } from '../conversation.ts';
import type { EncodedRequest, ReplyContext } from '../format.ts';
import type { RequestTarget } from '../request-target.ts';
import { encodeConfig } from './encode-config.ts';
import { encodeContents } from './encode-contents.ts';
import { encodeTools } from './encode-tools.ts';
import { labelsFor, reportMetadata } from '../labels.ts';
import { LossReport, reportToolExtras } from '../losses/losses.ts';
import type { Steps } from '../steps.ts';
import { traitsOf } from './models.ts';
import { MergeRoom } from './schema-merge.ts';
import { asList, objectsOf } from './wire.ts';
import { shownText } from '../json/shown.ts';
import { absorb, isObject } from '../json/object.ts';
import { isComputerUse } from '../open-actions.ts';

/**
 * Encodes the body of generateContent and streamGenerateContent, which is the same for both
 * (docs/protocols/gemini.md#request-body, docs/protocols/requests.md#messages-for-gemini).
 */
export function* encodeRequest(
  conversation: Conversation,
  target: RequestTarget,
  reply: ReplyContext,
): Steps<EncodedRequest> {
  const losses = new LossReport(target.onUnreadablePart);
  const report = { losses, room: new MergeRoom() };
  const traits = traitsOf(target.model);
  const { contents, systemInstruction } = encodeContents(conversation, traits, target, losses);
  yield;
  const { tools, toolConfig, customTools, drawing } = encodeTools(conversation, traits, target, report);
  yield;
  const generationConfig = encodeConfig(conversation, traits, target, report);
  if (drawing) absorb(generationConfig, drawing);
  reportOpenAiOnly(conversation, target, losses);
  reportHiddenSignatures(conversation, target, losses);
  const tier = encodeServiceTier(conversation.serviceTier, target, losses);
  const body: JsonObject = { contents };
  if (systemInstruction) body.systemInstruction = systemInstruction;
  if (tools) body.tools = tools;
  if (toolConfig) body.toolConfig = toolConfig;
  if (conversation.safetySettings) body.safetySettings = conversation.safetySettings;
  if (Object.keys(generationConfig).length > 0) body.generationConfig = generationConfig;
  const labels = labelsFor(conversation.labels, target, losses);
  if (labels) body.labels = labels;
  if (tier?.body) absorb(body, tier.body);
  const hint = conversation.tools && hintOfComputerUse(conversation, target);
  return {
    body: withExtras(body, conversation, target, losses),
    ...(tier?.headers && { headers: tier.headers }),
    losses: losses.list(),
    reply: customTools ? { ...reply, customTools } : reply,
    ...(hint !== undefined && { hint }),
  };
}

/** Fields of the conversation that Gemini has no field for (docs/protocols/requests.md#parameters). */
function reportOpenAiOnly(conversation: Conversation, target: RequestTarget, losses: LossReport): void {
  if (conversation.user !== undefined) losses.dropped('user', 'Gemini has no user identifier');
  if (conversation.metadata !== undefined) reportMetadata(conversation.metadata, target, losses);
  if (conversation.verbosity !== undefined) losses.dropped('verbosity', 'Gemini has no verbosity');
}

/**
 * Computer use takes many turns, and a strict client never gets the signatures that it must send back
 * (docs/protocols/gemini.md#computer-use, docs/protocols/replies.md#strict-replies).
 */
function reportHiddenSignatures(conversation: Conversation, target: RequestTarget, losses: LossReport): void {
  const place = hidesSignatures(conversation, target) ? placeOfComputerUse(conversation.tools) : undefined;
  if (place !== undefined) {
    losses.downgraded(
      'thought_signature',
      `computer use at ${place} needs ${LAX}: thought signatures are hidden from strict clients`,
    );
  }
}

const TIERS = new Map([
  ['default', 'standard'],
  ['flex', 'flex'],
  ['priority', 'priority'],
]);

/** Tier on Vertex AI, after provisioned throughput (docs/protocols/vertex-ai.md#service-tier). */
const TIER_HEADER = 'x-vertex-ai-llm-shared-request-type';

interface EncodedTier {
  readonly body?: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
}

/** In a header on Vertex AI, in the body elsewhere (docs/protocols/gemini.md#service-tier). `auto` is the default. */
function encodeServiceTier(
  tier: string | undefined,
  { host }: RequestTarget,
  losses: LossReport,
): EncodedTier | undefined {
  if (tier === undefined || tier === 'auto') return undefined;
  const serviceTier = TIERS.get(tier);
  if (serviceTier === undefined) losses.dropped('service_tier', `Google has no tier "${shownText(tier)}"`);
  else if (host === 'direct') return { body: { serviceTier } };
  // A request without a tier gets the standard tier.
  else if (serviceTier !== 'standard') return { headers: { [TIER_HEADER]: serviceTier } };
  return undefined;
}

/** Gemini's own further fields stay. Partly decoded objects (`generationConfig`) get their other fields back. */
function withExtras(
  body: JsonObject,
  { extras, extrasFormat, tools: declared }: Conversation,
  target: RequestTarget,
  losses: LossReport,
): JsonObject {
  if (extrasFormat !== 'gemini') {
    reportToolExtras(declared, losses, 'Gemini has no such field of a tool');
    if (extras) for (const name of Object.keys(extras)) losses.dropped(name, 'Gemini has no such field');
    return body;
  }
  const { functionDeclarations, ...others } = extras ?? {};
  const tools = asList(body['tools']).map((tool) => withDeclarationRests(tool, functionDeclarations));
  return merge(forHost(others, target, losses), tools.length > 0 ? { ...body, tools } : body);
}

/** Vertex AI refuses the switch for server-side tools (docs/protocols/gemini.md#server-side-tools). */
function forHost(extras: JsonObject, { host }: RequestTarget, losses: LossReport): JsonObject {
  const config = extras['toolConfig'];
  if (host !== 'vertex' || !isObject(config) || !('includeServerSideToolInvocations' in config)) return extras;
  const { includeServerSideToolInvocations: _, ...toolConfig } = config;
  losses.dropped('toolConfig.includeServerSideToolInvocations', 'only the Gemini Developer API has it');
  const { toolConfig: __, ...others } = extras;
  return Object.keys(toolConfig).length > 0 ? { ...others, toolConfig } : others;
}

/** Restores the fields of a declaration that no other API has (its response schema), kept by function name. */
function withDeclarationRests(tool: unknown, rests: unknown): unknown {
  if (!isObject(tool) || !Array.isArray(tool['functionDeclarations']) || !isObject(rests)) return tool;
  const functionDeclarations = objectsOf(tool['functionDeclarations']).map((declaration) => {
    const rest = rests[String(declaration['name'])];
    return isObject(rest) ? { ...rest, ...declaration } : declaration;
  });
  return { ...tool, functionDeclarations };
}

/** Fields of the conversation override leftover fields. */
function merge(rest: JsonObject, own: JsonObject): JsonObject {
  const merged = { ...rest, ...own };
  for (const [name, value] of Object.entries(rest)) {
    const mine = own[name];
    if (isObject(value) && isObject(mine)) merged[name] = merge(value, mine);
  }
  return merged;
}

/** Path of the computer use tool in the request (losses/places.ts). */
function placeOfComputerUse(tools: readonly Tool[] | undefined): string | undefined {
  const at = tools?.findIndex(isComputerUse) ?? -1;
  return at < 0 ? undefined : `tools[${at}]`;
}

const LAX = 'the header x-gateway-strict-open-ai-compliance: false';

/** In the Messages API a call's signature is in its id, for every client. */
function hidesSignatures({ extrasFormat }: Conversation, { strict }: Pick<RequestTarget, 'strict'>): boolean {
  return strict && extrasFormat !== 'anthropic-messages';
}

/**
 * Describes what a request for computer use lacks (docs/protocols/gemini.md#computer-use), for the message of a
 * refusal. The gateway refuses no such request: newer models besides the computer-use preview accept the tool too.
 */
function hintOfComputerUse(
  conversation: Conversation,
  target: Pick<RequestTarget, 'model' | 'strict'>,
): string | undefined {
  if (placeOfComputerUse(conversation.tools) === undefined) return undefined;
  const missing = hidesSignatures(conversation, target) ? [LAX] : [];
  if (!/computer-use/i.test(target.model))
    missing.unshift(`a model made for it (a computer-use preview), not ${target.model}`);
  return missing.length > 0 ? `The tool computer_use needs ${missing.join(', and ')}.` : undefined;
}
