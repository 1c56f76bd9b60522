import { GatewayError, nearest, type Clock } from '../../plugin/index.ts';
import type { Explanation } from '../explanation/explanation.ts';
import type { RecordStore } from '../../record/store.ts';
import { toQuestion } from './read-question.ts';
import { ExplainHangs } from './explainer.ts';
import type { KeptRequests } from './kept-requests.ts';
import type { ExplainQuestion } from './question.ts';
import type { SettingsExplainer } from './settings-explainer.ts';
import type { ExplainedRequest, ExplainOutcome, ExplainSource } from './explain-source.ts';
import { UnknownKey } from './supposed-caller.ts';
import { SettingsRefused } from '../../settings/problems/refused.ts';

/** All that this process can say of requests: those that somebody thinks of, and those that it has served. */
export interface ExplainService {
  /** Rejects with UnknownKey, with ExplainHangs, and with SettingsRefused where the settings in force are not good any more. */
  explain(question: ExplainQuestion): Promise<Explanation>;
  /** Undefined: it was not kept, or others came after it. */
  explained(id: string): Promise<ExplainedRequest | undefined>;
  keeps(id: string): boolean;
  /** The same as plain values, for a listener or another process. */
  readonly explains: ExplainSource;
}

export interface ExplainServiceParts {
  readonly kept: KeptRequests;
  readonly records: Pick<RecordStore, 'explained'>;
  readonly clock: Clock;
}

/** @param current of the settings in force */
export function createExplainService(
  current: () => SettingsExplainer | undefined,
  { kept, records, clock }: ExplainServiceParts,
): ExplainService {
  const explain: ExplainService['explain'] = async (question) => {
    const explainer = current();
    if (!explainer) throw new GatewayError('internal_error', 'These settings were not compiled to be explained.');
    return explainer.explain(question);
  };
  const explained: ExplainService['explained'] = async (id) => {
    const found = kept.find(id);
    if (!found) return undefined;
    const { question, explainer } = found;
    // Its request may still run, and draw.
    const explanation = await explainer.explain({ ...question, draws: question.draws && [...question.draws] });
    return { ...explanation, record: records.explained(id) };
  };
  const explains: ExplainSource = {
    explain: (asked) => outcomeOf(async () => ({ explanation: await explain(toQuestion(asked, clock)) }), asked.key),
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
    if (error instanceof UnknownKey)
      return { refused: { status: 400, code: 'unknown_key', message: hinted(error, key) } };
    if (error instanceof SettingsRefused)
      return { refused: { status: 500, code: 'cannot_explain', message: reasons(error) } };
    if (error instanceof ExplainHangs)
      return { refused: { status: 500, code: 'cannot_explain', message: error.message } };
    throw error;
  }
}

function hinted({ message, known }: UnknownKey, key: string): string {
  const meant = nearest(key, known);
  return meant === undefined ? message : `${message} Did you mean ${JSON.stringify(meant)}?`;
}

/** Messages of diagnostics have no secrets: they are what start and reload print. */
const reasons = ({ message, diagnostics }: SettingsRefused): string =>
  [
    message,
    ...diagnostics.slice(0, 5).map(({ file, line, column, message: said }) => `${file}:${line}:${column}: ${said}`),
  ].join(' ');
