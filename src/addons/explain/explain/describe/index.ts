import type { Explanation, TargetExplanation } from '../../explanation/explanation.ts';
import type { Observation } from '../observation.ts';
import { describeLeftOut } from './left-out.ts';
import { withoutSecrets } from './masks.ts';
import { describePlugins } from './plugins.ts';
import { describePrompt } from './prompt.ts';
import { describeCaller, describeConfig, describeDeadline, describeRequest, describeAnswer } from './request.ts';
import { describeRules } from './rules.ts';
import { describeReplyHeaders, noteOfReply } from './reply-headers.ts';
import { describeTarget } from './targets.ts';

/**
 * Describes an observation: plain values with their sources, without secrets.
 *
 * @param answered the same request with a reply in place of the first failure
 */
export function describeRun(seen: Observation, answered = seen): Explanation {
  const { record, exchange, loaded } = seen;
  const targets = seen.attempts.map((attempt) => describeTarget(seen, attempt));
  const reported: Explanation = {
    settings: { folder: loaded.folder, hash: record.settingsHash },
    request: describeRequest(seen),
    caller: describeCaller(seen),
    config: describeConfig(seen),
    ...describePrompt(seen),
    metadata: { ...exchange.metadata },
    labels: { ...exchange.labels },
    deadline: describeDeadline(seen),
    plugins: describePlugins(seen),
    rules: describeRules(seen),
    targets,
    leftOut: describeLeftOut(seen),
    answer: describeAnswer(seen),
    replyHeaders: describeReplyHeaders(answered),
    notes: [...seen.notes, ...noteOfLists(targets), ...noteOfReply(seen, answered)],
  };
  return withoutSecrets(reported, seen);
}

function noteOfLists(targets: readonly TargetExplanation[]): readonly string[] {
  const upTo = targets.find(({ outbound }) => outbound?.fieldsUpTo !== undefined)?.outbound?.fieldsUpTo;
  return upTo === undefined ? [] : [`field sources are shown for the first ${upTo} elements of long lists`];
}
