import type { Explanation } from '../explanation/explanation.ts';
import type { AskedQuestion } from './read-question.ts';

/** The explanation of a request that was served, and the record of what became of it: why and what. */
export interface ExplainedRequest extends Explanation {
  /** As the admin listener tells it; undefined: others came after it. */
  readonly record: object | undefined;
}

/** What is asked and answered, as plain values: they may come from another process. */
export interface ExplainSource {
  explain(asked: AskedQuestion): Promise<ExplainOutcome>;
  /** Undefined: no request is kept under this id. Rejects where nobody can say so. */
  explained(id: string): Promise<ExplainOutcome | undefined>;
}

export type ExplainOutcome =
  | { readonly explanation: (Explanation | ExplainedRequest) & OfWorker; readonly refused?: never }
  | { readonly refused: Refused; readonly explanation?: never };

interface OfWorker {
  /** Which of several answers. */
  readonly worker?: number;
}

export interface Refused {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}
