import type { Explanation } from '../../src/addons/explain/explanation/explanation.ts';
import type { ExplainOutcome, QuestionBody } from '../../src/core/process/explain-port.ts';
import { portOf, type ProcessPart } from '../../src/core/process/process-part.ts';

/** The explanations of a gateway. */
export function explainOf({ parts }: { readonly parts: readonly ProcessPart[] }) {
  const { explains } = portOf(parts, 'explain')!;
  // Explanations leave the add-on as plain values.
  const shown = (outcome: ExplainOutcome | undefined): Explanation => {
    if (!outcome?.explanation) throw new Error(outcome?.refused.message ?? 'no request is kept under this id');
    return outcome.explanation as Explanation;
  };
  return {
    explain: async (question: QuestionBody) => shown(await explains.explain(question)),
    explained: async (id: string) => shown(await explains.explained(id)),
  };
}
