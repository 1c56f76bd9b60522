import { renderExplanation } from '../explanation/render/explanation.ts';
import type { ExplainOutcome } from './explain-source.ts';

/** Wide enough for most, and nobody's terminal is known here. */
const PAGE = { width: 100, colour: false };

/** What of a record is said in a few lines; it is plain JSON, perhaps of another process. */
interface Became {
  readonly state?: string;
  readonly status?: number;
  readonly duration_ms?: number;
  readonly attempts?: readonly {
    readonly target?: string;
    readonly outcome?: string;
    readonly failure?: { readonly code?: string; readonly status?: number };
  }[];
}

/** For people: why, and below it what became of the request, where it was one. */
export function explanationText(explanation: NonNullable<ExplainOutcome['explanation']>): string {
  const text = renderExplanation(explanation, PAGE);
  if (!('record' in explanation)) return text;
  return `${text}\n${becameOf(explanation.record)}\n`;
}

function becameOf(record: Became | undefined): string {
  if (!record) return 'became      unknown: its record is gone, others came after it';
  const { state, status, duration_ms: ms, attempts = [] } = record;
  const facts = [state, status, ms === undefined ? undefined : `${ms} ms`].filter((fact) => fact !== undefined);
  const lines = attempts.map(({ target, outcome, failure }) => {
    const why = failure ? ` (${[failure.code, failure.status].filter((part) => part !== undefined).join(', ')})` : '';
    return `            ${target}: ${outcome}${why}`;
  });
  return [`became      ${facts.join(', ')}`, ...lines].join('\n');
}
