import type {
  Explanation,
  HeaderExplanation,
  ChangeExplanation,
  DifferenceExplanation,
  FieldSource,
  TargetExplanation,
  LeftOutExplanation,
} from '../../explanation/explanation.ts';
import { mayHoldCredential } from '../../../../core/settings/values/credential-names.ts';
import type { Observation } from '../observation.ts';
import { maskedHeader, withoutSecrets } from './masks.ts';
import { describeBody } from './outbound.ts';
import { pluginSource, ownSource, targetPlace } from './places.ts';
import { describePlugins } from './plugins.ts';
import { describePrompt } from './prompt.ts';
import { describeCaller, describeConfig, describeDeadline, describeRequest, describeAnswer } from './request.ts';
import { describeRules } from './rules.ts';
import { describeTarget } from './targets.ts';
import { bodyDiff, type Difference } from '../../explanation/body-diff.ts';
import { valueText } from '../../explanation/render/words.ts';
import type { Conditional, Group, Route, Target } from '../../../../core/kernel/index.ts';
import { targetsOf } from '../../../../core/memory/ports.ts';
import { targetName } from '../../../../core/dry-run/written-config.ts';
import { isInUse, wayTo } from '../way-to-target.ts';

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

/**
 * Adds the diff of the client's body and the sent one to each target.
 * @param received and the bodies of the targets have no secrets: one that is cut in its middle could not be masked
 */
const withDiffs = (
  targets: readonly TargetExplanation[],
  received: unknown,
  seen: Observation,
): readonly TargetExplanation[] =>
  targets.map((target) => {
    const { outbound } = target;
    if (!outbound) return target;
    const diff = bodyDiff(received, outbound.body).map((one) => describeDifference(one, target, seen));
    return { ...target, outbound: { ...outbound, diff } };
  });

/** Characters of a value. */
const LONGEST = 120;

type Sources = Pick<TargetExplanation, 'changes' | 'defaulted'>;

function describeDifference(
  { path, ...values }: Difference,
  sources: Sources,
  seen: Observation,
): DifferenceExplanation {
  const name = path.join('.');
  const source = sourceOf(name, 'sent' in values, sources) ?? labelSource(path, seen);
  return {
    path: name,
    ...('received' in values && { received: valueText(values.received, LONGEST) }),
    ...('sent' in values && { sent: valueText(values.sent, LONGEST) }),
    ...(source && { source }),
  };
}

/** The settings that set or removed the field, or an object around it, under the same name as in the sent body. */
function sourceOf(name: string, isSent: boolean, { changes, defaulted }: Sources): FieldSource | undefined {
  const isIts = ({ path, action }: ChangeExplanation): boolean =>
    (action !== 'removed') === isSent && (name === path || name.startsWith(`${path}.`));
  return (changes.findLast(isIts) ?? defaulted.find(({ param }) => isSent && param === name))?.source;
}

/** The line of the config that makes labels of metadata. */
const labelSource = ([first, name]: Difference['path'], seen: Observation): FieldSource | undefined =>
  first === 'labels' && typeof name === 'string' && Object.hasOwn(seen.exchange.labels, name)
    ? ownSource(seen, 'config', ['metadata', 'labels'])
    : undefined;

/** Every target of the config that would not be tried, in the order of the config. */
function describeLeftOut(seen: Observation): readonly LeftOutExplanation[] {
  const { config } = seen.exchange;
  if (!config) return [];
  const tried = new Set(seen.attempts.map(({ attempt }) => attempt.target));
  return targetsOf(config.route)
    .filter((target) => !tried.has(target))
    .map((target) => ({
      target: target.path,
      name: targetName(seen, target.path),
      at: targetPlace(seen, target.path),
      reason: reasonOf(seen, config.route, target),
    }));
}

function reasonOf(seen: Observation, route: Route, target: Target): string {
  const skipped = seen.record.skipped.find((each) => each.target === target.path);
  if (skipped) return skipped.reason;
  const way = wayTo(route, target);
  const closed = way.flatMap(({ around, member }) => closedBy(seen, around, member) ?? []);
  return closed[0] ?? endedBefore(seen, way.map(({ around }) => around).toReversed());
}

/** Why the config itself excludes a subtree, regardless of failures. */
function closedBy({ record }: Observation, around: Group | Conditional, member: Route): string | undefined {
  if (around.kind === 'conditional') {
    const chosen = record.conditions.findLast(({ at }) => at === around.path);
    return chosen && chosen.to !== member.path ? `${around.path} leads to ${chosen.to}` : undefined;
  }
  return isInUse(around, member) ? undefined : 'weight 0';
}

/** @param around the groups around a target, the innermost first */
function endedBefore(seen: Observation, around: readonly Route[]): string {
  for (const group of around) {
    const last = seen.attempts.findLast(({ attempt }) => isInside(attempt.target.path, group.path));
    if (!last) continue;
    const { path } = last.attempt.target;
    return last.supposed ? `no failure of ${path} falls through to it` : `${path} rejects the request, which ends it`;
  }
  return 'the request is answered before any target is tried';
}

const isInside = (path: string, group: string): boolean => path === group || path.startsWith(`${group}.`);
