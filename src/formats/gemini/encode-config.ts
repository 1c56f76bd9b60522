import type { Conversation, JsonObject } from '../conversation.ts';
import { RequestFault, type RequestTarget } from '../format.ts';
import { encodeThinking } from './encode-thinking.ts';
import { encodeSchema, type SchemaReport } from './encode-tools.ts';
import type { LossReport } from '../losses/losses.ts';
import type { ModelTraits } from './models.ts';
import { toCamel } from './wire.ts';
import { compact } from '../json/compact.ts';

const MAX_STOPS = 5;
const MAX_TOP_LOGPROBS = 20;

/**
 * Encodes `generationConfig` (docs/protocols/gemini.md#generation-config). A field that the caller did not send is not
 * sent.
 */
export function encodeConfig(
  conversation: Conversation,
  traits: ModelTraits,
  target: RequestTarget,
  report: SchemaReport,
): JsonObject {
  const { losses } = report;
  const { sampling, reasoning } = conversation;
  const thinkingConfig = encodeThinking(reasoning, { control: traits.thinking, showThoughts: !target.strict, losses });
  return compact({
    maxOutputTokens: conversation.maxTokens,
    temperature: sampling.temperature,
    topP: sampling.topP,
    topK: sampling.topK,
    candidateCount: sampling.n,
    seed: sampling.seed,
    stopSequences: encodeStops(sampling.stop, losses),
    ...encodePenalties(conversation, traits, losses),
    responseLogprobs: sampling.logprobs,
    logprobs: encodeTopLogprobs(sampling.topLogprobs, losses),
    ...encodeResponseFormat(conversation.responseFormat, report),
    ...encodeOutput(conversation, losses),
    imageConfig: conversation.imageConfig && camelKeys(conversation.imageConfig),
    thinkingConfig,
  });
}

function encodeStops(stop: readonly string[] | undefined, losses: LossReport): readonly string[] | undefined {
  if (!stop || stop.length === 0) return undefined;
  if (stop.length > MAX_STOPS)
    losses.dropped('stop', `Gemini takes ${MAX_STOPS} stop sequences; the first ones are sent`);
  return stop.slice(0, MAX_STOPS);
}

function encodePenalties({ sampling }: Conversation, traits: ModelTraits, losses: LossReport): JsonObject {
  const { frequencyPenalty, presencePenalty } = sampling;
  if (traits.penalties) return { frequencyPenalty, presencePenalty };
  if (frequencyPenalty !== undefined) losses.dropped('frequency_penalty', 'this model refuses penalties');
  if (presencePenalty !== undefined) losses.dropped('presence_penalty', 'this model refuses penalties');
  return {};
}

/** Zero alternatives is the default, and the range of the field begins at 1 (docs/protocols/gemini.md#logprobs). */
function encodeTopLogprobs(count: number | undefined, losses: LossReport): number | undefined {
  if (count === 0) return undefined;
  if (count === undefined || count <= MAX_TOP_LOGPROBS) return count;
  losses.clamped('top_logprobs', `Gemini gives at most ${MAX_TOP_LOGPROBS} alternatives`);
  return MAX_TOP_LOGPROBS;
}

/** The format's `name` is a label without effect. Its description goes into the schema, which a model reads. */
function encodeResponseFormat(format: Conversation['responseFormat'], report: SchemaReport): JsonObject {
  if (!format || format.type === 'text') return {};
  const responseMimeType = 'application/json';
  if (format.type === 'json_object' || !format.schema) return { responseMimeType };
  const schema = encodeSchema(format.schema, 'response_format.json_schema.schema', report);
  const described = schema && format.description !== undefined && schema['description'] === undefined;
  return { responseMimeType, responseJsonSchema: described ? { ...schema, description: format.description } : schema };
}

function encodeOutput({ modalities, audio }: Conversation, losses: LossReport): JsonObject {
  const requested = modalities?.map((modality) => modality.toUpperCase());
  if (!audio) return { responseModalities: requested };
  const { voice, format, ...others } = audio;
  for (const name of Object.keys(others)) losses.dropped(`audio.${name}`, 'Gemini has no such setting of its speech');
  // Google generates PCM only. A client that expects mp3 would play noise.
  if (format !== undefined && format !== 'pcm16') {
    throw new RequestFault('unsupported_parameter', 'Gemini answers in "pcm16" audio only.', 'audio.format');
  }
  if (voice !== undefined && typeof voice !== 'string') {
    throw new RequestFault('unsupported_parameter', 'Gemini has voices by name only.', 'audio.voice');
  }
  const speechConfig = voice === undefined ? undefined : { voiceConfig: { prebuiltVoiceConfig: { voiceName: voice } } };
  return {
    responseModalities: requested?.includes('AUDIO') ? requested : [...(requested ?? []), 'AUDIO'],
    speechConfig,
  };
}

function camelKeys(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [toCamel(name), value]));
}
