/** An event of a stream, or the whole body of a plain reply. */
export type Json = '[DONE]' | Readonly<Record<string, unknown>>;

/** What a client reads from a reply. */
export interface View {
  readonly text: string;
  readonly finish: string | undefined;
  readonly model: string | undefined;
  readonly usage: { readonly input: number; readonly output: number } | undefined;
  readonly error: { readonly code: string | undefined; readonly message: string } | undefined;
}

interface ParsedResponse {
  readonly status?: string;
  readonly model?: string;
  readonly output?: readonly { readonly content?: readonly { readonly text?: string }[] }[];
  readonly incomplete_details?: { readonly reason?: string } | null;
  readonly error?: { readonly code?: string; readonly message: string } | null;
  readonly usage?: { readonly input_tokens?: number; readonly output_tokens?: number } | null;
}

interface Parsed {
  readonly type?: string;
  readonly response?: ParsedResponse;
  readonly error?: {
    readonly code?: string;
    readonly message: string;
    readonly details?: { readonly error_code?: string };
  };
  readonly model?: string;
  readonly choices?: readonly {
    readonly delta?: { readonly content?: string };
    readonly message?: { readonly content?: string | null };
    readonly finish_reason?: string | null;
  }[];
  readonly usage?: {
    readonly prompt_tokens?: number;
    readonly completion_tokens?: number;
    readonly input_tokens?: number;
    readonly output_tokens?: number;
  };
  readonly message?: Parsed;
  readonly content?: readonly { readonly text?: string }[];
  readonly delta?: { readonly text?: string; readonly stop_reason?: string };
  readonly stop_reason?: string | null;
}

/** The last event of a stream has the whole response. */
export function readResponse(events: readonly Json[]): View {
  const all = parsedOf(events);
  const last: ParsedResponse = all.findLast(({ response }) => response)?.response ?? all.at(-1) ?? {};
  const deltas = all.map(({ type, delta }) => (type === 'response.output_text.delta' ? String(delta) : ''));
  const whole = (last.output ?? []).flatMap(({ content = [] }) => content.map(({ text = '' }) => text));
  const { usage, error, incomplete_details: details, status } = last;
  return {
    text: (last.status === 'completed' ? whole : deltas).join(''),
    finish: details?.reason ?? status,
    model: last.model,
    usage: usage ? { input: usage.input_tokens ?? 0, output: usage.output_tokens ?? 0 } : undefined,
    error: error ? { code: error.code, message: error.message } : undefined,
  };
}

const parsedOf = (events: readonly Json[]): Parsed[] => events.filter((event) => event !== '[DONE]');

export function readChat(events: readonly Json[]): View {
  const all = parsedOf(events);
  const choices = all.flatMap(({ choices: some = [] }) => some);
  const usage = all.findLast((one) => one.usage)?.usage;
  const error = all.find((one) => one.error)?.error;
  return {
    text: choices.map(({ delta, message }) => delta?.content ?? message?.content ?? '').join(''),
    finish: choices.findLast((choice) => choice.finish_reason)?.finish_reason ?? undefined,
    model: all.find(({ model }) => model)?.model,
    usage: usage && { input: usage.prompt_tokens ?? 0, output: usage.completion_tokens ?? 0 },
    error: error && { code: error.code, message: error.message },
  };
}

export function readMessages(events: readonly Json[]): View {
  const all = parsedOf(events).map((one) => ({ ...one.message, ...one }));
  const input = all.findLast(({ usage }) => usage?.input_tokens)?.usage?.input_tokens;
  const output = all.findLast(({ usage }) => usage?.output_tokens !== undefined)?.usage?.output_tokens;
  const error = all.find((one) => one.error)?.error;
  return {
    text: all
      .flatMap(({ content = [], delta }) => [delta?.text ?? '', ...content.map(({ text = '' }) => text)])
      .join(''),
    finish:
      all.findLast((one) => one.delta?.stop_reason ?? one.stop_reason)?.delta?.stop_reason ??
      all[0]?.stop_reason ??
      undefined,
    model: all.find(({ model }) => model)?.model,
    usage: output === undefined ? undefined : { input: input ?? 0, output },
    error: error && { code: error.details?.error_code, message: error.message },
  };
}
