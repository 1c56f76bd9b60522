import type { ArgumentTexts } from '../call-arguments.ts';

/** How Claude's losses and faults of arguments are worded. */
export const ARGUMENTS: ArgumentTexts = {
  wrapped: 'Claude takes only objects as tool input: sent as {"value": …}',
  rounded: 'whole numbers beyond 2^53 are rounded',
  tooDeep: (param, _name, levels) => `\`${String(param)}\` nests deeper than ${levels} levels.`,
  notJson: (param) => `\`${String(param)}\` is not valid JSON.`,
};
