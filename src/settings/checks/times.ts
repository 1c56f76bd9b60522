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

/** What holds where nothing nearer says otherwise; nothing, when the file could not be read. */
export const serverTimeouts = (server: ServerFile | undefined): TimeoutSettings =>
  server ? compileServerSettings(server).timeouts : {};

/**
 * Each time with those that end whatever it could end: they count from the same moment, and a later end never comes. `first_content`
 * ends streams only, so a plain reply may well have a longer `first_byte`.
 */
const WITHIN = [
  ['connect', 'connect', ['first_byte', 'total']],
  ['first_byte', 'firstByte', ['total']],
  ['first_content', 'firstContent', ['total']],
  ['idle', 'idle', ['total']],
] as const;
const NAMES = { first_byte: 'firstByte', first_content: 'firstContent', total: 'total' } as const;

/** @param effective what holds at this place, all that it inherits included */
export function checkTimeouts(timeouts: Timeouts | undefined, effective: TimeoutSettings, place: ReportPlace): void {
  for (const [name, value] of Object.entries(timeouts ?? {})) {
    checkOne(name, value, place);
  }
  const own = readTimeouts(timeouts ?? {});
  for (const [name, key, outer] of WITHIN) {
    const time = own[key];
    const sooner = outer.find((other) => time !== undefined && time > (effective[NAMES[other]] || Infinity));
    if (sooner === undefined) continue;
    const message = `\`${name}\` (${time} ms) never ends a request: \`${sooner}\` (${effective[NAMES[sooner]]} ms) does so before`;
    place.report({ path: [...place.path, name], severity: 'warning', message });
  }
}

/** Other tools count in seconds. */
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
  /** Place of a target with another one behind it. */
  readonly name: string;
  readonly timeouts: TimeoutSettings;
}

/** A target that stays silent until the deadline leaves no time for those behind it: told once, of the first. */
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
    const message = `\`deadline\` (${time} ms) passes before \`${key}\` (${timeouts[NAMES[key]]} ms) of \`${name.replace('config.', '')}\`: when that target stays silent, the fallback never gets its turn`;
    report({ path: ['deadline'], severity: 'warning', message });
    return;
  }
}

const endsAfter = (deadline: number, time: number | undefined, { total = Infinity }: TimeoutSettings): boolean =>
  time !== undefined && Math.min(time, total) >= deadline;

/** The longest wait caps the shortest: told where one of the two is set, with what the other comes to. */
export function checkDelays(retry: Retry | undefined, compiled: RetrySettings, { path, report }: ReportPlace): void {
  if (retry?.min_delay === undefined && retry?.max_delay === undefined) return;
  const { minDelayMs, maxDelayMs } = compiled;
  if (minDelayMs <= maxDelayMs) return;
  const key = retry.min_delay === undefined ? 'max_delay' : 'min_delay';
  const message = `\`min_delay\` (${minDelayMs} ms) is longer than \`max_delay\` (${maxDelayMs} ms)`;
  report({ path: [...path, 'retry', key], message });
}
