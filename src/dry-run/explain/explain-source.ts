import type { Explanation } from '../explanation/explanation.ts';
import type { AskedQuestion } from './read-question.ts';

/** The explanation of a served request, with its record. */
export interface ExplainedRequest extends Explanation {
  /** The record as the admin listener's JSON; undefined when newer records have replaced it. */
  readonly record: object | undefined;
}

/** Questions and outcomes as plain values, because they may come from another process. */
export interface ExplainSource {
  explain(asked: AskedQuestion): Promise<ExplainOutcome>;
  /** Undefined: no request is stored under this id. Rejects when that cannot be determined. */
  explained(id: string): Promise<ExplainOutcome | undefined>;
}

export type ExplainOutcome =
  | { readonly explanation: (Explanation | ExplainedRequest) & OfWorker; readonly refused?: never }
  | { readonly refused: Refused; readonly explanation?: never };

interface OfWorker {
  /** Number of the worker that answered. */
  readonly worker?: number;
}

export interface Refused {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}
