import type { Conversation, JsonObject } from '../conversation.ts';
import type { EncodedRequest, ReplyContext, RequestTarget } from '../format.ts';
import { encodeConfig } from './encode-config.ts';
import { encodeContents } from './encode-contents.ts';
import { encodeTools } from './encode-tools.ts';
import { checkLabels } from './labels.ts';
import { LossReport } from './losses.ts';
import { traitsOf } from './models.ts';
import { asList, isObject, objectsOf } from './wire.ts';

/** Conversation → body of generateContent and streamGenerateContent, which are one (wire.md C4, D1–D8). */
export function encodeRequest(conversation: Conversation, target: RequestTarget, reply: ReplyContext): EncodedRequest {
  const losses = new LossReport();
  const traits = traitsOf(target.model);
  const { contents, systemInstruction } = encodeContents(conversation.turns, traits, target, losses);
  const { tools, toolConfig, customTools } = encodeTools(conversation, traits, losses);
  const generationConfig = encodeConfig(conversation, traits, target, losses);
  reportOpenAiOnly(conversation, losses);
  const body: JsonObject = {
    contents,
    ...(systemInstruction && { systemInstruction }),
    ...(tools && { tools }),
    ...(toolConfig && { toolConfig }),
    ...(conversation.safetySettings && { safetySettings: conversation.safetySettings }),
    ...(Object.keys(generationConfig).length > 0 && { generationConfig }),
    ...encodeLabels(conversation.labels, target, losses),
    ...encodeServiceTier(conversation.serviceTier, target, losses),
  };
  return {
    body: withExtras(body, conversation, losses),
    losses: losses.list(),
    reply: customTools.length > 0 ? { ...reply, customTools } : reply,
  };
}

/** Fields of the conversation that no field of Gemini stands for (wire.md D1). */
function reportOpenAiOnly(conversation: Conversation, losses: LossReport): void {
  if (conversation.user !== undefined) losses.dropped('user', 'Gemini has no user identifier');
  if (conversation.metadata !== undefined)
    losses.dropped('metadata', 'Gemini has no metadata; cost labels are `labels`');
  if (conversation.verbosity !== undefined) losses.dropped('verbosity', 'Gemini has no verbosity');
}

function encodeLabels(labels: JsonObject | undefined, target: RequestTarget, losses: LossReport): JsonObject {
  if (!labels) return {};
  const checked = checkLabels(labels);
  if (target.host === 'vertex') return { labels: checked };
  losses.dropped('labels', 'only Vertex AI has cost labels');
  return {};
}

const TIERS = new Map([
  ['default', 'standard'],
  ['flex', 'flex'],
  ['priority', 'priority'],
]);

/** Vertex names the tier in headers, which are the provider's (wire.md C2); `auto` is what happens anyway. */
function encodeServiceTier(tier: string | undefined, target: RequestTarget, losses: LossReport): JsonObject {
  if (tier === undefined || tier === 'auto') return {};
  const serviceTier = TIERS.get(tier);
  if (target.host === 'direct' && serviceTier) return { serviceTier };
  losses.dropped('service_tier', 'this tier has no place in the body');
  return {};
}

/** Gemini's own further fields go on as they came; half-known objects (`generationConfig`) get their rest back. */
function withExtras(body: JsonObject, { extras, extrasFormat }: Conversation, losses: LossReport): JsonObject {
  if (!extras) return body;
  if (extrasFormat !== 'gemini') {
    for (const name of Object.keys(extras)) losses.dropped(name, 'Gemini has no such field');
    return body;
  }
  const { functionDeclarations, ...others } = extras;
  const tools = asList(body['tools']).map((tool) => withDeclarationRests(tool, functionDeclarations));
  return merge(others, tools.length > 0 ? { ...body, tools } : body);
}

/** Fields of a declaration that no other API has (its response schema), kept by function name. */
function withDeclarationRests(tool: unknown, rests: unknown): unknown {
  if (!isObject(tool) || !Array.isArray(tool['functionDeclarations']) || !isObject(rests)) return tool;
  const functionDeclarations = objectsOf(tool['functionDeclarations']).map((declaration) => {
    const rest = rests[String(declaration['name'])];
    return isObject(rest) ? { ...rest, ...declaration } : declaration;
  });
  return { ...tool, functionDeclarations };
}

/** What the conversation says wins over what was left over. */
function merge(rest: JsonObject, own: JsonObject): JsonObject {
  const merged = { ...rest, ...own };
  for (const [name, value] of Object.entries(rest)) {
    const mine = own[name];
    if (isObject(value) && isObject(mine)) merged[name] = merge(value, mine);
  }
  return merged;
}
