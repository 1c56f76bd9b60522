import type { Clock } from '../../plugin/index.ts';
import type { DrainTimes } from '../drain.ts';
import type { Member } from './pool-member.ts';

/** Extra time beyond the drain's limit, to send error events and flush telemetry. */
const DRAIN_EXTRA_MS = 10_000;
/** Limit for the last metrics of a drained worker: they come at once or are lost. */
const METRICS_LIMIT_MS = 1_000;
/** A drained worker exits within this time or is killed. */
const EXIT_LIMIT_MS = 2_000;

export interface StopTools {
  readonly clock: Clock;
  readonly kill: (member: Member, reason: 'drain' | 'start') => void;
}

/**
 * Drains one worker and waits for its exit. Returns the number of cut requests. For a worker that had to be killed this
 * is its last report, but at least 1: something kept it from ending.
 */
export async function stopMember(member: Member, times: DrainTimes, { clock, kill }: StopTools): Promise<number> {
  const { worker, channel, exited, silence } = member;
  if (member.servingSince === undefined) {
    kill(member, 'start');
    await exited;
    return 0;
  }
  const limitMs = times.delayMs + times.timeoutMs + times.lingerMs;
  // A blocked worker does not notice that its time is over. A worker that responds still has data to flush.
  const callOff = clock.after(limitMs, () => silence.shortenLimit());
  let cut = 0;
  try {
    ({ cut } = await channel.ask('drain', { ...times, inStep: times.timeoutMs > 0 }, limitMs + DRAIN_EXTRA_MS));
    member.drained = true;
    await channel.ask('metrics', undefined, METRICS_LIMIT_MS);
    // The worker exits when the channel closes.
    worker.process.disconnect();
  } catch {
    if (!member.drained) cut = Math.max(1, member.load.requests);
    kill(member, 'drain');
  }
  const giveUp = clock.after(EXIT_LIMIT_MS, () => kill(member, 'drain'));
  await exited;
  giveUp();
  callOff();
  return cut;
}
