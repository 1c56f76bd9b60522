import type { Part, Tool, ToolCallPart, ToolResultPart, Turn } from './conversation.ts';

/** Functions that stand for Google's computer-use tool (docs/protocols/requests.md#computer-use). */
export const COMPUTER_USE_NAMES: readonly string[] = ['computer_use', 'computerUse'];

interface ActionResult {
  readonly part: ToolResultPart;
  /** True for every result but the last, which alone carries the media. */
  readonly textOnly: boolean;
}

/**
 * Calls of computer use that have no result yet. The model calls predefined functions that the request does not declare
 * (`open_web_browser`, `click_at`), and the client reports the outcome in a plain user message
 * (docs/protocols/requests.md#computer-use). Gemini requires a result for every call
 * (docs/protocols/gemini.md#computer-use). So does Claude, which gets such a conversation when a request falls through
 * to it (docs/protocols/anthropic-messages.md#order-of-results). The user message is therefore sent as tool results:
 * its text is the output, its screenshot goes inside.
 */
export class OpenActions {
  /** Declared tool names. Undefined without computer use: unanswered calls are then left to the upstream. */
  readonly #declared: ReadonlySet<string> | undefined;
  /** Calls without a result, in order. Several calls may share an id. */
  readonly #open: Map<number, ToolCallPart> | undefined;
  readonly #byId: Map<string, number[]> | undefined;
  #count = 0;

  constructor(tools: readonly Tool[] | undefined) {
    if (!tools?.some(isComputerUse)) return;
    this.#declared = declaredNames(tools);
    this.#open = new Map();
    this.#byId = new Map();
  }

  called(call: ToolCallPart): void {
    if (!this.#open || !this.#byId || this.#declared?.has(call.name)) return;
    const number = this.#count++;
    this.#open.set(number, call);
    const id = plainId(call.id);
    const same = this.#byId.get(id);
    if (same) same.push(number);
    else this.#byId.set(id, [number]);
  }

  answered({ callId }: ToolResultPart): void {
    if (!this.#open || !this.#byId || this.#open.size === 0) return;
    const id = plainId(callId);
    for (const number of this.#byId.get(id) ?? []) this.#open.delete(number);
    this.#byId.delete(id);
  }

  /**
   * The content of a user turn as results of the open calls. Undefined when no call is open or the turn has no content
   * besides results. Every result gets the text, unless repeating a long message would multiply it by thousands of
   * calls. The last result gets the picture, which shows the screen after all actions.
   */
  answeredBy(turn: Turn): readonly ActionResult[] | undefined {
    if (!this.#open || !this.#byId || turn.role !== 'user' || this.#open.size === 0) return undefined;
    const content = turn.parts.filter(({ type }) => type !== 'tool_result');
    if (content.length === 0) return undefined;
    const open = [...this.#open.values()];
    this.#open.clear();
    this.#byId.clear();
    const repeated = isRepeatable(content, open.length) ? content : [];
    return open.map(({ id }, at) => {
      const last = at === open.length - 1;
      return { part: { type: 'tool_result', callId: id, content: last ? content : repeated }, textOnly: !last };
    });
  }
}

/** The id without a signature (docs/protocols/replies.md#signature-in-the-id): clients keep it in some places only. */
function plainId(id: string): string {
  const mark = id.indexOf('__thought__');
  return mark < 0 ? id : id.slice(0, mark);
}

export function isComputerUse(tool: Tool): boolean {
  if (tool.type === 'function') return COMPUTER_USE_NAMES.includes(tool.name);
  if (tool.type !== 'builtin') return false;
  const { kind, format, options } = tool;
  return (
    kind === 'computer_use' || (format === 'gemini' && options !== undefined && Object.hasOwn(options, 'computerUse'))
  );
}

function declaredNames(tools: readonly Tool[]): ReadonlySet<string> {
  return new Set(tools.flatMap((tool) => (tool.type === 'builtin' ? [] : [tool.name])));
}

/** The most characters that the repetitions of one message may add together. */
const MAX_REPEATED = 64 * 1024;

function isRepeatable(content: readonly Part[], actions: number): boolean {
  // A part costs more than its text, since it is encoded again.
  const length = content.reduce((sum, part) => sum + 100 + ('text' in part ? part.text.length : 0), 0);
  return length * (actions - 1) <= MAX_REPEATED;
}
