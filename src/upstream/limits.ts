import { UpstreamError } from '../plugin/index.ts';
import type { Hold, Timeouts } from './types.ts';

export type LimitName = 'connect' | 'first_byte' | 'first_content' | 'idle' | 'total' | 'request' | 'hold';

/** The next moment something is due. */
export interface Limit {
  readonly name: LimitName;
  /** Monotonic milliseconds. */
  readonly at: number;
}

/**
 * `connecting`: in line or connecting. `sent`: waiting for headers. `held`: a 2xx before its commit gate. `flowing`: past it.
 * `refused`: the body of another status is being read. `over`: settled.
 */
export type Phase = 'connecting' | 'sent' | 'held' | 'refused' | 'flowing' | 'over';

/** What the limits of a try depend on. Monotonic milliseconds. */
export interface Progress {
  readonly phase: Phase;
  readonly stream: boolean;
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
export function nearestLimit(progress: Progress, { timeouts, hold, deadline, deadlineOf }: LimitSettings): Limit {
  let nearest: Limit = { name: deadlineOf, at: deadline };
  const consider = (name: LimitName, at: number): void => {
    if (at < nearest.at) nearest = { name, at };
  };
  const { phase, startedAt, progressAt, stream, content } = progress;
  if (progress.paused) return nearest;
  const inReply = phase === 'held' || phase === 'refused' || phase === 'flowing';
  if (phase === 'connecting') consider('connect', startedAt + timeouts.connect);
  if (!inReply) consider('first_byte', startedAt + timeouts.firstByte);
  if (stream && phase !== 'refused' && !content) {
    consider('first_content', startedAt + progress.pausedFor + timeouts.firstContent);
  } else if (inReply) {
    consider('idle', progressAt + timeouts.idle);
  }
  const held = phase === 'held' && stream && (content || !hold.outlastsSilence);
  if (held) consider('hold', progress.headersAt + hold.ms);
  return nearest;
}

/** `250 ms`, `5 s`. */
export function formatDuration(ms: number): string {
  return ms >= 1000 ? `${Math.round(ms / 100) / 10} s` : `${Math.round(ms)} ms`;
}

interface TimeoutTimes {
  readonly timeouts: Timeouts;
  readonly requestMs: number;
}

/**
 * A timeout in words: which one, and how long it is.
 * @param inLine the request had not even got a connection of the pool: its upstream may be well
 */
export function timeoutError(
  name: Exclude<LimitName, 'hold'>,
  { timeouts, requestMs }: TimeoutTimes,
  host: string,
  inLine: boolean,
): UpstreamError {
  switch (name) {
    case 'connect':
      return new UpstreamError(
        'timeout_connect',
        `No ${inLine ? 'free connection' : 'connection'} to ${host} within ${formatDuration(timeouts.connect)} (timeouts.connect)` +
          (inLine ? ': all that its `connections` allow are in use.' : '.'),
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
