import type { Part, Tool, ToolCallPart, ToolResultPart, Turn } from './conversation.ts';

/** A function of one of these names is an OpenAI client's form of Google's tool (docs/protocols/requests.md#computer-use). */
export const COMPUTER_USE_NAMES: readonly string[] = ['computer_use', 'computerUse'];

export interface ActionResult {
  readonly part: ToolResultPart;
  /** Its media go with another result. */
  readonly textOnly: boolean;
}

/**
 * Computer use: the model calls predefined functions that nobody declared (`open_web_browser`, `click_at`), and the caller reports the
 * result in a plain user message (docs/protocols/requests.md#computer-use). Gemini demands a result for every call
 * (docs/protocols/gemini.md#computer-use), and so does Claude, which gets such a conversation in a fallback
 * (docs/protocols/anthropic-messages.md#order-of-results): the message is sent as a result, its text as the output, its screenshot
 * inside.
 */
export class OpenActions {
  /** Undefined where the request does not declare the tool: calls nobody answered stay the upstream's business. */
  readonly #declared: ReadonlySet<string> | undefined;
  /** Calls without a result, in their order; a call id may stand at several. */
  readonly #open = new Map<number, ToolCallPart>();
  readonly #byId = new Map<string, number[]>();
  #count = 0;

  constructor(tools: readonly Tool[] | undefined) {
    this.#declared = tools?.some(isComputerUse) ? declaredNames(tools) : undefined;
  }

  called(call: ToolCallPart): void {
    if (!this.#declared || this.#declared.has(call.name)) return;
    const number = this.#count++;
    this.#open.set(number, call);
    const id = plainId(call.id);
    const same = this.#byId.get(id);
    if (same) same.push(number);
    else this.#byId.set(id, [number]);
  }

  answered({ callId }: ToolResultPart): void {
    if (this.#open.size === 0) return;
    const id = plainId(callId);
    for (const number of this.#byId.get(id) ?? []) this.#open.delete(number);
    this.#byId.delete(id);
  }

  /**
   * What the user says as the results of what is still open; undefined where nothing is, or nothing is said. Every action gets
   * the words, unless that would multiply a long message by thousands of actions; the picture, of the screen after all of them, goes
   * with the last.
   */
  answeredBy(turn: Turn): readonly ActionResult[] | undefined {
    if (turn.role !== 'user' || this.#open.size === 0) return undefined;
    const content = saidIn(turn);
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

/**
 * Ids may carry a thought signature (docs/protocols/replies.md#signature-in-the-id), which a client may keep in one place and drop in the
 * other.
 */
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

/** Characters of one message that its repetitions may have together. */
const MAX_REPEATED = 64 * 1024;

function isRepeatable(content: readonly Part[], actions: number): boolean {
  // A part counts for more than its text: it is encoded again, too.
  const length = content.reduce((sum, part) => sum + 100 + ('text' in part ? part.text.length : 0), 0);
  return length * (actions - 1) <= MAX_REPEATED;
}

/** What the user says beside results: none of it is the result of a call. */
function saidIn({ parts }: Turn): readonly Part[] {
  return parts.filter(({ type }) => type !== 'tool_result');
}
