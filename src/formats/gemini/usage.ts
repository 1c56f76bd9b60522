import type { JsonObject } from '../conversation.ts';
import type { EventOf, Usage } from '../events.ts';
import { countEdits, countRequest } from './count-request.ts';
import { claimOf, countOf, outputWithin, sound, sumOfClaims } from '../counts.ts';
import { bothSpellings, objectsOf, optional } from './wire.ts';
import { setField, isObject, compact } from '../json/object.ts';
import { ReplyFault } from '../faults.ts';
import type { TokenCounting } from '../format.ts';

const COUNTS = ['promptTokenCount', 'candidatesTokenCount', 'thoughtsTokenCount', 'totalTokenCount'] as const;

/** A chunk that has both counts has all: counts of the output that it lacks are 0, whatever an earlier chunk had. */
const WHOLE = ['promptTokenCount', 'totalTokenCount'] as const;
const OF_OUTPUT = ['candidatesTokenCount', 'thoughtsTokenCount'] as const;

/**
 * Reads the usage of one reply. Every chunk has running totals, and later ones are more complete: they replace earlier
 * ones and are never added up. A null is ignored. A list is counted when it arrives and not again with every later
 * chunk, which would take quadratic time.
 */
export class GeminiUsageReader {
  /** All metadata received so far. */
  readonly #merged: JsonObject = {};
  #media: MediaCounts = {};

  read(metadata: JsonObject): EventOf<'usage'> | undefined {
    const merged = this.#merged;
    if (WHOLE.every((name) => claimOf(metadata[name]) !== undefined)) for (const name of OF_OUTPUT) delete merged[name];
    for (const name of Object.keys(metadata)) if (metadata[name] !== null) setField(merged, name, metadata[name]);
    if (LISTS.some((name) => metadata[name])) this.#media = countMedia(merged);
    // Most chunks of a stream carry only `trafficType`.
    if (COUNTS.every((name) => claimOf(metadata[name]) === undefined)) return undefined;
    return { type: 'usage', usage: sound({ ...decodeCounts(merged), ...this.#media }), raw: merged };
  }
}

type MediaCounts = Pick<
  Usage,
  'inputAudio' | 'inputImage' | 'outputAudio' | 'outputImage' | 'cacheReadAudio' | 'cacheReadImage'
>;

/** Lists that split a count by what was counted. The first two split counts that are part of the input: the tokens of tools are input too. */
const LISTS = [
  'promptTokensDetails',
  'toolUsePromptTokensDetails',
  'cacheTokensDetails',
  'candidatesTokensDetails',
] as const;

function countMedia(raw: JsonObject): MediaCounts {
  const [prompt, tools, cache, candidates] = LISTS.map((name) => raw[name]);
  return {
    ...optional('inputAudio', tokensIn('AUDIO', prompt, tools)),
    ...optional('inputImage', tokensIn('IMAGE', prompt, tools)),
    ...optional('cacheReadAudio', tokensIn('AUDIO', cache)),
    ...optional('cacheReadImage', tokensIn('IMAGE', cache)),
    ...optional('outputAudio', tokensIn('AUDIO', candidates)),
    ...optional('outputImage', tokensIn('IMAGE', candidates)),
  };
}

/** Vertex AI names the tier that served a request; others cost as the standard one. */
const TIERS: ReadonlyMap<unknown, Usage['tier']> = new Map([
  ['ON_DEMAND_PRIORITY', 'priority'],
  ['ON_DEMAND_FLEX', 'flex'],
] as const);

/** Token counts (docs/protocols/gemini.md#usage). The prompt's include cached tokens, not those of Google's tools. */
function decodeCounts(raw: JsonObject): Usage {
  const prompt = claimOf(raw['promptTokenCount']);
  const candidates = claimOf(raw['candidatesTokenCount']) ?? 0;
  const reasoning = claimOf(raw['thoughtsTokenCount']);
  const thoughts = reasoning ?? 0;
  const toolUse = claimOf(raw['toolUsePromptTokenCount']);
  const input = sumOfClaims(prompt, toolUse);
  const tier = TIERS.get(raw['trafficType']);
  const cacheRead = claimOf(raw['cachedContentTokenCount']);
  const reported = claimOf(raw['totalTokenCount']);
  // Some replies already include the thoughts in the candidates. The total shows it
  // (docs/protocols/gemini.md#inclusive-thoughts).
  const inclusive = thoughts > 0 && candidates >= thoughts && reported === input + candidates;
  const output = outputWithin(reported, prompt && input, inclusive ? candidates : sumOfClaims(candidates, thoughts));
  return {
    input,
    output,
    total: input + output,
    ...(cacheRead !== undefined && { cacheRead }),
    ...(reasoning !== undefined && { reasoning }),
    ...(toolUse && { toolUse }),
    ...(tier && { tier }),
  };
}

function tokensIn(modality: string, ...lists: unknown[]): number | undefined {
  const entries = lists.flatMap(objectsOf).filter((entry) => entry['modality'] === modality);
  if (entries.length === 0) return undefined;
  return entries.reduce((sum, entry) => sumOfClaims(sum, claimOf(entry['tokenCount'])), 0);
}

export function encodeUsage(usage: Usage): JsonObject {
  const media = (audio: number | undefined, image: number | undefined) => {
    const counts = [
      ...(audio ? [{ modality: 'AUDIO', tokenCount: audio }] : []),
      ...(image ? [{ modality: 'IMAGE', tokenCount: image }] : []),
    ];
    return counts.length > 0 ? counts : undefined;
  };
  return compact({
    promptTokenCount: usage.input,
    candidatesTokenCount: usage.output - (usage.reasoning ?? 0),
    totalTokenCount: usage.total,
    thoughtsTokenCount: usage.reasoning,
    cachedContentTokenCount: usage.cacheRead,
    promptTokensDetails: media(usage.inputAudio, usage.inputImage),
    cacheTokensDetails: media(usage.cacheReadAudio, usage.cacheReadImage),
    candidatesTokensDetails: media(usage.outputAudio, usage.outputImage),
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
  demandedMaxTokens: undefined,
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
  if (reply['totalTokens'] !== undefined) return countOf(reply['totalTokens']);
  return Object.keys(reply).every((key) => COUNT_FIELDS.has(key)) ? 0 : undefined;
}
