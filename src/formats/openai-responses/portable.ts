import type {
  Conversation,
  Part,
  Tool,
  ToolChoice,
  Turn,
  JsonObject,
  TextPart,
  CustomTool,
  FunctionTool,
} from '../conversation.ts';
import type { EchoedTool, Portable } from '../format.ts';
import { LossReport } from '../losses/losses.ts';
import type { Origins } from '../losses/origins.ts';
import { BodyPlace } from '../losses/place.ts';
import { messagesOf } from '../losses/places.ts';
import { refuseStateful } from './decode-request.ts';
import { stringOf } from '../json/object.ts';
import { aliasOf } from '../name-aliases.ts';
import { isWithin } from '../target-limits.ts';

/** A conversation for models of other APIs: no namespaces, and items of the client's own tools are text. */
export function toPortable(conversation: Conversation, origins?: Origins): Portable {
  refuseStateful(conversation);
  const { tools = [], turns, toolChoice } = conversation;
  const losses = new LossReport();
  reportDeferred(tools, losses);
  if (!turns.some(needsWriting) && !tools.some(isInNamespace)) return { conversation, losses: losses.list() };
  const names = new FlatNames(tools);
  const carried = <T extends Part | Tool | Turn>(before: T, node: T): T => {
    origins?.carry(before, node);
    return node;
  };
  const flatTools = tools.map((tool) => {
    if (tool.type === 'builtin' || tool.namespace === undefined) return tool;
    const { namespace: _, ...flat } = tool;
    return carried<Tool>(tool, { ...flat, name: names.of(tool) });
  });
  let at = 0;
  const flatTurns = turns.map((turn) => {
    const place = BodyPlace.item('messages', at);
    at += messagesOf(turn);
    if (!needsWriting(turn)) return turn;
    return carried(turn, {
      ...turn,
      parts: turn.parts.map((part, index) => portablePart(part, BodyPlace.itemOf(place, 'content', index))),
    });
  });
  return {
    conversation: {
      ...conversation,
      turns: flatTurns,
      ...(conversation.tools && { tools: flatTools }),
      ...(toolChoice?.names && { toolChoice: flatChoice(toolChoice, tools, names) }),
    },
    losses: losses.list(),
  };

  function portablePart(part: Part, place: BodyPlace): Part {
    if (part.type === 'opaque' && needsText(part)) {
      losses.downgraded(place, 'only the Responses API has this tool: the target reads it as text');
      return carried<Part>(part, clientRunText(part.value));
    }
    if (part.type !== 'tool_call' || part.namespace === undefined) return part;
    const { namespace: _, ...flat } = part;
    return carried<Part>(part, { ...flat, name: names.of(part) });
  }
}

/** A bare name names the tool without a namespace. Only if there is none, it names a tool in a namespace. */
function flatChoice(choice: ToolChoice, tools: readonly Tool[], flat: FlatNames): ToolChoice {
  const byName = new Map<string, string>();
  for (const tool of tools) {
    if (tool.type === 'builtin') continue;
    if (tool.namespace === undefined || !byName.has(tool.name)) byName.set(tool.name, flat.of(tool));
  }
  const { names = [], namespaces = [], ...others } = choice;
  return {
    ...others,
    names: names.map((name, at) => {
      const namespace = namespaces[at];
      return namespace === undefined ? (byName.get(name) ?? name) : flat.of({ name, namespace });
    }),
  };
}

/** `defer_loading` keeps a tool out of the prompt until a search finds it. Other APIs get all tools at once. */
function reportDeferred(tools: readonly Tool[], losses: LossReport): void {
  tools.forEach((tool, at) => {
    if (tool.type === 'function' && tool.extras?.defer_loading === true)
      losses.downgraded(`tools[${at}].defer_loading`, 'the target gets all tools at once');
  });
}

const isInNamespace = (tool: Tool): boolean => tool.type !== 'builtin' && tool.namespace !== undefined;
const needsText = (part: Part): boolean =>
  part.type === 'opaque' && part.format === 'openai-responses' && isClientRun(part.value);
const needsWriting = ({ parts }: Turn): boolean =>
  parts.some((part) => (part.type === 'tool_call' ? part.namespace !== undefined : needsText(part)));

const NO_TOOLS: ReadonlyMap<string, EchoedTool> = new Map();

/** The tools as the caller knows them, by the names that `toPortable` gives them. */
export function echoedTools(tools: readonly Tool[]): ReadonlyMap<string, EchoedTool> {
  if (tools.length === 0) return NO_TOOLS;
  const names = new FlatNames(tools);
  const echoed = new Map<string, EchoedTool>();
  for (const tool of tools) {
    if (tool.type === 'builtin') continue;
    const { name, namespace } = tool;
    const kind = tool.type === 'function' && tool.search ? 'tool_search' : tool.type;
    echoed.set(names.of(tool), { name, kind, ...(namespace !== undefined && { namespace }) });
  }
  return echoed;
}

/** The field with the content of each item of a tool that the client runs. Other APIs have no such tools. */
const CONTENT: ReadonlyMap<unknown, string> = new Map([
  ['local_shell_call', 'action'],
  ['local_shell_call_output', 'output'],
  ['shell_call', 'action'],
  ['shell_call_output', 'output'],
  ['apply_patch_call', 'operation'],
  ['apply_patch_call_output', 'output'],
]);

const isClientRun = ({ type }: JsonObject): boolean => CONTENT.has(type);

/** Such an item as text, so that a model of another API knows what was done (docs/protocols/openai-responses.md#items). */
function clientRunText(item: JsonObject): TextPart {
  const type = stringOf(item.type) ?? '';
  const content = item[CONTENT.get(type) ?? ''];
  const text = typeof content === 'string' ? content : JSON.stringify(content ?? null);
  const tool = type.replace(/_call(?:_output)?$/, '');
  if (!type.endsWith('_output')) return { type: 'text', text: `[Call of the tool ${tool}: ${text}]` };
  const status = item.status === 'failed' || item.status === 'incomplete' ? ` (${item.status})` : '';
  return { type: 'text', text: `[Result of the tool ${tool}${status}:]\n${text}` };
}

/** A name that every API takes. */
const EVERYWHERE = { max: 64, illegal: /[^A-Za-z0-9_-]/g };

interface NamespacedName {
  readonly name: string;
  readonly namespace?: string;
}

/**
 * Names of tools for APIs without namespaces: `namespace__name`. A name that would be too long or that another tool has is cut
 * and gets a digest of both names, so that it stays the same in all requests of a conversation.
 */
class FlatNames {
  readonly #names = new Map<string, string>();
  readonly #taken = new Set<string>();

  constructor(tools: readonly Tool[]) {
    const named = tools.filter((tool): tool is FunctionTool | CustomTool => tool.type !== 'builtin');
    for (const { name, namespace } of named) if (namespace === undefined) this.#taken.add(name);
    for (const tool of named) if (tool.namespace !== undefined) this.of(tool);
  }

  of({ name, namespace }: NamespacedName): string {
    if (namespace === undefined) return name;
    const key = JSON.stringify([namespace, name]);
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    const joined = `${namespace}__${name}`.replace(EVERYWHERE.illegal, '_');
    const fits = isWithin(joined, EVERYWHERE) && !this.#taken.has(joined);
    const flat = fits ? joined : aliasOf(joined, EVERYWHERE, key);
    this.#names.set(key, flat);
    this.#taken.add(flat);
    return flat;
  }
}
