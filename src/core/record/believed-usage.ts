import type { Signals, Usage } from '../../formats/events.ts';
import { isWithin, UNKNOWN_MOST } from '../../formats/counts.ts';
import type { Attempt, TryRecord } from '../kernel/index.ts';

/**
 * The usage of a reply as the provider counts it. Undefined without one, and where it cannot be true: its counts contradict each other, or
 * exceed the limits of the model and the bytes of the request and the reply.
 *
 * @param bytes of the request
 */
export function believedUsage(
  { resolved, tries }: Pick<Attempt, 'resolved' | 'tries'>,
  signals: Signals | undefined,
  bytes: number,
): Usage | undefined {
  const usage = signals?.usage;
  if (!usage) return undefined;
  const { input, output } = resolved?.mostUsage ?? UNKNOWN_MOST;
  // A reply may hold several answers, each as long as the model allows.
  const most = usage.output <= output ? output : output + received(tries);
  return isWithin(usage, Math.max(input, bytes), most) ? usage : undefined;
}

const received = (tries: readonly TryRecord[]): number => tries.reduce((sum, { bytesIn }) => sum + bytesIn, 0);
