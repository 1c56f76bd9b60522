import type { Clock } from '../../plugin/index.ts';
import type { DrainTimes } from '../drain.ts';
import type { Member } from './pool-member.ts';

/** Beyond its own limit a drain has error events to send and telemetry to flush. */
const DRAIN_EXTRA_MS = 10_000;
/** The last numbers of a worker that has drained come at once, or are left out. */
const TELL_LIMIT_MS = 1_000;
/** A worker that has answered everything ends; one that does not is killed. */
const EXIT_LIMIT_MS = 2_000;

export interface StopTools {
  readonly clock: Clock;
  readonly kill: (member: Member, reason: 'drain' | 'start') => void;
}

/**
 * Drains one worker and waits for its end. Gives how many requests were cut; of a worker that had to be killed its last word
 * counts, and at least one: something keeps it from ending.
 */
export async function stopMember(member: Member, times: DrainTimes, { clock, kill }: StopTools): Promise<number> {
  const { worker, channel, exited, silence } = member;
  if (member.servingSince === undefined) {
    kill(member, 'start');
    await exited;
    return 0;
  }
  const limitMs = times.delayMs + times.timeoutMs + times.lingerMs;
  // A worker that is blocked does not know that its time is over. One that answers still has something to flush.
  const callOff = clock.after(limitMs, () => silence.endPatience());
  let cut = 0;
  try {
    ({ cut } = await channel.ask('drain', { ...times, inStep: times.timeoutMs > 0 }, limitMs + DRAIN_EXTRA_MS));
    member.drained = true;
    await channel.ask('metrics', undefined, TELL_LIMIT_MS);
    // It ends when the channel does.
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
