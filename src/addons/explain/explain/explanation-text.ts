import { renderExplanation } from '../explanation/render/explanation.ts';
import type { Explanation } from '../explanation/explanation.ts';

export interface ExplainedRequest extends Explanation {
  /** The record as the admin listener's JSON; undefined when newer records have replaced it. */
  readonly record: object | undefined;
}

/** Wide enough for most texts; the reader's terminal width is not known here. */
const PAGE = { width: 100, colour: false };

/** The fields of a record that are printed. The record is plain JSON, perhaps from another process. */
interface RecordOutcome {
  readonly state?: string;
  readonly status?: number;
  readonly duration_ms?: number;
  readonly attempts?: readonly {
    readonly target?: string;
    readonly outcome?: string;
    readonly failure?: { readonly code?: string; readonly status?: number };
  }[];
}

/** The explanation as text, followed by the outcome of a served request. */
export function explanationText(explanation: Explanation | ExplainedRequest): string {
  const text = renderExplanation(explanation, PAGE);
  return 'record' in explanation ? `${text}\n${outcomeText(explanation.record)}\n` : text;
}

function outcomeText(record: RecordOutcome | undefined): string {
  if (!record) return 'outcome     unknown: newer records have replaced its record';
  const { state, status, duration_ms: ms, attempts = [] } = record;
  const facts = [state, status, ms === undefined ? undefined : `${ms} ms`].filter((fact) => fact !== undefined);
  const lines = attempts.map(({ target, outcome, failure }) => {
    const why = failure ? ` (${[failure.code, failure.status].filter((part) => part !== undefined).join(', ')})` : '';
    return `            ${target}: ${outcome}${why}`;
  });
  return [`outcome     ${facts.join(', ')}`, ...lines].join('\n');
}
