import type { Explanation, HeaderExplanation } from '../../explanation/explanation.ts';
import { mayHoldCredential } from '../../../../core/settings/values/credential-names.ts';
import type { Observation } from '../observation.ts';
import { withDiffs } from './diff.ts';
import { describeLeftOut } from './left-out.ts';
import { maskedHeader, withoutSecrets } from './masks.ts';
import { describeBody } from './outbound.ts';
import { pluginSource } from './places.ts';
import { describePlugins } from './plugins.ts';
import { describePrompt } from './prompt.ts';
import { describeCaller, describeConfig, describeDeadline, describeRequest, describeAnswer } from './request.ts';
import { describeRules } from './rules.ts';
import { describeTarget } from './targets.ts';

/**
 * Describes an observation: plain values with their sources, without secrets.
 *
 * @param answered the same request with a reply in place of the first failure
 */
export function describeRun(seen: Observation, answered = seen): Explanation {
  const { record, exchange, loaded } = seen;
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
    targets: seen.attempts.map((attempt) => describeTarget(seen, attempt)),
    leftOut: describeLeftOut(seen),
    answer: describeAnswer(seen),
    replyHeaders: describeReplyHeaders(answered),
    notes: [...seen.notes, ...noteOfReply(seen, answered)],
  };
  const safe = withoutSecrets({ reported, received: receivedBody(seen) }, seen);
  return { ...safe.reported, targets: withDiffs(safe.reported.targets, safe.received, seen) };
}

/** Undefined for a request that was refused before its body was read. */
const receivedBody = ({ exchange: { request } }: Observation): unknown =>
  request.body && describeBody(request.body.original.toString());

/** The headers of the reply that plugins set, in the order of the reply. */
function describeReplyHeaders(seen: Observation): readonly HeaderExplanation[] {
  const { headers, marks } = seen.reply;
  return [...headers].flatMap(([name, value]) => {
    const setter = marks.setterOf(name, value);
    const shown = mayHoldCredential(name) ? maskedHeader(value) : value;
    return setter ? [{ name, value: shown, source: pluginSource(seen, setter) }] : [];
  });
}

/** A plugin that reads the reply may fail at an empty one. */
function noteOfReply(seen: Observation, answered: Observation): readonly string[] {
  const { error } = answered.exchange;
  if (seen === answered || !error) return [];
  const by = error.plugin === undefined ? 'a plugin' : `the plugin ${error.plugin}`;
  return [`headers of the reply are not known: ${by} refused the empty reply that explain gave it`];
}
