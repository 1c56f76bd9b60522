/**
 * A chat request as a caller of the AI SDK (for `ai` 6) writes it: options of a provider's language model. Read from the request
 * alone, with nothing of Gatehouse: where this and src/formats are of one mind, two readers are.
 */
import type { Client, Json } from './outbound.ts';
import { promptOf } from './sdk-prompt.ts';
import { choiceOf, toolsOf } from './sdk-tools.ts';
import { compact, object, string, unspoken, type Call, type Family, type ProviderOptions } from './sdk-words.ts';

/** Fields that have no counterpart in the AI SDK at all; those it has for one family only. */
const NEVER = new Set([
  'n',
  'logprobs',
  'top_logprobs',
  'logit_bias',
  'prediction',
  'store',
  'verbosity',
  'metadata',
  'moderation',
  'service_tier',
  'prompt_cache_key',
  'prompt_cache_options',
  'audio',
  'frobnicate',
  'anthropic_beta',
  'anthropic_version',
]);
const ONE_FAMILY: Readonly<Record<string, Family>> = {
  user: 'claude',
  safety_identifier: 'claude',
  parallel_tool_calls: 'claude',
  labels: 'gemini',
  safety_settings: 'gemini',
  image_config: 'gemini',
  modalities: 'gemini',
};

/** Whose models they are: Claude is spoken to alike at Anthropic and on Vertex AI. */
const makerOf = (family: Family): Family => (family === 'claudeOnVertex' ? 'claude' : family);

/** Under the name by which the provider looks for them. */
export function optionsFor(family: Family, options: Json): ProviderOptions | undefined {
  if (Object.keys(options).length === 0) return undefined;
  return { [OPTIONS[family]]: options } as ProviderOptions;
}
const OPTIONS = {
  gemini: 'google',
  claude: 'anthropic',
  claudeOnVertex: 'anthropic',
  llama: 'llama',
  openai: 'openai',
} as const satisfies Readonly<Record<Family, string>>;

export interface Asked {
  readonly client: Client;
  readonly request: Json;
  readonly strictParams: boolean;
  /** False: the caller wants to see the model's thoughts. */
  readonly strict: boolean;
}

export function toCall({ request, strict }: Asked, family: Family, model: string): Call {
  for (const [field, value] of Object.entries(request)) {
    if (value === null || value === undefined) continue;
    const only = ONE_FAMILY[field];
    if (NEVER.has(field) || (only && only !== makerOf(family))) unspoken(`\`${field}\` for ${family}`);
  }
  const asked = Object.fromEntries(Object.entries(request).filter(([, value]) => value !== null));
  return compact({
    prompt: promptOf(asked),
    maxOutputTokens: asked['max_completion_tokens'] ?? asked['max_tokens'],
    temperature: asked['temperature'],
    topP: asked['top_p'],
    topK: asked['top_k'],
    frequencyPenalty: asked['frequency_penalty'],
    presencePenalty: asked['presence_penalty'],
    seed: asked['seed'],
    stopSequences: asked['stop'] === undefined ? undefined : [asked['stop']].flat(),
    responseFormat: responseFormatOf(asked['response_format']),
    tools: toolsOf(asked, family),
    toolChoice: choiceOf(asked),
    providerOptions: optionsOf({ request: asked, strict }, family, model),
  }) as Call;
}

function responseFormatOf(format: unknown): Call['responseFormat'] {
  const asked = object(format);
  if (!asked) return undefined;
  if (asked['type'] === 'text') return { type: 'text' };
  if (asked['type'] === 'json_object') return { type: 'json' };
  const wrapper = object(asked['json_schema'])!;
  const bare = wrapper['type'] !== undefined;
  return compact({
    type: 'json',
    schema: bare ? wrapper : wrapper['schema'],
    name: bare ? undefined : wrapper['name'],
    description: bare ? undefined : wrapper['description'],
  }) as Call['responseFormat'];
}

function optionsOf(
  asked: Pick<Asked, 'request' | 'strict'>,
  family: Family,
  model: string,
): ProviderOptions | undefined {
  return optionsFor(family, family === 'gemini' ? geminiOptions(asked, model) : claudeOptions(asked.request, model));
}

function geminiOptions({ request, strict }: Pick<Asked, 'request' | 'strict'>, model: string): Json {
  const thinking = geminiThinking(request, model);
  const image = object(request['image_config']);
  const modalities = [request['modalities'] ?? []].flat().map((modality) => string(modality).toUpperCase());
  if (modalities.includes('AUDIO')) unspoken('answers in sound');
  return compact({
    labels: request['labels'],
    safetySettings: request['safety_settings'],
    responseModalities: modalities.length > 0 ? modalities : undefined,
    imageConfig: image && { aspectRatio: image['aspect_ratio'], imageSize: image['image_size'] },
    thinkingConfig: thinking && !strict ? { includeThoughts: true, ...thinking } : thinking,
  });
}

/** There is no common word for effort in this version: its caller says a level or a budget. */
export function geminiThinking(request: Json, model: string): Json | undefined {
  const thinking = object(request['thinking']);
  const effort = request['reasoning_effort'];
  if (!thinking && effort === undefined) return undefined;
  const byLevel = model.includes('gemini-3');
  if (thinking) {
    if (thinking['type'] === 'disabled')
      return byLevel ? unspoken('no thinking at all') : { thinkingBudget: 0, includeThoughts: false };
    if (effort !== undefined || thinking['type'] !== 'enabled') return unspoken('thinking of this kind for Gemini');
    const budget = thinking['budget_tokens'];
    if (byLevel || typeof budget !== 'number')
      return unspoken('thinking without a budget, or with one where levels are asked for');
    return { thinkingBudget: budget, ...(budget === 0 && { includeThoughts: false }) };
  }
  if (!byLevel || !['minimal', 'low', 'medium', 'high'].includes(string(effort)))
    return unspoken('an effort for this model');
  return { thinkingLevel: effort };
}

function claudeOptions(request: Json, model: string): Json {
  const userId = request['user'] ?? request['safety_identifier'];
  const parallel = request['parallel_tool_calls'];
  return compact({
    metadata: userId === undefined ? undefined : { userId },
    disableParallelToolUse: parallel === undefined ? undefined : parallel === false,
    ...claudeThinking(request, model),
  });
}

const ADAPTIVE = /claude-(?:opus-4-[6-9]|sonnet-4-6|(?:opus|sonnet|haiku|fable|mythos)-5)/;

function claudeThinking(request: Json, model: string): Json {
  const thinking = object(request['thinking']);
  const effort = request['reasoning_effort'];
  if (!thinking && effort === undefined) return {};
  if (thinking) {
    if (effort !== undefined && thinking['type'] !== 'adaptive') return unspoken('a budget and an effort');
    const { type, budget_tokens: budgetTokens } = thinking;
    // The gateway's callers turn thinking off with a budget of 0 (docs/protocols/requests.md#explicit-thinking); callers of the SDK with
    // `disabled`.
    if (budgetTokens === 0) return { thinking: { type: 'disabled' } };
    return compact({ thinking: compact({ type, budgetTokens }), effort });
  }
  if (effort === 'none') return { thinking: { type: 'disabled' } };
  if (!ADAPTIVE.test(model) || effort === 'minimal') return unspoken('an effort for this model');
  return { thinking: { type: 'adaptive', display: 'summarized' }, effort };
}
