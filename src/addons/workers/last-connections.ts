import { setTimeout } from 'node:timers/promises';
import type { Clock } from '../../plugin/index.ts';
import type { DrainTimes, DrainStep } from '../../core/process/drain.ts';
import { untilQuiet } from '../../core/http/listener/listeners.ts';
import type { Connections } from './connections.ts';
import type { Member } from './pool-member.ts';
import { subscribe } from 'node:diagnostics_channel';

/** A listening socket of node:net; `fd` is -1 once it is closed. */
interface ListeningHandle {
  readonly fd: number;
  onconnection: (...args: unknown[]) => unknown;
  close(): void;
}

interface NetServer {
  readonly _handle: ListeningHandle | null;
}

/**
 * The port of the workers. node:cluster opens it in the primary with a node:net server, takes over the server's socket
 * (`internal/cluster/round_robin_handle`), gives no access to it, and closes it when the last worker stops listening.
 * By then the kernel may hold connections, which it resets. Node reports every server that listens
 * (https://nodejs.org/api/diagnostics_channel.html#net), so the primary can close the socket while its queue is empty.
 */
export class PoolListener {
  readonly #opened: { readonly server: NetServer; readonly handle: ListeningHandle }[] = [];
  #accepted = 0;

  constructor() {
    subscribe('tracing:net.server.listen:asyncEnd', (message) => {
      const { server } = message as { readonly server: NetServer };
      if (server._handle) this.#opened.push({ server, handle: server._handle });
    });
  }

  /** Counts accepted connections from the first call on. */
  count(): () => number {
    for (const handle of this.#handles()) {
      const { onconnection } = handle;
      handle.onconnection = (...args) => {
        this.#accepted += 1;
        return onconnection.apply(handle, args);
      };
    }
    return () => this.#accepted;
  }

  /** Closes the port. Accepted connections are still handed out; node:cluster's own close has no effect. */
  close(): void {
    for (const handle of this.#handles()) handle.close();
  }

  /** The sockets taken over by node:cluster: other servers still have theirs. */
  #handles(): ListeningHandle[] {
    return this.#opened.flatMap(({ server, handle }) => (server._handle === null && handle.fd >= 0 ? [handle] : []));
  }
}

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
 * Ends a drain's delay: closes the port while the accept queue is empty, hands out all accepted connections, and then
 * lets the workers stop. Only the primary knows them. For a single process see `takeLastConnections` in drain.ts.
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
