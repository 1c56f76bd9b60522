import type { Server } from 'node:http';
import type { InFlight } from '../http/gateway/admission/in-flight.ts';
import { countConnections, stopListening, untilQuiet } from '../http/listener/listeners.ts';
import type { Clock } from '../../plugin/index.ts';
import type { Pipelines } from '../http/listener/pipelines.ts';
import type { Upgrades } from '../http/listener/data-server.ts';

export interface DrainSetup {
  readonly server: Server;
  readonly pipelines: Pick<Pipelines, 'hold' | 'release'>;
  /** The steps that the primary sends when it drains all workers. */
  readonly steps: DrainSteps;
  readonly inFlight: InFlight;
  readonly upgrades: Pick<Upgrades, 'drain' | 'terminate'> | undefined;
  readonly clock: Clock;
}

export interface DrainTimes {
  /** Time during which new requests are still served. */
  readonly delayMs: number;
  /** Time for running replies to end, after the delay. */
  readonly timeoutMs: number;
  /** Time for the errors of cut replies to reach their clients. */
  readonly lingerMs: number;
  /** The primary owns the listener and sends the steps at the end of `delayMs`. */
  readonly inStep?: boolean;
}

/** The load that would be cut if the process were killed. */
export interface Load {
  /** Requests whose reply has not ended. */
  readonly requests: number;
  /** Connections of clients, including idle ones. */
  readonly connections: number;
}

/** The longest wait for requests that are still arriving when no other is left. */
const ARRIVING_MS = 1000;

/**
 * A client that got the head of its reply before the drain keeps its connection open and may send its next request on
 * it. Idle connections therefore stay open for this long after the drain began, and after the last such reply has
 * ended. All later replies have `connection: close`.
 */
const REUSED_MS = 750;

/** The primary needs less than this after `delayMs` (workers/last-connections.ts). */
const STEPS_LIMIT_MS = 8000;

/** Waits for requests, and cuts those that take too long: returns their number. Afterwards nothing listens. */
export async function drain(setup: DrainSetup, times: DrainTimes): Promise<number> {
  const { server, inFlight, upgrades, clock } = setup;
  const isReused = watchReuse(setup);
  inFlight.drain();
  await (times.inStep ? setup.steps.follow(times.delayMs + STEPS_LIMIT_MS) : takeLastConnections(setup, times));
  const closed = stopListening(server, () => inFlight.leaving || (times.timeoutMs > 0 && isReused()));
  setup.pipelines.release();
  upgrades?.drain();
  const end = clock.now() + times.timeoutMs;
  do {
    await within(inFlight.empty(), end - clock.now(), clock);
    // Clients that have sent half a request or none by then have only this much time.
    await within(closed, Math.min(ARRIVING_MS, end - clock.now()), clock);
  } while (inFlight.size > 0 && clock.now() < end);
  const cut = inFlight.cut();
  await within(closed, times.lingerMs, clock);
  server.closeAllConnections();
  upgrades?.terminate();
  await closed;
  inFlight.abandon();
  return cut;
}

/**
 * Accepts the connections that are still in the kernel's queue. When a listener closes, the kernel resets unaccepted
 * connections and loses their requests. Each late reply closes its connection (`connection: close`), so clients open
 * one connection after another. Holding new requests keeps clients from opening more, so the listener closes with an
 * empty queue. The held requests are served then.
 */
async function takeLastConnections({ server, pipelines, clock }: DrainSetup, times: DrainTimes): Promise<void> {
  if (times.delayMs > 0) await clock.sleep(times.delayMs);
  if (times.timeoutMs === 0 || !server.listening) return;
  pipelines.hold();
  const { accepted, stop } = countConnections(server);
  await untilQuiet(accepted);
  stop();
}

/** True while a client may reuse an idle connection that no reply has closed. */
function watchReuse({ inFlight, clock }: DrainSetup): () => boolean {
  let from = clock.now();
  for (const res of inFlight.replying()) res.once('close', () => (from = clock.now()));
  return () => clock.now() - from < REUSED_MS;
}

async function within(work: Promise<void>, ms: number, clock: Clock): Promise<void> {
  if (ms <= 0) return;
  let stop = (): void => {};
  const timeUp = new Promise<void>((resolve) => (stop = clock.after(ms, resolve)));
  await Promise.race([work, timeUp]);
  stop();
}

/**
 * The steps at the end of a drain's delay, in order. `hold`: new requests wait. `serve`: the port is closed, and
 * waiting requests are served. `stop`: the worker has received all its connections.
 */
export type DrainStep = 'hold' | 'serve' | 'stop';

/** Lets a worker follow the primary, which alone accepts connections and knows the last one. */
export class DrainSteps {
  readonly #pipelines: Pick<Pipelines, 'hold' | 'release'>;
  readonly #clock: Clock;
  #stop: (() => void) | undefined;

  constructor(pipelines: Pick<Pipelines, 'hold' | 'release'>, clock: Clock) {
    this.#pipelines = pipelines;
    this.#clock = clock;
  }

  /** Resolves at the last step or at the limit. */
  async follow(limitMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#stop = resolve;
    const giveUp = this.#clock.after(limitMs, resolve);
    await promise;
    giveUp();
    this.#stop = undefined;
  }

  /** Takes a step. Ignored unless `follow` is waiting. */
  take(step: DrainStep): void {
    if (!this.#stop) return;
    if (step === 'hold') this.#pipelines.hold();
    else this.#pipelines.release();
    if (step === 'stop') this.#stop();
  }
}
