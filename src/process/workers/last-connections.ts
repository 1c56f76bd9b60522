import { setTimeout } from 'node:timers/promises';
import type { Clock } from '../../plugin/index.ts';
import type { DrainTimes } from '../drain.ts';
import type { DrainStep } from '../drain-steps.ts';
import { untilQuiet } from '../../compose/listener/listeners.ts';
import type { Connections } from './connections.ts';
import type { PoolListener } from './pool-listener.ts';
import type { Member } from './pool-member.ts';

/** A worker that does not confirm a step within this time is busy, or blocked: the others do not wait for it. */
const STEP_LIMIT_MS = 500;
/** A connection on its way to a worker that is blocked goes to another one within this time (connections.ts). */
const HANDED_OUT_LIMIT_MS = 4000;
const HANDED_OUT_CHECK_MS = 5;

interface LastWorkers {
  readonly members: readonly Member[];
  readonly listener: Pick<PoolListener, 'count' | 'close'>;
  readonly connections: Pick<Connections, 'areHandedOut' | 'stop'>;
  readonly clock: Clock;
}

/**
 * The end of a drain's delay. The primary closes the port while the queue of connections is empty, hands out all that it has
 * accepted, and only then lets the workers stop listening: a worker that decides by itself does not know what the kernel and the
 * primary still hold for it. See `takeLastConnections` in drain.ts for one process.
 */
export async function takeLastConnections(workers: LastWorkers, { delayMs, timeoutMs }: DrainTimes): Promise<void> {
  const { listener, connections, clock } = workers;
  if (delayMs > 0) await clock.sleep(delayMs);
  if (timeoutMs > 0) {
    await allTake(workers, 'hold');
    await untilQuiet(listener.count());
  }
  listener.close();
  void allTake(workers, 'serve');
  const end = performance.now() + (timeoutMs > 0 ? HANDED_OUT_LIMIT_MS : 0);
  while (!connections.areHandedOut && performance.now() < end) await setTimeout(HANDED_OUT_CHECK_MS);
  void allTake(workers, 'stop');
  connections.stop();
}

/** Resolves when all workers have taken the step, but for those that do not answer. */
async function allTake({ members }: LastWorkers, step: DrainStep): Promise<void> {
  const taken = members.map(async ({ channel, silence }) => {
    const answer = channel.ask('drainStep', step, STEP_LIMIT_MS).catch(() => {});
    if (!silence.isSuspect) await answer;
  });
  await Promise.all(taken);
}
