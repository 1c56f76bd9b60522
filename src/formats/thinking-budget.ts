import { RequestFault } from './format.ts';

/**
 * -1 leaves the amount to the model, as in Gemini's API. opencode 1.18 sends it for a model whose limit its settings do not have.
 * Throws RequestFault for a lower number.
 */
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
