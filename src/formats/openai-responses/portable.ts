import type { Conversation, Part, Tool, ToolChoice, Turn } from '../conversation.ts';
import type { EchoedTool, Portable } from '../format.ts';
import { LossReport } from '../losses/losses.ts';
import type { Origins } from '../losses/origins.ts';
import { BodyPlace } from '../losses/place.ts';
import { messagesOf } from '../losses/places.ts';
import { clientRunText, isClientRun } from './client-run.ts';
import { refuseStateful } from './decode-request.ts';
import { FlatNames } from './tool-names.ts';

/**
 * A conversation written in this format, for a model that speaks another: tools get names without namespaces, and items of tools that
 * the client runs become text.
 */
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
