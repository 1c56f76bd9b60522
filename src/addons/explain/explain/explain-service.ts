import { KeptRequests } from './kept-requests.ts';
import { toQuestion } from './question.ts';
import { SettingsExplainer } from './settings-explainer.ts';
import { GatewayError, type Clock } from '../../../plugin/index.ts';
import { nearest } from '../../../core/kernel/index.ts';
import type { RecordStore } from '../../../core/record/store.ts';
import { ExplainHangs } from './explain-hangs.ts';
import type { Explain, ExplainOutcome, QuestionBody } from '../../../core/process/explain-port.ts';
import { UnknownKey } from '../../../core/dry-run/supposed-caller.ts';
import { SettingsRefused } from '../../../core/settings/source/diagnostic.ts';

interface ExplainServiceParts {
  /** The explainer of the current settings. */
  readonly current: () => SettingsExplainer | undefined;
  readonly kept: KeptRequests;
  readonly records: Pick<RecordStore, 'explained'>;
  readonly clock: Clock;
}

/** Explains hypothetical requests, and stored requests that this process has served. */
export const createExplainService = ({
  current,
  kept,
  records,
  clock,
}: ExplainServiceParts): Pick<Explain, 'explains' | 'keeps'> => ({
  keeps: (id) => kept.find(id) !== undefined,
  explains: {
    explain: (asked) =>
      outcomeOf(async () => {
        const found = asked.of === undefined ? undefined : kept.find(asked.of);
        if (asked.of !== undefined && !found) return NOT_KEPT;
        const question = toQuestion(asked, clock, found?.question);
        const inForce = current();
        if (!inForce) throw new GatewayError('internal_error', 'Explain is not available for these settings.');
        if (asked.settings) return { explanation: await inForce.explainWith(question, asked.settings) };
        return { explanation: await (found?.explainer ?? inForce).explain(question) };
      }, asked),
    explained: (id) =>
      outcomeOf<ExplainOutcome | undefined>(async () => {
        const found = kept.find(id);
        if (!found) return undefined;
        const { question, explainer } = found;
        // The request may still run and add draws.
        const explanation = await explainer.explain({ ...question, draws: question.draws && [...question.draws] });
        return { explanation: { ...explanation, record: records.explained(id) } };
      }),
  },
});

const NOT_KEPT: ExplainOutcome = {
  refused: { code: 'not_found', message: 'No request is kept under the id in `of`.' },
};

async function outcomeOf<O extends ExplainOutcome | undefined>(
  work: () => Promise<O>,
  { key = '', settings }: Pick<Partial<QuestionBody>, 'key' | 'settings'> = {},
): Promise<O | ExplainOutcome> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UnknownKey) return { refused: { code: 'unknown_key', message: hinted(error, key) } };
    if (error instanceof SettingsRefused)
      return { refused: { code: settings ? 'invalid_body' : 'cannot_explain', message: reasons(error) } };
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
