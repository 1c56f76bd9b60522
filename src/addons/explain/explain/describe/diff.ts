import type {
  ChangeExplanation,
  DifferenceExplanation,
  FieldSource,
  TargetExplanation,
} from '../../explanation/explanation.ts';
import { bodyDiff, type Difference } from '../../explanation/body-diff.ts';
import { valueText } from '../../explanation/render/words.ts';
import type { Observation } from '../observation.ts';
import { ownSource } from './places.ts';

/**
 * Adds the diff of the client's body and the sent one to each target.
 * @param received and the bodies of the targets have no secrets: one that is cut in its middle could not be masked
 */
export const withDiffs = (
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
