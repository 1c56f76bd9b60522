import type { Server } from 'node:http';
import type { Clock } from '../plugin/index.ts';
import type { InFlight } from './in-flight.ts';
import { stopListening } from './listeners.ts';

export interface DrainSetup {
  readonly server: Server;
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

/** Lets requests end, cuts those that take too long, and gives how many that were. Nothing listens afterwards. */
export async function drain({ server, inFlight, clock }: DrainSetup, times: DrainTimes): Promise<number> {
  inFlight.drain();
  if (times.delayMs > 0) await clock.sleep(times.delayMs);
  const closed = stopListening(server, () => inFlight.leaving);
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

/** Waits for it, but no longer than that. */
async function within(what: Promise<void>, ms: number, clock: Clock): Promise<void> {
  if (ms <= 0) return;
  let stop = (): void => {};
  const timeUp = new Promise<void>((resolve) => (stop = clock.after(ms, resolve)));
  await Promise.race([what, timeUp]);
  stop();
}
