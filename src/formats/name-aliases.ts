import type { Conversation, FormatName, Part, Tool, ToolChoice, Turn } from './conversation.ts';
import type { GenerationEvent } from './events.ts';
import type { Format, StreamDecoder } from './format.ts';
import type { RequestTarget } from './request-target.ts';
import { isWithin, limitsOf, type NameLimit } from './target-limits.ts';

/** Hexadecimal digits of the digest, and the underscore before it. */
const MARK = 9;

/**
 * The form of a name that a target takes: its legal characters and a digest of the whole name. A function of the name alone, so that
 * a tool keeps its alias in all requests of a conversation, whatever other tools they offer.
 * @param digested what the digest is of. Default: the name.
 */
export function aliasOf(name: string, { max = Infinity, illegal, first }: NameLimit, digested = name): string {
  const legal = illegal ? name.replace(illegal, '_') : name;
  const led = !first || first.test(legal[0] ?? '') ? legal : `_${legal}`;
  return `${led.slice(0, max - MARK)}_${digest(digested)}`;
}

/** FNV-1a of 32 bits. */
function digest(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0).toString(16).padStart(MARK - 1, '0');
}

/** The aliases of one request. No two names have the same alias. */
class Aliases {
  readonly #limit: NameLimit;
  readonly #aliases = new Map<string, string>();
  readonly #names = new Map<string, string>();
  /** The last number that was tried, by the alias without a number. */
  readonly #tried = new Map<string, number>();

  /** @param names all names of the request: one that the target takes stays as it is */
  constructor(names: Iterable<string>, limit: NameLimit) {
    this.#limit = limit;
    const others = new Set<string>();
    for (const name of names) {
      if (!isWithin(name, limit)) others.add(name);
      else this.#names.set(name, name);
    }
    for (const name of others) this.#enter(name);
  }

  /** True if every name stays as it is. */
  get isEmpty(): boolean {
    return this.#aliases.size === 0;
  }

  of(name: string): string {
    return this.#aliases.get(name) ?? name;
  }

  /** Names by their aliases. */
  get names(): ReadonlyMap<string, string> {
    return new Map([...this.#aliases].map(([name, alias]) => [alias, name]));
  }

  #enter(name: string): void {
    const first = aliasOf(name, this.#limit);
    let alias = first;
    // Only names that were made to collide come here. Their digests collide for each `n` too, so the next name starts at the last `n`.
    let n = this.#tried.get(first) ?? 1;
    for (; this.#names.has(alias); alias = aliasOf(name, this.#limit, `${name} ${n}`)) n += 1;
    this.#tried.set(first, n);
    this.#aliases.set(name, alias);
    this.#names.set(alias, name);
  }
}

interface FittedConversation {
  readonly conversation: Conversation;
  /** The names of tools by the aliases that were sent. */
  readonly toolNames?: ReadonlyMap<string, string>;
}

/** The conversation with names of tools and ids of calls that the target takes. Most conversations stay the same object. */
export function fitNames(
  conversation: Conversation,
  format: FormatName,
  target: Pick<RequestTarget, 'extensions'>,
): FittedConversation {
  // The maps of a conversation without tools were 2.6 KB of a request.
  if (!hasNames(conversation)) return { conversation };
  const { toolName, callId } = limitsOf(format, target);
  const tools = new Aliases(namesIn(conversation), toolName);
  // Claude's encoder has ids of its own (anthropic-messages/tool-ids.ts).
  const ids = new Aliases(callId.max === undefined ? [] : idsIn(conversation), callId);
  if (tools.isEmpty && ids.isEmpty) return { conversation };
  const { turns, tools: declared, toolChoice } = conversation;
  return {
    conversation: {
      ...conversation,
      turns: turns.map((turn): Turn => ({ ...turn, parts: turn.parts.map((part) => fitPart(part, tools, ids)) })),
      ...(declared && { tools: declared.map((tool) => fitTool(tool, tools)) }),
      ...(toolChoice && { toolChoice: fitChoice(toolChoice, tools) }),
    },
    ...(!tools.isEmpty && { toolNames: tools.names }),
  };
}

const isNamed = ({ type }: Part): boolean => type === 'tool_call' || type === 'tool_result';
const hasCalls = ({ parts }: Turn): boolean => parts.some(isNamed);

const hasNames = ({ tools, turns, toolChoice }: Conversation): boolean =>
  (tools?.length ?? 0) > 0 || toolChoice?.names !== undefined || turns.some(hasCalls);

function* namesIn({ tools = [], turns, toolChoice }: Conversation): Generator<string> {
  for (const tool of tools) if (tool.type !== 'builtin') yield tool.name;
  for (const { parts } of turns)
    for (const part of parts) {
      if (part.type === 'tool_call') yield part.name;
      else if (part.type === 'tool_result' && part.name !== undefined) yield part.name;
    }
  yield* toolChoice?.names ?? [];
}

function* idsIn({ turns }: Conversation): Generator<string> {
  for (const { parts } of turns)
    for (const part of parts) {
      if (part.type === 'tool_call') yield part.id;
      else if (part.type === 'tool_result') yield part.callId;
    }
}

function fitPart(part: Part, tools: Aliases, ids: Aliases): Part {
  if (part.type === 'tool_call') return { ...part, id: ids.of(part.id), name: tools.of(part.name) };
  if (part.type !== 'tool_result') return part;
  const { callId, name } = part;
  return { ...part, callId: ids.of(callId), ...(name !== undefined && { name: tools.of(name) }) };
}

const fitTool = (tool: Tool, tools: Aliases): Tool =>
  tool.type === 'builtin' ? tool : { ...tool, name: tools.of(tool.name) };

const fitChoice = (choice: ToolChoice, tools: Aliases): ToolChoice =>
  choice.names ? { ...choice, names: choice.names.map((name) => tools.of(name)) } : choice;

type Decoding = Pick<Format, 'decodeReply' | 'decodeStream'>;

/** Decodes replies with the names of the caller in place of the aliases that were sent. */
export function restoringNames(format: Decoding, names: ReadonlyMap<string, string> | undefined): Decoding {
  if (!names) return format;
  const restored = (event: GenerationEvent): GenerationEvent => {
    const name = event.type === 'tool_call' ? names.get(event.name) : undefined;
    return event.type === 'tool_call' && name !== undefined ? { ...event, name } : event;
  };
  return {
    decodeReply: (...input) => format.decodeReply(...input).map(restored),
    decodeStream(...input) {
      const decoder = format.decodeStream(...input);
      const stream: StreamDecoder = {
        get progress() {
          return decoder.progress;
        },
        push: (bytes) => decoder.push(bytes).map(restored),
        end: () => decoder.end().map(restored),
      };
      return stream;
    },
  };
}
