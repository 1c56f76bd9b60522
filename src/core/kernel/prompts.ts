import type { Exchange, UsedPrompt } from './exchange.ts';

/** A version of a prompt, as a request may use it. */
interface FoundPrompt {
  readonly id: string;
  readonly version: number;
  /** The fields of a chat request. Throws GatewayError for invalid values and texts beyond `budget` characters. */
  render(
    variables: Readonly<Record<string, unknown>>,
    budget: number,
  ): { readonly fields: Readonly<Record<string, unknown>>; readonly media: UsedPrompt['media'] };
}

/** A prompt that a caller may use. */
export interface ListedPrompt {
  readonly id: string;
  readonly description: string | undefined;
  readonly labels: Readonly<Record<string, number>>;
  readonly versions: readonly ListedVersion[];
}

interface ListedVersion {
  readonly version: number;
  readonly released: boolean;
  readonly note: string | undefined;
  readonly model: string | undefined;
  /** The declarations of its variables. */
  readonly variables: Readonly<Record<string, object>>;
}

/** The prompts of the snapshot. */
export interface PromptDirectory {
  /** The prompts that the caller may use, ordered by id. */
  list(exchange: Exchange): readonly ListedPrompt[];
  /**
   * The version that the request names, that its config pins, or the latest. Throws GatewayError `unknown_prompt` and
   * `prompt_not_allowed`.
   * @param reference `summary`, `summary@3`, `summary@production`
   */
  find(exchange: Exchange, reference: string): FoundPrompt;
}
