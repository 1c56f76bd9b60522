import type { Part, Tool, ToolCallPart, ToolResultPart, Turn } from '../conversation.ts';
import type { RequestTarget } from '../format.ts';
import { builtinByName } from './builtin-tools.ts';
import type { PendingResult } from './encode-results.ts';
import { splitCallId } from './thought-signature.ts';
import { isObject } from './wire.ts';

/**
 * Computer use: the model calls predefined functions nobody declared (`open_web_browser`, `click_at`), and the caller tells with
 * a plain user message what came of them (service.md 2.5). Gemini demands a functionResponse for every call, so the message
 * is sent as one: its text as the output, its screenshot inside (the vendor's guide to computer use).
 */
export class OpenActions {
  /** Undefined where the request does not declare the tool: calls nobody answered stay the upstream's business. */
  readonly #declared: ReadonlySet<string> | undefined;
  #open: ToolCallPart[] = [];

  constructor(tools: readonly Tool[] | undefined) {
    this.#declared = placeOfComputerUse(tools) === undefined ? undefined : declaredNames(tools);
  }

  called(call: ToolCallPart): void {
    if (this.#declared && !this.#declared.has(call.name)) this.#open.push(call);
  }

  answered({ callId }: ToolResultPart): void {
    const answered = splitCallId(callId).id;
    this.#open = this.#open.filter(({ id }) => splitCallId(id).id !== answered);
  }

  /**
   * The user's turn as the results of what is still open; undefined where nothing is, or nothing is said. Every action gets the
   * words; the picture, of the screen after all of them, goes with the last.
   */
  answeredBy(parts: readonly Part[], param: string): readonly PendingResult[] | undefined {
    if (this.#open.length === 0 || parts.length === 0) return undefined;
    const open = this.#open;
    this.#open = [];
    return open.map(({ id }, at) => ({
      part: { type: 'tool_result', callId: id, content: parts },
      param,
      textOnly: at < open.length - 1,
    }));
  }
}

/** Path of the tool in the caller's body. */
export function placeOfComputerUse(tools: readonly Tool[] | undefined): string | undefined {
  const at = tools?.findIndex(isComputerUse) ?? -1;
  return at < 0 ? undefined : `tools[${at}]`;
}

function isComputerUse(tool: Tool): boolean {
  if (tool.type === 'function') return builtinByName(tool.name) === 'computer_use';
  if (tool.type !== 'builtin') return false;
  return tool.kind === 'computer_use' || (tool.format === 'gemini' && isObject(tool.options?.['computerUse']));
}

function declaredNames(tools: readonly Tool[] | undefined): ReadonlySet<string> {
  return new Set(tools?.flatMap((tool) => (tool.type === 'builtin' ? [] : [tool.name])));
}

/** What the user says beside results: none of it is the result of a call. */
export function saidIn({ parts }: Turn): readonly Part[] {
  return parts.filter(({ type }) => type !== 'tool_result');
}

export const LAX = 'the header x-gateway-strict-open-ai-compliance: false';

/**
 * What a caller of computer use has left out (service.md 2.5), for the message of a refusal. Not refused here: newer models
 * that are no preview of it take the tool as well.
 */
export function hintOfComputerUse(
  tools: readonly Tool[] | undefined,
  { model, strict }: Pick<RequestTarget, 'model' | 'strict'>,
): string | undefined {
  if (placeOfComputerUse(tools) === undefined) return undefined;
  const missed = strict ? [LAX] : [];
  if (!/computer-use/i.test(model)) missed.unshift(`a model made for it (a computer-use preview), not ${model}`);
  return missed.length > 0 ? `The tool computer_use needs ${missed.join(', and ')}.` : undefined;
}
