import type { BuiltinTool, Conversation, JsonObject, Tool, ToolChoice } from '../conversation.ts';
import type { LossReport } from '../losses/losses.ts';
import { compact } from '../json/compact.ts';
import { isObject } from '../json/object.ts';

export interface EncodedChatTools {
  readonly tools: readonly JsonObject[] | undefined;
  readonly toolChoice: unknown;
  readonly parallel: boolean | undefined;
  /** Hosted web search is a body field here, not a tool (docs/protocols/openai-chat.md#web-search-options). */
  readonly webSearch: JsonObject | undefined;
}

export function encodeTools(conversation: Conversation, report: LossReport): EncodedChatTools {
  const given = conversation.tools ?? [];
  let webSearch: JsonObject | undefined;
  const tools: JsonObject[] = [];
  given.forEach((tool, at) => {
    const path = `tools[${at}]`;
    if (tool.type === 'builtin' && tool.kind === 'web_search') {
      webSearch = encodeWebSearch(tool, path, report);
    } else {
      const encoded = encodeTool(tool, path, report);
      if (encoded) tools.push(encoded);
    }
  });
  if (tools.length === 0 && given.length > 0) return { ...withoutTools(conversation, report), webSearch };
  return {
    tools: tools.length > 0 ? tools : undefined,
    toolChoice: encodeChoice(conversation.toolChoice, given),
    parallel: conversation.parallelToolCalls,
    webSearch,
  };
}

/** When no tool can be sent, the tool settings are dropped: OpenAI refuses both fields without tools. */
function withoutTools({ toolChoice, parallelToolCalls }: Conversation, report: LossReport) {
  const reason = 'None of the tools can be sent.';
  if (toolChoice) report.dropped('tool_choice', reason);
  if (parallelToolCalls !== undefined) report.dropped('parallel_tool_calls', reason);
  return { tools: undefined, toolChoice: undefined, parallel: undefined };
}

function encodeTool(tool: Tool, path: string, report: LossReport): JsonObject | undefined {
  switch (tool.type) {
    case 'function': {
      const { name, description, parameters, strict } = tool;
      if (tool.cache) report.dropped(`${path}.cache_control`, 'OpenAI chat has no cache markers on tools.');
      return { type: 'function', function: compact({ name, description, parameters, strict }) };
    }
    case 'custom': {
      const { name, description, format } = tool;
      return { type: 'custom', custom: compact({ name, description, format }) };
    }
    case 'builtin':
      // A tool type that only this API has.
      if (tool.kind === 'opaque' && tool.format === 'openai-chat' && tool.options) return tool.options;
      report.dropped(
        path,
        `OpenAI chat has no ${tool.kind === 'opaque' ? 'such' : tool.kind} tool run by the provider.`,
      );
      return undefined;
  }
}

function encodeWebSearch(tool: BuiltinTool, path: string, report: LossReport): JsonObject {
  const options = tool.options ?? {};
  const location = options.user_location;
  const carried = new Set(['type', 'name', 'user_location']);
  for (const key of Object.keys(options)) {
    if (!carried.has(key)) report.dropped(`${path}.${key}`, 'web_search_options has no such setting.');
  }
  if (!isObject(location)) return {};
  // Anthropic's location is flat (docs/protocols/anthropic-messages.md#web-search); OpenAI's is one level down
  // (docs/protocols/openai-chat.md#web-search-options).
  const { type: _, ...approximate } = location;
  return { user_location: { type: 'approximate', approximate } };
}

function encodeChoice(choice: ToolChoice | undefined, tools: readonly Tool[]): unknown {
  if (!choice?.names || choice.mode === 'none') return choice?.mode;
  const custom = new Set(tools.flatMap((tool) => (tool.type === 'custom' ? [tool.name] : [])));
  const entries = choice.names.map((name) => {
    const type = custom.has(name) ? 'custom' : 'function';
    return { type, [type]: { name } };
  });
  if (choice.mode === 'required' && entries.length === 1) return entries[0];
  return { type: 'allowed_tools', allowed_tools: { mode: choice.mode, tools: entries } };
}
