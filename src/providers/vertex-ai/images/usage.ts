import type { JsonObject } from '../../../formats/conversation.ts';
import type { GenerationEvent, Usage } from '../../../formats/events.ts';
import { asNumber, objectsOf } from '../../../formats/gemini/wire.ts';
import { compact } from '../../../formats/json/compact.ts';

interface CountedCall {
  readonly usage: Usage;
  /** Image tokens of the prompt and of the answer; undefined where the reply has no breakdown. */
  readonly inputImages: number;
  readonly outputImages: number | undefined;
}

/**
 * The tokens of all calls together, for the gateway's counters and in OpenAI's form for images (docs/protocols/images.md#summed-usage,
 * docs/protocols/images.md#image-usage).
 */
export function usageOf(calls: readonly (readonly GenerationEvent[])[]): { usage: Usage; raw: JsonObject } | undefined {
  const counted = calls.flatMap((events) => countCall(events) ?? []);
  if (counted.length === 0) return undefined;
  const usages = counted.map((call) => call.usage);
  const usage = addUsages(usages);
  const inputImages = sum(counted.map((call) => call.inputImages));
  const outputImages = sumReported(counted.map((call) => call.outputImages));
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

/** Undefined without a breakdown. */
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
    cacheRead: sumReported(usages.map(({ cacheRead }) => cacheRead)),
    reasoning: sumReported(usages.map(({ reasoning }) => reasoning)),
  });
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

function sumReported(numbers: readonly (number | undefined)[]): number | undefined {
  const reported = numbers.filter((number) => number !== undefined);
  return reported.length > 0 ? sum(reported) : undefined;
}
