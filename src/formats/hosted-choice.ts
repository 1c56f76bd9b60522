import type { BuiltinTool, ToolChoice } from './conversation.ts';
import type { LossReport } from './losses/losses.ts';

/**
 * A choice without `hosted`: a tool that the provider runs gets the name that the target knows it by, and is a reported loss where the
 * target cannot choose it.
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
  // No tool that may be called is left. A call that nothing can force is left to the model.
  return choice.mode === 'auto' ? { mode: 'none' } : undefined;
}
