import { setTimeout } from 'node:timers/promises';
import type { Clock } from '../../plugin/index.ts';
import type { DrainTimes } from '../drain.ts';
import type { DrainStep } from '../drain-steps.ts';
import { untilQuiet } from '../../compose/listener/listeners.ts';
import type { Connections } from './connections.ts';
import type { PoolListener } from './pool-listener.ts';
import type { Member } from './pool-member.ts';

/** Limit for confirming a step. A worker that takes longer is busy or blocked, and the others do not wait for it. */
const STEP_LIMIT_MS = 500;
/** A connection in transit to a blocked worker moves to another one within this time (connections.ts). */
const HANDED_OUT_LIMIT_MS = 4000;
const HANDED_OUT_CHECK_MS = 5;

interface LastWorkers {
  readonly members: readonly Member[];
  readonly listener: Pick<PoolListener, 'count' | 'close'>;
  readonly connections: Pick<Connections, 'areHandedOut' | 'stop'>;
  readonly clock: Clock;
}

/**
 * Ends a drain's delay. The primary closes the port while the accept queue is empty, hands out all accepted
 * connections, and only then lets the workers stop listening. A worker alone does not know which connections the kernel
 * and the primary still hold for it. For a single process see `takeLastConnections` in drain.ts.
 */
export async function takeLastConnections(workers: LastWorkers, { delayMs, timeoutMs }: DrainTimes): Promise<void> {
  const { listener, connections, clock } = workers;
  if (delayMs > 0) await clock.sleep(delayMs);
  if (timeoutMs > 0) {
    await broadcastStep(workers, 'hold');
    await untilQuiet(listener.count());
  }
  listener.close();
  void broadcastStep(workers, 'serve');
  const end = performance.now() + (timeoutMs > 0 ? HANDED_OUT_LIMIT_MS : 0);
  while (!connections.areHandedOut && performance.now() < end) await setTimeout(HANDED_OUT_CHECK_MS);
  void broadcastStep(workers, 'stop');
  connections.stop();
}

/** Resolves when all workers have confirmed the step, except those that do not respond. */
async function broadcastStep({ members }: LastWorkers, step: DrainStep): Promise<void> {
  const taken = members.map(async ({ channel, silence }) => {
    const answer = channel.ask('drainStep', step, STEP_LIMIT_MS).catch(() => {});
    if (!silence.isSuspect) await answer;
  });
  await Promise.all(taken);
}
