import type { ArgumentTexts } from '../call-arguments.ts';

/** The texts of Claude's losses of arguments. */
export const ARGUMENTS: ArgumentTexts = {
  wrapped: 'Claude takes only objects as tool input: sent as {"value": …}',
  rounded: 'whole numbers beyond 2^53 are rounded',
};
