import type { Explanation } from '../../../explain/explanation.ts';
import type { Observation } from '../observation.ts';
import { tellAnswer } from './answer.ts';
import { tellLeftOut } from './left-out.ts';
import { withoutSecrets } from './masks.ts';
import { tellPlugins } from './plugins.ts';
import { tellCaller, tellConfig, tellDeadline, tellRequest } from './request.ts';
import { tellRules } from './rules.ts';
import { tellTarget } from './targets.ts';

/** What was seen, as it is told: plain values, each with where it comes from, and no secret among them. */
export function tellExplanation(seen: Observation): Explanation {
  const { exchange, loaded, settings } = seen;
  const told: Explanation = {
    settings: { folder: loaded.folder, hash: settings.hash },
    request: tellRequest(seen),
    caller: tellCaller(seen),
    config: tellConfig(seen),
    metadata: { ...exchange.metadata },
    labels: { ...exchange.labels },
    deadline: tellDeadline(seen),
    plugins: tellPlugins(seen),
    rules: tellRules(seen),
    targets: seen.attempts.map((attempt, number) => tellTarget(seen, attempt, number)),
    leftOut: tellLeftOut(seen),
    answer: tellAnswer(seen),
    notes: seen.notes,
  };
  return withoutSecrets(told, seen);
}
