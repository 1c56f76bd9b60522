import type { Explanation, TargetTold } from '../../explanation/explanation.ts';
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
  const targets = seen.attempts.map((attempt, number) => tellTarget(seen, attempt, number));
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
    targets,
    leftOut: tellLeftOut(seen),
    answer: tellAnswer(seen),
    notes: [...seen.notes, ...noteOfLists(targets)],
  };
  return withoutSecrets(told, seen);
}

function noteOfLists(targets: readonly TargetTold[]): readonly string[] {
  const upTo = targets.find(({ outbound }) => outbound?.fieldsUpTo !== undefined)?.outbound?.fieldsUpTo;
  return upTo === undefined ? [] : [`where fields come from is told of the first ${upTo} elements of long lists`];
}
