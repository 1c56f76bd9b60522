import type { JsonObject } from '../conversation.ts';
import type { Usage } from '../events.ts';
import { asNumber, compact, isObject, optional } from './wire.ts';

const COUNTS = ['promptTokenCount', 'candidatesTokenCount', 'thoughtsTokenCount', 'totalTokenCount'] as const;

/**
 * Token counts (wire.md D11). Undefined where nothing is counted yet: most chunks of a stream carry only `trafficType`.
 * The prompt counts cached tokens in, and not the tokens of tools Google ran itself.
 */
export function decodeUsage(raw: JsonObject): Usage | undefined {
  if (COUNTS.every((name) => asNumber(raw[name]) === undefined)) return undefined;
  const count = (name: string) => asNumber(raw[name]) ?? 0;
  const prompt = count('promptTokenCount');
  const candidates = count('candidatesTokenCount');
  const thoughts = count('thoughtsTokenCount');
  const input = prompt + count('toolUsePromptTokenCount');
  const told = asNumber(raw['totalTokenCount']);
  // Some replies count the thoughts into the candidates already; the total gives them away (wire.md C5).
  const inclusive = thoughts > 0 && candidates >= thoughts && told === input + candidates;
  const output = inclusive ? candidates : candidates + thoughts;
  return {
    input,
    output,
    total: told ?? input + output,
    ...optional('cacheRead', asNumber(raw['cachedContentTokenCount'])),
    ...optional('reasoning', asNumber(raw['thoughtsTokenCount'])),
    ...optional('inputAudio', audioIn(raw['promptTokensDetails'])),
    ...optional('outputAudio', audioIn(raw['candidatesTokensDetails'])),
  };
}

function audioIn(details: unknown): number | undefined {
  if (!Array.isArray(details)) return undefined;
  const entry = details.find((detail) => isObject(detail) && detail['modality'] === 'AUDIO');
  return isObject(entry) ? asNumber(entry['tokenCount']) : undefined;
}

export function encodeUsage(usage: Usage): JsonObject {
  const audio = (count: number | undefined) => (count ? [{ modality: 'AUDIO', tokenCount: count }] : undefined);
  return compact({
    promptTokenCount: usage.input,
    candidatesTokenCount: usage.output - (usage.reasoning ?? 0),
    totalTokenCount: usage.total,
    thoughtsTokenCount: usage.reasoning,
    cachedContentTokenCount: usage.cacheRead,
    promptTokensDetails: audio(usage.inputAudio),
    candidatesTokensDetails: audio(usage.outputAudio),
  });
}
