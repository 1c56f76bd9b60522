/**
 * A negative budget leaves the amount to the model, as -1 does in Gemini's API. opencode 1.18 sends -1 for a model whose limit its
 * settings do not have.
 */
export const thinkingBudget = (given: number | undefined): number | undefined =>
  given !== undefined && given < 0 ? undefined : given;
