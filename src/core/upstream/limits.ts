import { firstByteOf } from '../kernel/timeouts.ts';
import { GatewayError, UpstreamError, type Clock } from '../../plugin/index.ts';
import type { Timeouts } from '../kernel/index.ts';
import type { Hold, OutboundRequest } from './types.ts';

type LimitName =
  | 'line'
  | 'connect'
  | 'first_byte'
  | 'first_content'
  | 'idle'
  | 'refusal'
  | 'total'
  | 'request'
  | 'hold';

export interface DueLimit {
  readonly name: LimitName;
  /** Monotonic milliseconds. */
  readonly at: number;
}

/** The time to read the body of an error reply. The status alone decides about the next target. */
const REFUSAL_MS = 3_000;

/** The `retry-after` for callers where the gateway itself has no free connection. */
export const RETRY_AFTER_MS = 1_000;

/**
 * `waiting`: in line for a connection. `connecting`: it has a slot of the pool. `sent`: waiting for headers. `held`: a
 * 2xx before commit. `flowing`: after commit. `refused`: the body of another status is being read. `over`: settled.
 */
export type Phase = 'waiting' | 'connecting' | 'sent' | 'held' | 'refused' | 'flowing' | 'over';

/** The progress of a try, on which its limits depend. Monotonic milliseconds. */
export interface Progress {
  readonly phase: Phase;
  readonly stream: boolean;
  /** The body is a form that is being sent. */
  readonly uploading: boolean;
  /** The rest of the form has not come from the client, whose own limit applies. */
  readonly waitsForClient: boolean;
  /** The start of the upstream's time, which excludes the wait in line. */
  readonly startedAt: number;
  readonly headersAt: number;
  readonly content: boolean;
  /** The upstream has begun an item: from then on its pings show that it works on it. */
  readonly begun: boolean;
  /** Time of the last bytes, or of the end of a pause. */
  readonly progressAt: number;
  readonly paused: boolean;
  /** Total time of earlier pauses, in which no content could be received. */
  readonly pausedFor: number;
}

export type LimitSettings = Pick<OutboundRequest, 'timeouts' | 'hold' | 'deadline' | 'deadlineOf'>;

/** The result of every call of `nearestLimit`: a try asks several times, and reads the answer at once. */
const nearest: { name: LimitName; at: number } = { name: 'request', at: 0 };

/**
 * The limit that is due first; valid until the next call. During a pause only the deadline counts: a slow client must
 * not cause a timeout of its upstream. Every byte is a sign of life, a ping too: models think for minutes. A stream
 * that only pings before its first item ends at `first_content`. The first byte of a plain reply is its first content.
 */
export function nearestLimit(progress: Progress, { timeouts, hold, deadline, deadlineOf }: LimitSettings): DueLimit {
  nearest.name = deadlineOf;
  nearest.at = deadline;
  const { phase, startedAt, progressAt, stream, content, begun } = progress;
  if (progress.paused) return nearest;
  if (phase === 'waiting') {
    consider('line', startedAt + timeouts.connect);
    return nearest;
  }
  if (phase === 'sent' && progress.uploading) {
    if (!progress.waitsForClient) consider('idle', progressAt + timeouts.idle);
    return nearest;
  }
  const inReply = phase === 'held' || phase === 'refused' || phase === 'flowing';
  if (phase === 'connecting') consider('connect', startedAt + timeouts.connect);
  if (!inReply) consider('first_byte', startedAt + firstByteOf(stream, timeouts));
  if (stream && phase !== 'refused' && !content) {
    consider('first_content', (begun ? progressAt : startedAt + progress.pausedFor) + timeouts.firstContent);
  } else if (inReply) {
    consider('idle', progressAt + timeouts.idle);
  }
  if (phase === 'refused') consider('refusal', progress.headersAt + REFUSAL_MS);
  if (phase === 'held' && stream && !hold.untilOutput) considerHold(progress, timeouts, hold);
  return nearest;
}

function considerHold(
  { startedAt, progressAt, headersAt, content, begun }: Progress,
  timeouts: Timeouts,
  hold: Hold,
): void {
  if (content || !hold.outlastsSilence) consider('hold', headersAt + hold.ms);
  // One that still works on an item is kept. A silent one is given up, because another target can answer.
  else if (begun && progressAt >= startedAt + timeouts.firstContent) consider('hold', progressAt);
}

