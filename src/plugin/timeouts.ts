import type { TimeoutSettings } from './settings.ts';
import { parseDuration } from './units.ts';

/** Each timeout and its name in the settings files. */
export const TIMEOUT_NAMES = [
  ['connect', 'connect'],
  ['firstByte', 'first_byte'],
  ['firstContent', 'first_content'],
  ['idle', 'idle'],
  ['total', 'total'],
] as const satisfies readonly (readonly [keyof TimeoutSettings, string])[];

type Written = {
  readonly [Name in (typeof TIMEOUT_NAMES)[number][1]]?: Parameters<typeof parseDuration>[0] | undefined;
};

/** Reads the configured timeouts, in milliseconds. Unset timeouts stay unset, so that the enclosing settings apply. */
export function readTimeouts(written: Written): TimeoutSettings {
  return Object.fromEntries(
    TIMEOUT_NAMES.flatMap(([name, key]) => {
      const value = written[key];
      return value === undefined ? [] : [[name, parseDuration(value)]];
    }),
  );
}
