import type {
  Conversation,
  JsonObject,
  Reasoning,
  ReasoningEffort,
  ResponseFormat,
  Sampling,
} from '../conversation.ts';
import type { Origins } from '../losses/origins.ts';
import { decodeContents } from './decode-contents.ts';
import { nestedRequest } from './count-request.ts';
import { decodeTools } from './decode-tools.ts';
import { asList, leftover, optional, pick, asNumber, stringsOf } from './wire.ts';
import { absorb, objectOf, isObject, stringOf, booleanOf } from '../json/object.ts';
import { fromOpenApi } from './schema.ts';

const KNOWN = new Set(
  'model stream contents systemInstruction tools toolConfig safetySettings generationConfig labels'.split(' '),
);

const TIERS = new Map<unknown, string>([
  ['standard', 'default'],
  ['flex', 'flex'],
  ['priority', 'priority'],
]);

/**
 * Decodes the body of generateContent or streamGenerateContent. Model and streaming are in the URL of this API. The
 * operation that reads the URL puts them into the body as `model` and `stream`, as in all other APIs.
 */
export function decodeRequest(received: JsonObject, origins?: Origins): Conversation {
  const { model, stream } = received;
  const body = { ...(nestedRequest(received) ?? received), model, stream };
  const { fields, rest } = decodeConfig(pick(body, 'generationConfig'));
  const {
    tools,
    toolChoice,
    extras: toolExtras,
  } = decodeTools({ tools: pick(body, 'tools'), toolConfig: pick(body, 'toolConfig') }, origins);
  const tier = pick(body, 'serviceTier');
  const serviceTier = TIERS.get(typeof tier === 'string' ? tier.toLowerCase() : tier);
  const known = serviceTier === undefined ? KNOWN : new Set([...KNOWN, 'serviceTier']);
  const extras = leftover(body, known) ?? {};
  absorb(extras, { ...toolExtras, ...optional('generationConfig', rest) });
  const { turns, losses } = decodeContents(pick(body, 'systemInstruction'), pick(body, 'contents'), origins);
  // LangChain sends an empty list, which other servers may refuse.
  const safetySettings = asList(pick(body, 'safetySettings'));
  return {
    model: (stringOf(body['model']) ?? '').replace(/^models\//, ''),
    stream: body['stream'] === true,
    turns,
    ...fields,
    ...optional('tools', tools),
    ...optional('toolChoice', toolChoice),
    ...(safetySettings.length > 0 && { safetySettings }),
    ...optional('labels', objectOf(pick(body, 'labels'))),
    ...optional('serviceTier', serviceTier),
    ...(losses.length > 0 && { unread: losses }),
    ...(Object.keys(extras).length > 0 && { extras, extrasFormat: 'gemini' }),
  };
}

type ConfigFields = Pick<
  Conversation,
  'sampling' | 'maxTokens' | 'responseFormat' | 'reasoning' | 'modalities' | 'audio' | 'imageConfig'
>;

interface DecodedConfig {
  readonly fields: ConfigFields;
  /** Fields that only this format has, for `extras.generationConfig`. */
  readonly rest: JsonObject | undefined;
}

const PLAIN_FIELDS = [
  'maxOutputTokens temperature topP topK candidateCount seed stopSequences presencePenalty frequencyPenalty',
  'responseLogprobs logprobs thinkingConfig responseModalities imageConfig',
]
  .join(' ')
  .split(' ');

function decodeConfig(source: unknown): DecodedConfig {
  const config = objectOf(source) ?? {};
  const format = decodeResponseFormat(config);
  const speech = decodeSpeech(config);
  const taken = new Set([...PLAIN_FIELDS, ...(format.known ? FORMAT_FIELDS : []), ...(speech ? ['speechConfig'] : [])]);
  const modalities = stringsOf(pick(config, 'responseModalities')).map((modality) => modality.toLowerCase());
  return {
    fields: {
      sampling: decodeSampling(config),
      ...optional('maxTokens', asNumber(pick(config, 'maxOutputTokens'))),
      ...optional('responseFormat', format.value),
      ...optional('reasoning', decodeThinking(pick(config, 'thinkingConfig'))),
      ...(modalities.length > 0 && { modalities }),
      ...optional('audio', speech),
      ...optional('imageConfig', objectOf(pick(config, 'imageConfig'))),
    },
    rest: leftover(config, taken),
  };
}

function decodeSampling(config: JsonObject): Sampling {
  const number = (name: string) => asNumber(pick(config, name));
  const stop = stringsOf(pick(config, 'stopSequences'));
  return {
    ...optional('temperature', number('temperature')),
    ...optional('topP', number('topP')),
    ...optional('topK', number('topK')),
    ...optional('frequencyPenalty', number('frequencyPenalty')),
    ...optional('presencePenalty', number('presencePenalty')),
    ...optional('seed', number('seed')),
    ...(stop.length > 0 && { stop }),
    ...optional('n', number('candidateCount')),
    ...optional('logprobs', booleanOf(pick(config, 'responseLogprobs'))),
    ...optional('topLogprobs', number('logprobs')),
  };
}

const FORMAT_FIELDS = ['responseMimeType', 'responseSchema', 'responseJsonSchema'];

/** JSON with or without a schema; `text/plain` is the default. Only Gemini has other types (`text/x.enum`). */
function decodeResponseFormat(config: JsonObject): { readonly known: boolean; readonly value?: ResponseFormat } {
  const mime = pick(config, 'responseMimeType');
  const schema = pick(config, 'responseJsonSchema');
  const openApi = pick(config, 'responseSchema');
  if (mime === 'application/json') {
    if (isObject(schema)) return { known: true, value: { type: 'json_schema', schema } };
    if (isObject(openApi)) return { known: true, value: { type: 'json_schema', schema: fromOpenApi(openApi) } };
    return { known: true, value: { type: 'json_object' } };
  }
  return { known: mime === 'text/plain' && schema === undefined && openApi === undefined };
}

const EFFORTS = new Map<string | undefined, ReasoningEffort>([
  ['MINIMAL', 'minimal'],
  ['LOW', 'low'],
  ['MEDIUM', 'medium'],
  ['HIGH', 'high'],
]);

/** A budget is explicit thinking, a level an effort, `includeThoughts` without a budget adaptive thinking. */
function decodeThinking(source: unknown): Reasoning | undefined {
  if (!isObject(source)) return undefined;
  const effort = EFFORTS.get(stringOf(pick(source, 'thinkingLevel'))?.toUpperCase());
  const budget = asNumber(pick(source, 'thinkingBudget'));
  const shown = booleanOf(pick(source, 'includeThoughts'));
  const display = optional('display', shown === undefined ? undefined : shown ? 'summarized' : 'omitted');
  if (budget === 0) return { thinking: { type: 'disabled' } };
  if (budget !== undefined && budget > 0) return { thinking: { type: 'enabled', budgetTokens: budget, ...display } };
  if (budget === undefined && shown === undefined) return effort && { effort };
  return { ...optional('effort', effort), thinking: { type: 'adaptive', ...display } };
}

/** Speech settings with only the name of a voice equal OpenAI's `audio`. */
function decodeSpeech(config: JsonObject): JsonObject | undefined {
  const speech = objectOf(pick(config, 'speechConfig'));
  const voiceConfig = speech && objectOf(pick(speech, 'voiceConfig'));
  const prebuilt = voiceConfig && objectOf(pick(voiceConfig, 'prebuiltVoiceConfig'));
  const voice = prebuilt && stringOf(pick(prebuilt, 'voiceName'));
  const more = speech && leftover(speech, new Set(['voiceConfig']));
  return voice === undefined || more ? undefined : { voice, format: 'pcm16' };
}
