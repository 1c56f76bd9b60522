import type { Json, View } from './readers.ts';

/** A chunk of Gemini's stream, or its whole reply (docs/protocols/gemini.md#reply). */
interface Chunk {
  readonly candidates?: readonly {
    readonly content?: { readonly parts?: readonly { readonly text?: string }[] };
    readonly finishReason?: string;
  }[];
  readonly promptFeedback?: { readonly blockReason?: string };
  readonly modelVersion?: string;
  readonly usageMetadata?: { readonly promptTokenCount?: number; readonly candidatesTokenCount?: number };
  readonly error?: { readonly message: string; readonly status?: string };
}

/** A stream of Gemini has no mark behind its last chunk, which has the reason. */
export const hasGeminiEnd = (event: Chunk): boolean => finishOf(event) !== undefined;

function finishOf({ candidates = [], promptFeedback }: Chunk): string | undefined {
  return promptFeedback?.blockReason ?? candidates.find(({ finishReason }) => finishReason)?.finishReason;
}

export function readGemini(events: readonly Json[]): View {
  const all: Chunk[] = events.filter((event) => event !== '[DONE]');
  const usage = all.findLast((one) => one.usageMetadata)?.usageMetadata;
  const error = all.find((one) => one.error)?.error;
  return {
    text: all
      .flatMap(({ candidates = [] }) => candidates.flatMap(({ content }) => content?.parts ?? []))
      .map(({ text = '' }) => text)
      .join(''),
    finish: all.map(finishOf).find((reason) => reason !== undefined),
    model: all.find(({ modelVersion }) => modelVersion)?.modelVersion,
    usage: usage && { input: usage.promptTokenCount ?? 0, output: usage.candidatesTokenCount ?? 0 },
    error: error && { code: error.status, message: error.message },
  };
}
