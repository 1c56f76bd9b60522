import type { Timeouts, TimeoutSettings } from './settings.ts';
import { parseDuration } from './units.ts';

/** Each timeout and its name in the settings files. */
export const TIMEOUT_NAMES = [
  ['connect', 'connect'],
  ['firstByte', 'first_byte'],
  ['firstContent', 'first_content'],
  ['idle', 'idle'],
  ['total', 'total'],
] as const satisfies readonly (readonly [keyof TimeoutSettings, string])[];

type WrittenTimeouts = {
  readonly [Name in (typeof TIMEOUT_NAMES)[number][1]]?: Parameters<typeof parseDuration>[0] | undefined;
};

/** Reads the configured timeouts, in milliseconds. Unset timeouts stay unset, so that the enclosing settings apply. */
export function readTimeouts(written: WrittenTimeouts): TimeoutSettings {
  const times: TimeoutSettings = Object.fromEntries(
    TIMEOUT_NAMES.flatMap(([name, key]) => {
      const value = written[key];
      return value === undefined ? [] : [[name, parseDuration(value)]];
    }),
  );
  // The two differ by default only.
  return times.firstByte === undefined ? times : { ...times, firstByteOfStream: times.firstByte };
}

/** The headers of a plain reply come with its end. */
export const firstByteOf = (stream: boolean, { firstByte, firstByteOfStream = firstByte }: Timeouts): number =>
  stream ? firstByteOfStream : firstByte;

/** Minimum useful time of a try: three round trips to connect, some hundreds of milliseconds to begin an answer. */
const USEFUL_MS = 1000;

/**
 * Whether enough time for a reply remains after a wait. A try that begins just before its deadline only replaces the
 * current error, which may carry a `retry-after`, by a timeout. When a request has little time in total, half of the
 * remaining time is enough.
 * @param waitMs the wait, in milliseconds
 * @param leftMs time until the deadline, in milliseconds
 */
export const leavesTime = (waitMs: number, leftMs: number): boolean =>
  waitMs < leftMs && leftMs - waitMs >= Math.min(USEFUL_MS, leftMs / 2);
