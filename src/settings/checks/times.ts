import type { Retry, ServerFile, Timeouts } from '../../../schemas/types.generated.ts';
import {
  parseDuration,
  readTimeouts,
  type Report,
  type RetrySettings,
  type TimeoutSettings,
} from '../../plugin/index.ts';
import { compileServerSettings } from '../compile/server-settings.ts';
import type { ReportPlace } from './report-place.ts';

/** In other gateways 0 means "no limit"; here it would end every request at once. */
const NO_TIME = 'would end every request at once; leave it out for the default, or give a long time';

/** The server's timeouts, which apply unless an entry or a config sets its own; empty when the file could not be read. */
export const serverTimeouts = (server: ServerFile | undefined): TimeoutSettings =>
  server ? compileServerSettings(server).timeouts : {};

/**
 * Each timeout with the timeouts that bound it: they count from the same moment, so the longer of the two has no effect.
 * `first_content` applies to streams only, so it does not bound `first_byte` of a plain reply.
 */
const WITHIN = [
  ['connect', 'connect', ['first_byte', 'total']],
  ['first_byte', 'firstByte', ['total']],
  ['first_content', 'firstContent', ['total']],
  ['idle', 'idle', ['total']],
] as const;
const NAMES = { first_byte: 'firstByte', first_content: 'firstContent', total: 'total' } as const;

/** @param effective the timeouts that apply here, including inherited ones */
export function checkTimeouts(timeouts: Timeouts | undefined, effective: TimeoutSettings, place: ReportPlace): void {
  for (const [name, value] of Object.entries(timeouts ?? {})) {
    checkOne(name, value, place);
  }
  const own = readTimeouts(timeouts ?? {});
  for (const [name, key, outer] of WITHIN) {
    const time = own[key];
    const sooner = outer.find((other) => time !== undefined && time > (effective[NAMES[other]] || Infinity));
    if (sooner === undefined) continue;
    const message = `\`${name}\` (${time} ms) has no effect: \`${sooner}\` (${effective[NAMES[sooner]]} ms) ends the request first`;
    place.report({ path: [...place.path, name], severity: 'warning', message });
  }
}

/** Other tools count in seconds: a smaller number was likely meant as seconds. */
const SECONDS_MEANT = 1000;

export function checkOne(name: string, value: string | number, place: ReportPlace): void {
  if (parseDuration(value) === 0)
    place.report({ path: [...place.path, name], message: `\`${name}: ${value}\` ${NO_TIME}` });
  else checkUnit(name, value, place);
}

/** @param below a smaller number was likely meant as seconds */
export function checkUnit(
  name: string,
  value: string | number | undefined,
  { path, report, below = SECONDS_MEANT }: ReportPlace & { readonly below?: number },
): void {
  if (typeof value !== 'number' || value === 0 || value >= below) return;
  const message = `a number without a unit counts milliseconds: this is ${value} ms`;
  report({ path: [...path, name], severity: 'warning', message, suggestion: `${value}s` });
}

export function checkRequestTimeout(value: string | number | undefined, { path, report }: ReportPlace): void {
  if (value !== undefined) checkOne('request_timeout', value, { path, report });
}

interface Waiting {
  /** Path of a target with another one after it. */
  readonly name: string;
  readonly timeouts: TimeoutSettings;
}

/** Warns of a target that can stay silent until the deadline and leave no time for the targets after it. Reports the first only. */
export function checkDeadline(
  deadline: string | number | undefined,
  waiting: readonly Waiting[],
  report: Report,
): void {
  if (deadline === undefined) return;
  checkOne('deadline', deadline, { path: [], report });
  const time = parseDuration(deadline);
  for (const { name, timeouts } of waiting) {
    const key = (['first_byte', 'first_content'] as const).find((one) =>
      endsAfter(time, timeouts[NAMES[one]], timeouts),
    );
    if (key === undefined || time === 0) continue;
    const message = `\`deadline\` (${time} ms) passes before \`${key}\` (${timeouts[NAMES[key]]} ms) of \`${name.replace('config.', '')}\`: when that target stays silent, no time is left for the fallback`;
    report({ path: ['deadline'], severity: 'warning', message });
    return;
  }
}

const endsAfter = (deadline: number, time: number | undefined, { total = Infinity }: TimeoutSettings): boolean =>
  time !== undefined && Math.min(time, total) >= deadline;

/** Reports a `min_delay` above `max_delay`, at the key that is set; the other may be a default. */
export function checkDelays(retry: Retry | undefined, compiled: RetrySettings, { path, report }: ReportPlace): void {
  if (retry?.min_delay === undefined && retry?.max_delay === undefined) return;
  const { minDelayMs, maxDelayMs } = compiled;
  if (minDelayMs <= maxDelayMs) return;
  const key = retry.min_delay === undefined ? 'max_delay' : 'min_delay';
  const message = `\`min_delay\` (${minDelayMs} ms) is longer than \`max_delay\` (${maxDelayMs} ms)`;
  report({ path: [...path, 'retry', key], message });
}
