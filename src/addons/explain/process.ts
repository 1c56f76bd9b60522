import type { ProcessPart, PartTools } from '../../core/process/process-part.ts';
import { createLogger } from '../../core/record/log/logger.ts';
import { keptRequest } from './explain/kept-request.ts';
import { keepForExplain, KeptRequests } from './explain/kept-requests.ts';
import { readQuestion } from './explain/question.ts';
import type { Explanation } from './explanation/explanation.ts';
import { SettingsExplainer } from './explain/settings-explainer.ts';
import { createExplainService } from './explain/explain-service.ts';

/** The question of the topic `explain.kept`, which a `KeptClientRequest` answers. */
interface KeptQuestion {
  readonly id: string;
  readonly texts: boolean;
}

/** Explains requests by the settings in force, and served requests by those that served them. */
export function openExplain({ configs, env, clock, records, dry }: PartTools): ProcessPart {
  const kept = new KeptRequests();
  // Silent: compiling these settings to serve has already logged everything.
  const log = createLogger({ level: 'silent' });
  let current: SettingsExplainer | undefined;
  return {
    compose({ files, server, shared: { health, replies, registry, stored } }) {
      if (!files) return {};
      const setup = { configs, env, clock, log, health, replies, registry, stored, parts: dry() };
      const explainer = new SettingsExplainer(setup, files);
      const { enabled, explain } = server.admin;
      return {
        onConfig: keepForExplain({ explainer, kept, health, clock }, server),
        use() {
          current = explainer;
          kept.apply(enabled && explain !== 'none');
        },
        close: () => explainer.retire(),
      };
    },
    explain: {
      ...createExplainService({ current: () => current, kept, records, clock }),
      readQuestion,
      async textOf(explanation) {
        const { explanationText } = await import('./explain/explanation-text.ts');
        // Explanations of workers arrive as plain values.
        return explanationText(explanation as Explanation);
      },
      async withoutTexts(explanation) {
        const { withoutTexts } = await import('./explanation/hide-texts.ts');
        return withoutTexts(explanation as Explanation);
      },
      readAgain: (files) => current?.readAgain(files),
    },
    asked(topic, question) {
      if (topic !== 'explain.kept') return undefined;
      // The process that asks is of this gateway.
      const { id, texts } = question as KeptQuestion;
      return Promise.resolve(keptRequest(kept.find(id)?.question, texts));
    },
    dry: () => ({}),
    stop: () => kept.clear(),
  };
}
