import type { Worker } from 'node:cluster';
import type { WorkerConnections } from './connections.ts';
import type { Channel } from './ipc.ts';
import type { Clock } from '../../plugin/index.ts';
import type { DrainTimes, Load } from '../../core/process/drain.ts';

/** The primary kills a worker whose event loop has not run for this long: it serves no request and does not recover by itself. */
export const SILENCE_LIMIT_MS = 10_000;
/** A worker that has sent no message for SUSPECT_AFTER_MS gets no new connections while others answer. */
const SUSPECT_AFTER_MS = 2_000;
export const TICK_MS = 500;
/** A worker reports its metrics about once a second. The primary pings a worker that has not. */
const ASK_AFTER_MS = 1_000;

/** Counted in ticks of the primary: one that was paused itself has received nothing and must not kill live workers. */
export class Silence {
  #limitMs: number;
  #silentMs = 0;

  constructor(limitMs = SILENCE_LIMIT_MS) {
    this.#limitMs = limitMs;
  }

  get ms(): number {
    return this.#silentMs;
  }

  get isSuspect(): boolean {
    return this.#silentMs >= SUSPECT_AFTER_MS;
  }

  reset(): void {
    this.#silentMs = 0;
  }

  /** Shortens the limit at the end of a drain: a silent worker only gets the time needed to be suspect. */
  shortenLimit(): void {
    this.#limitMs = Math.min(this.#limitMs, SUSPECT_AFTER_MS);
  }

  tick(): 'nothing' | 'ask' | 'end' {
    this.#silentMs += TICK_MS;
    if (this.#silentMs >= this.#limitMs) return 'end';
    return this.#silentMs >= Math.min(ASK_AFTER_MS, this.#limitMs / 2) ? 'ask' : 'nothing';
  }
}

/** The reasons for which the primary kills a worker. Labels of a metric, so the list is closed. */
export const KILL_REASONS = ['blocked', 'drain', 'start'] as const;
export type KillReason = (typeof KILL_REASONS)[number];

export interface Member {
  readonly worker: Worker;
  readonly channel: Channel;
  readonly exited: Promise<void>;
  readonly silence: Silence;
  readonly connections: WorkerConnections;
  servingSince: number | undefined;
  /** The pause before it was started. */
  readonly pausedMs: number;
  load: Load;
  /** It has drained by itself. */
  drained: boolean;
  killed: boolean;
  /** It finishes its requests and exits; another worker has replaced it. */
  ending: boolean;
}

export const NO_LOAD: Load = { requests: 0, connections: 0 };

/** The load of a worker when it died, as far as the primary knows: its last report is up to 250 ms old. */
export const heldBy = ({ load, connections, drained }: Member): Load =>
  drained ? NO_LOAD : { requests: load.requests, connections: load.connections + connections.takeAccepted() };

export interface WorkerExit {
  readonly code: number;
  readonly signal: string;
  readonly held: Load;
}

export const exitFields = ({ worker: { id, process } }: Member, { code, signal, held }: WorkerExit): object => ({
  worker: id,
  pid: process.pid,
  ...(signal ? { signal } : { code }),
  requests_cut: held.requests,
  connections_cut: held.connections,
});

/** Extra time beyond the drain's limit, to send error events and flush telemetry. */
const DRAIN_EXTRA_MS = 10_000;
/** Limit for the last metrics of a drained worker: they come at once or are lost. */
const METRICS_LIMIT_MS = 1_000;
/** A drained worker exits within this time or is killed. */
const EXIT_LIMIT_MS = 2_000;

interface StopTools {
  readonly clock: Clock;
  readonly kill: (member: Member, reason: 'drain' | 'start') => void;
}

/** Drains one worker and waits for its exit. Returns the number of cut requests, of a killed one at least 1. */
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
