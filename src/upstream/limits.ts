import { GatewayError, UpstreamError } from '../plugin/index.ts';
import type { Hold, Timeouts } from './types.ts';

export type LimitName =
  | 'line'
  | 'connect'
  | 'first_byte'
  | 'first_content'
  | 'idle'
  | 'refusal'
  | 'total'
  | 'request'
  | 'hold';

/** The next moment something is due. */
export interface DueLimit {
  readonly name: LimitName;
  /** Monotonic milliseconds. */
  readonly at: number;
}

/**
 * An error reply is complete within milliseconds of its headers. One that dribbles is not worth the wait: its status is known, and
 * with it which target comes next.
 */
export const REFUSAL_MS = 3_000;

/** What a caller should wait before it tries again where the gateway itself has no connection left. */
export const RETRY_AFTER_MS = 1_000;

/**
 * `waiting`: in line for a connection. `connecting`: it has one of the pool's places. `sent`: waiting for headers. `held`: a 2xx before its commit gate. `flowing`: past it.
 * `refused`: the body of another status is being read. `over`: settled.
 */
export type Phase = 'waiting' | 'connecting' | 'sent' | 'held' | 'refused' | 'flowing' | 'over';

/** What the limits of a try depend on. Monotonic milliseconds. */
export interface Progress {
  readonly phase: Phase;
  readonly stream: boolean;
  /** Since when the upstream can be at work on it: not while it waits in line. */
  readonly startedAt: number;
  readonly headersAt: number;
  /** Real content was seen. */
  readonly content: boolean;
  /** Last sign of life that is not a ping, or the moment reading went on after a pause. */
  readonly progressAt: number;
  /** Whoever takes the reply has asked us to stop reading. */
  readonly paused: boolean;
  /** How long that has been so before, in all: time in which no content could be seen. */
  readonly pausedFor: number;
}

export interface LimitSettings {
  readonly timeouts: Timeouts;
  readonly hold: Hold;
  readonly deadline: number;
  readonly deadlineOf: 'total' | 'request';
}

/**
 * The limit that is due first. While we are paused only the deadline counts: a client that reads slowly must not get its
 * upstream killed for a silence of its own making.
 *
 * A plain reply has no pings, so bytes are its progress, and no first content apart from its first byte.
 */
export function nearestLimit(progress: Progress, { timeouts, hold, deadline, deadlineOf }: LimitSettings): DueLimit {
  let nearest: DueLimit = { name: deadlineOf, at: deadline };
  const consider = (name: LimitName, at: number): void => {
    if (at < nearest.at) nearest = { name, at };
  };
  const { phase, startedAt, progressAt, stream, content } = progress;
  if (progress.paused) return nearest;
  if (phase === 'waiting') {
    consider('line', startedAt + timeouts.connect);
    return nearest;
  }
  const inReply = phase === 'held' || phase === 'refused' || phase === 'flowing';
  if (phase === 'connecting') consider('connect', startedAt + timeouts.connect);
  if (!inReply) consider('first_byte', startedAt + timeouts.firstByte);
  if (stream && phase !== 'refused' && !content) {
    consider('first_content', startedAt + progress.pausedFor + timeouts.firstContent);
  } else if (inReply) {
    consider('idle', progressAt + timeouts.idle);
  }
  if (phase === 'refused') consider('refusal', progress.headersAt + REFUSAL_MS);
  const held = phase === 'held' && stream && (content || !hold.outlastsSilence);
  if (held) consider('hold', progress.headersAt + hold.ms);
  return nearest;
}

/** `250 ms`, `5 s`. */
export function formatDuration(ms: number): string {
  return ms >= 1000 ? `${Math.round(ms / 100) / 10} s` : `${Math.round(ms)} ms`;
}

/** @param why no connection became free */
export const poolExhausted = (host: string, why: string): UpstreamError =>
  new UpstreamError(
    'pool_exhausted',
    `No free connection to ${host}: all connections (\`connections\`) are in use, and ${why}.`,
    {
      retryAfterMs: RETRY_AFTER_MS,
    },
  );

interface TimeoutTimes {
  readonly timeouts: Timeouts;
  readonly requestMs: number;
}

/** What is overdue, and where the request stands. */
interface Overdue {
  readonly name: Exclude<LimitName, 'hold' | 'refusal'>;
  readonly phase: Phase;
  readonly host: string;
}

/** A request that has had no connection yet says nothing of its upstream. */
export function overdueError({ name, phase, host }: Overdue, times: TimeoutTimes): GatewayError {
  if (name === 'line')
    return poolExhausted(host, `none became free within ${formatDuration(times.timeouts.connect)} (timeouts.connect)`);
  if (phase !== 'waiting') return timeoutError(name, times, host);
  if (name === 'request') return deadlineOver(times, `while the request waited for a free connection to ${host}`);
  return poolExhausted(host, "none became free before the target's time was over (timeouts.total)");
}

/** The time was over before anything was sent: a token fetch, a wait between tries or a plugin has used it up. */
export function outOfTime(settings: LimitSettings & TimeoutTimes, host: string): GatewayError {
  if (settings.deadlineOf === 'request') return deadlineOver(settings, `before the request was sent to ${host}`);
  const within = formatDuration(settings.timeouts.total);
  return new UpstreamError(
    'timeout_total',
    `${within} (timeouts.total) passed before the request was sent to ${host}.`,
    {
      ofGateway: true,
    },
  );
}

/** No UpstreamError: it is the request's own time that is over. */
const deadlineOver = ({ requestMs }: TimeoutTimes, when: string): GatewayError =>
  new GatewayError('timeout_request', `The request's deadline of ${formatDuration(requestMs)} passed ${when}.`);

/** A timeout in words: which one, and how long it is. */
export function timeoutError(
  name: Exclude<Overdue['name'], 'line'>,
  { timeouts, requestMs }: TimeoutTimes,
  host: string,
): UpstreamError {
  switch (name) {
    case 'connect':
      return new UpstreamError(
        'timeout_connect',
        `No connection to ${host} within ${formatDuration(timeouts.connect)} (timeouts.connect).`,
      );
    case 'first_byte':
      return new UpstreamError(
        'timeout_first_byte',
        `No answer from ${host} within ${formatDuration(timeouts.firstByte)} (timeouts.first_byte).`,
      );
    case 'first_content':
      return new UpstreamError(
        'timeout_first_content',
        `No content from ${host} within ${formatDuration(timeouts.firstContent)} (timeouts.first_content).`,
      );
    case 'idle':
      return new UpstreamError(
        'timeout_idle',
        `Nothing more from ${host} for ${formatDuration(timeouts.idle)} (timeouts.idle).`,
      );
    case 'request':
      return new UpstreamError(
        'timeout_request',
        `${host} did not complete its reply before the request's deadline of ${formatDuration(requestMs)}.`,
      );
    case 'total':
      return new UpstreamError(
        'timeout_total',
        `${host} did not complete its reply within ${formatDuration(timeouts.total)} (timeouts.total).`,
      );
  }
}
