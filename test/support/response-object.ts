interface ResponseUsage {
  readonly input: number;
  readonly output: number;
  /** Default: 0. */
  readonly reasoning?: number;
}

interface ResponseParts {
  readonly model: unknown;
  readonly status: string;
  readonly output: readonly object[];
  /** Undefined: the response has not ended. */
  readonly usage: ResponseUsage | undefined;
}

/** A response of OpenAI's Responses API, as a scripted upstream answers (docs/protocols/openai-responses.md#response). */
export const responseObject = ({ model, status, output, usage }: ResponseParts) => ({
  id: 'resp_up',
  object: 'response',
  created_at: 1_795_132_800,
  status,
  error: null,
  incomplete_details: null,
  model,
  output,
  usage: usage
    ? {
        input_tokens: usage.input,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: usage.output,
        output_tokens_details: { reasoning_tokens: usage.reasoning ?? 0 },
        total_tokens: usage.input + usage.output,
      }
    : null,
});
