import { GatewayError, type Clock } from '../../../plugin/index.ts';
import { nearest } from '../../../core/kernel/index.ts';
import type { Explanation } from '../explanation/explanation.ts';
import type { RecordStore } from '../../../core/record/store.ts';
import { ExplainHangs } from './explain-hangs.ts';
import type { ExplainOutcome, ExplainSource } from '../../../core/process/explain-port.ts';
import type { KeptRequests } from './kept-requests.ts';
import { type ExplainQuestion, toQuestion } from './question.ts';
import type { SettingsExplainer } from './settings-explainer.ts';
import { UnknownKey } from '../../../core/dry-run/supposed-caller.ts';
import { SettingsRefused } from '../../../core/settings/source/diagnostic.ts';

/** Explains hypothetical requests and stored requests that this process has served. */
export interface ExplainService {
  /** Rejects with UnknownKey, ExplainHangs, and SettingsRefused when the current settings are no longer valid. */
  explain(question: ExplainQuestion): Promise<Explanation>;
  /** Undefined: it was not stored, or newer ones have replaced it. */
  explained(id: string): Promise<ExplainedRequest | undefined>;
  keeps(id: string): boolean;
  /** The same with plain values, for a listener or another process. */
  readonly explains: ExplainSource;
}

interface ExplainServiceParts {
  readonly kept: KeptRequests;
  readonly records: Pick<RecordStore, 'explained'>;
  readonly clock: Clock;
}

/** @param current returns the explainer of the current settings */
export function createExplainService(
  current: () => SettingsExplainer | undefined,
  { kept, records, clock }: ExplainServiceParts,
): ExplainService {
  const explain: ExplainService['explain'] = async (question) => {
    const explainer = current();
    if (!explainer) throw new GatewayError('internal_error', 'Explain is not available for these settings.');
    return explainer.explain(question);
  };
  const explained: ExplainService['explained'] = async (id) => {
    const found = kept.find(id);
    if (!found) return undefined;
    const { question, explainer } = found;
    // The request may still run and add draws.
    const explanation = await explainer.explain({ ...question, draws: question.draws && [...question.draws] });
    return { ...explanation, record: records.explained(id) };
  };
  const explains: ExplainSource = {
    explain: (question) =>
      outcomeOf(async () => ({ explanation: await explain(toQuestion(question, clock)) }), question.key),
    explained: (id) =>
      outcomeOf(async () => {
        const explanation = await explained(id);
        return explanation && { explanation };
      }),
  };
  return { explain, explained, keeps: (id) => kept.find(id) !== undefined, explains };
}

async function outcomeOf<O extends ExplainOutcome | undefined>(
  work: () => Promise<O>,
  key = '',
): Promise<O | ExplainOutcome> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UnknownKey) return { refused: { code: 'unknown_key', message: hinted(error, key) } };
    if (error instanceof SettingsRefused) return { refused: { code: 'cannot_explain', message: reasons(error) } };
    if (error instanceof ExplainHangs) return { refused: { code: 'cannot_explain', message: error.message } };
    throw error;
  }
}

function hinted({ message, known }: UnknownKey, key: string): string {
  const meant = nearest(key, known);
  return meant === undefined ? message : `${message} Did you mean ${JSON.stringify(meant)}?`;
}

/** Diagnostics contain no secrets: start and reload print them. */
const reasons = ({ message, diagnostics }: SettingsRefused): string =>
  [
    message,
    ...diagnostics.slice(0, 5).map(({ file, line, column, message: text }) => `${file}:${line}:${column}: ${text}`),
  ].join(' ');

/** The explanation of a served request, with its record. */
export interface ExplainedRequest extends Explanation {
  /** The record as the admin listener's JSON; undefined when newer records have replaced it. */
  readonly record: object | undefined;
}
