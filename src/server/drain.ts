import type { Server } from 'node:http';
import type { Clock } from '../plugin/index.ts';
import type { InFlight } from './in-flight.ts';
import { stopListening, untilQuiet } from './listeners.ts';
import type { Pipelines } from './pipelines.ts';

export interface DrainSetup {
  readonly server: Server;
  readonly pipelines: Pick<Pipelines, 'hold' | 'release'>;
  /** Connections come by way of another process, which has a queue of its own. */
  readonly isWorker: boolean;
  readonly inFlight: InFlight;
  readonly clock: Clock;
}

export interface DrainTimes {
  /** New requests are still served for this long. */
  readonly delayMs: number;
  /** Running replies have this long to end, after that. */
  readonly timeoutMs: number;
  /** What was cut has this long to reach its client. */
  readonly lingerMs: number;
}

/** A request that is still arriving when nothing else is left is waited for no longer than this. */
const ARRIVING_MS = 1000;

/**
 * A client that had its reply before it could hear of the drain may use its connection again: idle ones are left open until the
 * drain is so old. Replies since then have closed theirs.
 */
const REUSED_MS = 1000;

/** The queue of connections is taken to be empty after `quietMs` without one. Clients that go on opening some have no more than `limitMs`. */
const QUIET = { quietMs: 25, limitMs: 700 };
/** The primary hands out one connection after the other, and may have to wait for a processor. */
const QUIET_IN_WORKER = { quietMs: 250, limitMs: 2000 };

/** Lets requests end, cuts those that take too long, and gives how many that were. Nothing listens afterwards. */
export async function drain(setup: DrainSetup, times: DrainTimes): Promise<number> {
  const { server, inFlight, clock } = setup;
  const beganAt = clock.now();
  inFlight.drain();
  if (times.delayMs > 0) await clock.sleep(times.delayMs);
  if (times.timeoutMs > 0) await acceptTheLast(setup);
  const isBusy = (): boolean => inFlight.leaving || (times.timeoutMs > 0 && clock.now() - beganAt < REUSED_MS);
  const closed = stopListening(server, isBusy);
  setup.pipelines.release();
  const end = clock.now() + times.timeoutMs;
  do {
    await within(inFlight.empty(), end - clock.now(), clock);
    // Whoever has sent half a request by then, or nothing, has no more time than this.
    await within(closed, Math.min(ARRIVING_MS, end - clock.now()), clock);
  } while (inFlight.size > 0 && clock.now() < end);
  const cut = inFlight.cut();
  await within(closed, times.lingerMs, clock);
  server.closeAllConnections();
  await closed;
  inFlight.abandon();
  return cut;
}

/**
 * The kernel resets connections that nothing has accepted when their listener closes, and their clients' requests with them. Each
 * reply of the last moments closes its connection (`connection: close`), so that clients open one connection after the other. While
 * new requests wait they open none, and the listener closes on an empty queue. The requests are served then.
 */
async function acceptTheLast({ server, pipelines, isWorker }: DrainSetup): Promise<void> {
  pipelines.hold();
  await untilQuiet(server, isWorker ? QUIET_IN_WORKER : QUIET);
}

/** Waits for it, but no longer than that. */
async function within(what: Promise<void>, ms: number, clock: Clock): Promise<void> {
  if (ms <= 0) return;
  let stop = (): void => {};
  const timeUp = new Promise<void>((resolve) => (stop = clock.after(ms, resolve)));
  await Promise.race([what, timeUp]);
  stop();
}
