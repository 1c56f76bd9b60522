import type { JsonObject } from '../../../formats/conversation.ts';
import type { GenerationEvent, Usage } from '../../../formats/events.ts';
import { asNumber, objectsOf } from '../../../formats/gemini/wire.ts';
import { compact } from '../../../formats/json/compact.ts';

interface CountedCall {
  readonly usage: Usage;
  /** Of the prompt, and of the answer: none where the reply does not split it. */
  readonly inputImages: number;
  readonly outputImages: number | undefined;
}

/** The tokens of all calls together: for the gateway's counters, and as OpenAI tells them of images (wire.md A8, D14). */
export function usageOf(calls: readonly (readonly GenerationEvent[])[]): { usage: Usage; raw: JsonObject } | undefined {
  const counted = calls.flatMap((events) => countCall(events) ?? []);
  if (counted.length === 0) return undefined;
  const usages = counted.map((call) => call.usage);
  const usage = addUsages(usages);
  const inputImages = sum(counted.map((call) => call.inputImages));
  const outputImages = sumTold(counted.map((call) => call.outputImages));
  return {
    usage,
    raw: compact({
      input_tokens: usage.input,
      output_tokens: usage.output,
      total_tokens: usage.total,
      input_tokens_details: { text_tokens: usage.input - inputImages, image_tokens: inputImages },
      output_tokens_details:
        outputImages === undefined
          ? undefined
          : { text_tokens: usage.output - outputImages, image_tokens: outputImages },
    }),
  };
}

function countCall(events: readonly GenerationEvent[]): CountedCall | undefined {
  const event = events.findLast((one) => one.type === 'usage');
  if (!event) return undefined;
  const { promptTokensDetails, candidatesTokensDetails } = event.raw ?? {};
  return {
    usage: event.usage,
    inputImages: imagesIn(promptTokensDetails) ?? 0,
    outputImages: imagesIn(candidatesTokensDetails),
  };
}

/** Undefined where nothing is split at all. */
function imagesIn(details: unknown): number | undefined {
  const entries = objectsOf(details);
  if (entries.length === 0) return undefined;
  return sum(
    entries.filter((entry) => entry['modality'] === 'IMAGE').map((entry) => asNumber(entry['tokenCount']) ?? 0),
  );
}

function addUsages(usages: readonly Usage[]): Usage {
  return compact({
    input: sum(usages.map(({ input }) => input)),
    output: sum(usages.map(({ output }) => output)),
    total: sum(usages.map(({ total }) => total)),
    cacheRead: sumTold(usages.map(({ cacheRead }) => cacheRead)),
    reasoning: sumTold(usages.map(({ reasoning }) => reasoning)),
  });
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

function sumTold(numbers: readonly (number | undefined)[]): number | undefined {
  const told = numbers.filter((number) => number !== undefined);
  return told.length > 0 ? sum(told) : undefined;
}
