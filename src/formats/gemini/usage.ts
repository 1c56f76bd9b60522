import type { JsonObject } from '../conversation.ts';
import type { GenerationEvent, Usage } from '../events.ts';
import { asNumber, objectsOf, optional } from './wire.ts';
import { setField } from '../json/object.ts';
import { compact } from '../json/compact.ts';

const COUNTS = ['promptTokenCount', 'candidatesTokenCount', 'thoughtsTokenCount', 'totalTokenCount'] as const;

/** True where something is counted: most chunks of a stream carry only `trafficType`. */
function hasCounts(raw: JsonObject): boolean {
  return COUNTS.some((name) => asNumber(raw[name]) !== undefined);
}

/**
 * The usage of one reply. Running totals stand on every chunk, later ones more complete: they overwrite, they never add up. A null counts
 * nothing. Lists are counted when they come and not with every later chunk, which would cost the square of a reply's length.
 */
export class GeminiUsageReader {
  /** All that was said so far. */
  readonly #said: JsonObject = {};
  #inputAudio: number | undefined;
  #outputAudio: number | undefined;

  read(metadata: JsonObject): GenerationEvent | undefined {
    const said = this.#said;
    for (const name of Object.keys(metadata)) if (metadata[name] !== null) setField(said, name, metadata[name]);
    // Each list splits a count that is part of the sum: the tools' tokens are input too.
    if (metadata['promptTokensDetails'] || metadata['toolUsePromptTokensDetails'])
      this.#inputAudio = audioIn(said['promptTokensDetails'], said['toolUsePromptTokensDetails']);
    if (metadata['candidatesTokensDetails']) this.#outputAudio = audioIn(said['candidatesTokensDetails']);
    if (!hasCounts(metadata)) return undefined;
    const audio = { ...optional('inputAudio', this.#inputAudio), ...optional('outputAudio', this.#outputAudio) };
    return { type: 'usage', usage: { ...decodeCounts(said), ...audio }, raw: said };
  }
}

/**
 * Token counts (docs/protocols/gemini.md#usage). The prompt count includes cached tokens, and leaves out the tokens of tools that Google
 * ran itself.
 */
function decodeCounts(raw: JsonObject): Usage {
  const count = (name: string) => asNumber(raw[name]) ?? 0;
  const prompt = count('promptTokenCount');
  const candidates = count('candidatesTokenCount');
  const thoughts = count('thoughtsTokenCount');
  const input = prompt + count('toolUsePromptTokenCount');
  const reported = asNumber(raw['totalTokenCount']);
  // Some replies count the thoughts into the candidates already; the total shows it (docs/protocols/gemini.md#inclusive-thoughts).
  const inclusive = thoughts > 0 && candidates >= thoughts && reported === input + candidates;
  const output = inclusive ? candidates : candidates + thoughts;
  return {
    input,
    output,
    total: reported ?? input + output,
    ...optional('cacheRead', asNumber(raw['cachedContentTokenCount'])),
    ...optional('reasoning', asNumber(raw['thoughtsTokenCount'])),
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
