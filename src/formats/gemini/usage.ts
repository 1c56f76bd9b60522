import type { JsonObject } from '../conversation.ts';
import type { GenerationEvent, Usage } from '../events.ts';
import { countEdits, countRequest } from './count-request.ts';
import { asNumber, bothSpellings, objectsOf, optional } from './wire.ts';
import { setField, isObject } from '../json/object.ts';
import { compact } from '../json/compact.ts';
import { ReplyFault, type TokenCounting } from '../format.ts';

const COUNTS = ['promptTokenCount', 'candidatesTokenCount', 'thoughtsTokenCount', 'totalTokenCount'] as const;

/**
 * Reads the usage of one reply. Every chunk has running totals, and later ones are more complete: they replace earlier
 * ones and are never added up. A null is ignored. A list is counted when it arrives and not again with every later
 * chunk, which would take quadratic time.
 */
export class GeminiUsageReader {
  /** All metadata received so far. */
  readonly #merged: JsonObject = {};
  #inputAudio: number | undefined;
  #outputAudio: number | undefined;

  read(metadata: JsonObject): GenerationEvent | undefined {
    const merged = this.#merged;
    for (const name of Object.keys(metadata)) if (metadata[name] !== null) setField(merged, name, metadata[name]);
    // Both lists split counts that are part of the input: the tokens of tools are input too.
    if (metadata['promptTokensDetails'] || metadata['toolUsePromptTokensDetails'])
      this.#inputAudio = audioIn(merged['promptTokensDetails'], merged['toolUsePromptTokensDetails']);
    if (metadata['candidatesTokensDetails']) this.#outputAudio = audioIn(merged['candidatesTokensDetails']);
    // Most chunks of a stream carry only `trafficType`.
    if (COUNTS.every((name) => asNumber(metadata[name]) === undefined)) return undefined;
    const counts = decodeCounts(merged);
    if (this.#inputAudio === undefined && this.#outputAudio === undefined)
      return { type: 'usage', usage: counts, raw: merged };
    const audio = { ...optional('inputAudio', this.#inputAudio), ...optional('outputAudio', this.#outputAudio) };
    return { type: 'usage', usage: { ...counts, ...audio }, raw: merged };
  }
}

/**
 * Decodes token counts (docs/protocols/gemini.md#usage). The prompt count includes cached tokens and excludes the
 * tokens of tools that Google ran itself.
 */
function decodeCounts(raw: JsonObject): Usage {
  const prompt = asNumber(raw['promptTokenCount']) ?? 0;
  const candidates = asNumber(raw['candidatesTokenCount']) ?? 0;
  const reasoning = asNumber(raw['thoughtsTokenCount']);
  const thoughts = reasoning ?? 0;
  const input = prompt + (asNumber(raw['toolUsePromptTokenCount']) ?? 0);
  const cacheRead = asNumber(raw['cachedContentTokenCount']);
  const reported = asNumber(raw['totalTokenCount']);
  // Some replies already include the thoughts in the candidates. The total shows it
  // (docs/protocols/gemini.md#inclusive-thoughts).
  const inclusive = thoughts > 0 && candidates >= thoughts && reported === input + candidates;
  const output = inclusive ? candidates : candidates + thoughts;
  return {
    input,
    output,
    total: reported ?? input + output,
    ...(cacheRead !== undefined && { cacheRead }),
    ...(reasoning !== undefined && { reasoning }),
  };
}

function audioIn(...lists: unknown[]): number | undefined {
  const entries = lists.flatMap(objectsOf).filter((entry) => entry['modality'] === 'AUDIO');
  if (entries.length === 0) return undefined;
  return entries.reduce((sum, entry) => sum + (asNumber(entry['tokenCount']) ?? 0), 0);
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

/** Fields of CountTokensResponse (docs/protocols/gemini.md#count-tokens). */
const COUNT_FIELDS: ReadonlySet<string> = new Set([
  'totalTokens',
  'totalBillableCharacters',
  'promptTokensDetails',
  'cachedContentTokenCount',
]);

export const counting: TokenCounting = {
  // Without `cachedContent`, which Google refuses too: it belongs to the prompt, so a count without it would be wrong.
  notTaken: [...bothSpellings('toolConfig', 'safetySettings', 'labels', 'serviceTier')],
  write: countRequest,
  edits: countEdits,
  decodeReply(body) {
    const tokens = isObject(body) ? totalOf(body) : undefined;
    if (tokens === undefined) throw new ReplyFault('the reply has no count in `totalTokens`');
    return tokens;
  },
  encodeReply: (tokens) => ({ totalTokens: tokens }),
};

/** ProtoJSON may omit a zero: https://protobuf.dev/programming-guides/json/ */
function totalOf(reply: JsonObject): number | undefined {
  if (reply['totalTokens'] !== undefined) return asNumber(reply['totalTokens']);
  return Object.keys(reply).every((key) => COUNT_FIELDS.has(key)) ? 0 : undefined;
}
