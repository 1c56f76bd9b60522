import type { BuiltinTool, ToolChoice } from './conversation.ts';
import type { LossReport } from './losses/losses.ts';

/**
 * Replaces the tools of `hosted` by the names that the target has for them. A tool that the target cannot choose is a reported loss.
 */
export function namedChoice(
  choice: ToolChoice | undefined,
  nameOf: (tool: BuiltinTool) => string | undefined,
  losses: LossReport,
): ToolChoice | undefined {
  if (!choice?.hosted) return choice;
  const { hosted, names = [], namespaces: _, ...others } = choice;
  const found = hosted.map(nameOf).filter((name) => name !== undefined);
  if (found.length < hosted.length)
    losses.dropped('tool_choice', 'this target cannot choose a tool that another provider runs');
  const all = [...names, ...found];
  if (all.length > 0) return { ...others, names: all };
  // No tool that may be called is left. The model decides about a call that the target cannot force.
  return choice.mode === 'auto' ? { mode: 'none' } : undefined;
}