function consider(name: LimitName, at: number): void {
  if (at >= nearest.at) return;
  nearest.name = name;
  nearest.at = at;
}

/** `250 ms`, `5 s`. */
export const formatDuration = (ms: number): string =>
  ms >= 1000 ? `${Math.round(ms / 100) / 10} s` : `${Math.round(ms)} ms`;

/** @param reason why no connection became free */
export const poolExhausted = (host: string, reason: string): UpstreamError =>
  new UpstreamError(
    'pool_exhausted',
    `No free connection to ${host}: all connections (\`connections\`) are in use, and ${reason}.`,
    { retryAfterMs: RETRY_AFTER_MS },
  );

type TimeoutTimes = Pick<OutboundRequest, 'stream' | 'timeouts' | 'requestMs'>;

interface Overdue {
  readonly name: Exclude<LimitName, 'hold' | 'refusal'>;
  readonly phase: Phase;
  readonly host: string;
}

/** The error of a limit that has passed. Without a connection it is not a failure of the upstream. */
export function overdueError({ name, phase, host }: Overdue, times: TimeoutTimes): GatewayError {
  if (name === 'line')
    return poolExhausted(host, `none became free within ${formatDuration(times.timeouts.connect)} (timeouts.connect)`);
  if (phase !== 'waiting') return new UpstreamError(`timeout_${name}`, LATE[name](host, times));
  if (name === 'request') return deadlineOver(times, `while the request waited for a free connection to ${host}`);
  return poolExhausted(host, "none became free before the target's time was over (timeouts.total)");
}

/** The error where the time passed before the request was sent: a token fetch, a retry delay or a plugin has used it up. */
export function outOfTime(settings: LimitSettings & TimeoutTimes, host: string): GatewayError {
  if (settings.deadlineOf === 'request') return deadlineOver(settings, `before the request was sent to ${host}`);
  const within = formatDuration(settings.timeouts.total);
  const message = `${within} (timeouts.total) passed before the request was sent to ${host}.`;
  return new UpstreamError('timeout_total', message, { ofGateway: true });
}

/** Not an UpstreamError: the deadline of the whole request has passed. */
const deadlineOver = ({ requestMs }: TimeoutTimes, when: string): GatewayError =>
  new GatewayError('timeout_request', `The request's deadline of ${formatDuration(requestMs)} passed ${when}.`);

/** The step that a host has not done in time, by the limit that has passed. */
const LATE: Readonly<Record<Exclude<Overdue['name'], 'line'>, (host: string, times: TimeoutTimes) => string>> = {
  connect: (host, { timeouts }) =>
    `No connection to ${host} within ${formatDuration(timeouts.connect)} (timeouts.connect).`,
  first_byte: (host, { stream, timeouts }) =>
    `No answer from ${host} within ${formatDuration(firstByteOf(stream, timeouts))} (timeouts.first_byte).`,
  first_content: (host, { timeouts }) =>
    `No content from ${host} within ${formatDuration(timeouts.firstContent)} (timeouts.first_content).`,
  idle: (host, { timeouts }) => `Nothing more from ${host} for ${formatDuration(timeouts.idle)} (timeouts.idle).`,
  request: (host, { requestMs }) =>
    `${host} did not complete its reply before the request's deadline of ${formatDuration(requestMs)}.`,
  total: (host, { timeouts }) =>
    `${host} did not complete its reply within ${formatDuration(timeouts.total)} (timeouts.total).`,
};

/** setTimeout's largest delay; with a larger one it would fire immediately. */
const MAX_DELAY_MS = 0x7fffffff;

/** The only timer of a request, set for the earliest limit. Limits that move later cost nothing: it waits again. */
export class DeadlineTimer {
  readonly #clock: Clock;
  readonly #owner: { onTimer(): void };
  #at = Infinity;
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, owner: { onTimer(): void }) {
    this.#clock = clock;
    this.#owner = owner;
  }

  waitUntil(at: number): void {
    if (at >= this.#at) return;
    this.#cancel?.();
    this.#at = at;
    // Rounded up: a timer that fires a fraction early would have to be set again.
    const delay = Math.min(MAX_DELAY_MS, Math.max(0, Math.ceil(at - this.#clock.now())));
    this.#cancel = this.#clock.after(delay, () => {
      this.#at = Infinity;
      this.#cancel = undefined;
      this.#owner.onTimer();
    });
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#at = Infinity;
  }
}
