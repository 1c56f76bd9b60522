import { RequestFault } from './format.ts';

/** Throws RequestFault below -1, which leaves the amount to the model: opencode 1.18 sends it, as Gemini takes it. */
export function thinkingBudget(given: number | undefined): number | undefined {
  if (given === undefined || given >= 0) return given;
  if (given === -1) return undefined;
  const param = 'thinking.budget_tokens';
  throw new RequestFault(
    'invalid_value',
    `\`${param}\` must be at least 0, or -1 for an amount that the model chooses.`,
    param,
  );
}
