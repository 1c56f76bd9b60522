import { RequestFault } from '../format.ts';
import type { AnswerPlan } from './encode-answer.ts';
import type { WireBlock, RequestContext } from './request-context.ts';

export interface ToolSection {
  readonly tools?: readonly WireBlock[];
  readonly tool_choice?: WireBlock;
}

/**
 * `tools` and `tool_choice` together: some limits on the choice are expressed by leaving tools out (docs/protocols/requests.md#tools,
 * docs/protocols/requests.md#the-json-tool).
 */
export function encodeToolSection(
  declared: readonly WireBlock[],
  answer: AnswerPlan,
  mayForce: boolean,
  context: RequestContext,
): ToolSection {
  const tools = allowedTools(declared, mayForce, context);
  if (answer.jsonTool) return withJsonTool(tools, answer.jsonTool, mayForce, context);
  if (tools.length === 0) {
    if (context.conversation.toolChoice?.mode === 'required') {
      context.losses.dropped('tool_choice', 'there is no tool to choose');
    }
    return {};
  }
  const choice = encodeChoice(mayForce, context);
  return { tools, ...(choice && { tool_choice: choice }) };
}

/**
 * A list of allowed names is expressed by sending only those tools. One forced name is expressed in `tool_choice`, if
 * forcing is allowed.
 */
function allowedTools(
  declared: readonly WireBlock[],
  mayForce: boolean,
  { conversation }: RequestContext,
): readonly WireBlock[] {
  const choice = conversation.toolChoice;
  if (!choice?.names || declared.length === 0) return declared;
  const { names } = choice;
  const wanted = new Set<unknown>(names);
  const allowed = declared.filter((tool) => wanted.has(tool.name));
  if (allowed.length === 0) {
    throw new RequestFault('invalid_value', '`tool_choice` names no tool of `tools`.', 'tool_choice');
  }
  return choice.mode === 'required' && names.length === 1 && mayForce ? declared : allowed;
}

function encodeChoice(mayForce: boolean, context: RequestContext): WireBlock | undefined {
  const { toolChoice: choice, parallelToolCalls: parallel } = context.conversation;
  if (choice?.mode === 'none') return { type: 'none' };
  const limit = parallel === undefined ? {} : { disable_parallel_tool_use: !parallel };
  // Without a choice, `auto` is created only to carry the limit; allowing several calls is the default.
  if (!choice) return parallel === false ? { type: 'auto', ...limit } : undefined;
  if (choice.mode === 'auto') return { type: 'auto', ...limit };
  if (!mayForce) {
    context.losses.downgraded('tool_choice', 'this model cannot be forced to call a tool here: it may answer in text');
    return { type: 'auto', ...limit };
  }
  const [name, ...others] = choice.names ?? [];
  return name !== undefined && others.length === 0 ? { type: 'tool', name, ...limit } : { type: 'any', ...limit };
}

/** Forces the `json` tool. Beside other tools it forces any of them, and one at a time (docs/protocols/requests.md#the-json-tool). */
function withJsonTool(
  tools: readonly WireBlock[],
  jsonTool: WireBlock,
  mayForce: boolean,
  { conversation, losses }: RequestContext,
): ToolSection {
  const section = { tools: [...tools, jsonTool] };
  if (!mayForce) {
    losses.downgraded(
      'response_format',
      'this model cannot be forced to answer in the schema: the system prompt requests it',
    );
    return { ...section, tool_choice: { type: 'auto', disable_parallel_tool_use: true } };
  }
  const alone = tools.length === 0 || conversation.toolChoice?.mode === 'none';
  const forced = alone ? { type: 'tool', name: jsonTool.name } : { type: 'any' };
  return { ...section, tool_choice: { ...forced, disable_parallel_tool_use: true } };
}
