import type { Server } from 'node:http';
import type { Clock } from '../plugin/index.ts';
import type { DrainSteps } from './drain-steps.ts';
import type { InFlight } from '../gateway/admission/in-flight.ts';
import { countConnections, stopListening, untilQuiet } from '../compose/listener/listeners.ts';
import type { Pipelines } from '../compose/listener/pipelines.ts';

export interface DrainSetup {
  readonly server: Server;
  readonly pipelines: Pick<Pipelines, 'hold' | 'release'>;
  /** From the primary, where it drains all workers. */
  readonly steps: DrainSteps;
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
  /** The primary has the listener, and sends the steps of the end of `delayMs`. */
  readonly inStep?: boolean;
}

/** A request that is still arriving when nothing else is left is waited for no longer than this. */
const ARRIVING_MS = 1000;

/**
 * A client that got the head of its reply before the drain keeps its connection open, and may send its next request on it. Idle
 * connections stay open for so long after the drain began, and after the last such reply has ended. All later replies carry
 * `connection: close`.
 */
const REUSED_MS = 750;

/** The primary needs less than this beyond `delayMs` (last-connections.ts). */
const STEPS_LIMIT_MS = 8000;

/** Lets requests end, cuts those that take too long, and gives how many that were. Nothing listens afterwards. */
export async function drain(setup: DrainSetup, times: DrainTimes): Promise<number> {
  const { server, inFlight, clock } = setup;
  const isReused = watchReuse(setup);
  inFlight.drain();
  await (times.inStep ? setup.steps.follow(times.delayMs + STEPS_LIMIT_MS) : takeLastConnections(setup, times));
  const closed = stopListening(server, () => inFlight.leaving || (times.timeoutMs > 0 && isReused()));
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
async function takeLastConnections({ server, pipelines, clock }: DrainSetup, times: DrainTimes): Promise<void> {
  if (times.delayMs > 0) await clock.sleep(times.delayMs);
  if (times.timeoutMs === 0 || !server.listening) return;
  pipelines.hold();
  const { accepted, stop } = countConnections(server);
  await untilQuiet(accepted);
  stop();
}

/** Whether a client may be about to use an idle connection again, which no reply has closed. */
function watchReuse({ inFlight, clock }: DrainSetup): () => boolean {
  let from = clock.now();
  for (const res of inFlight.replying()) res.once('close', () => (from = clock.now()));
  return () => clock.now() - from < REUSED_MS;
}

/** Waits for it, but no longer than that. */
export async function within(what: Promise<void>, ms: number, clock: Clock): Promise<void> {
  if (ms <= 0) return;
  let stop = (): void => {};
  const timeUp = new Promise<void>((resolve) => (stop = clock.after(ms, resolve)));
  await Promise.race([what, timeUp]);
  stop();
}
