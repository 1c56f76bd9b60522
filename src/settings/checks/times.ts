import type { Retry, Timeouts } from '../../../schemas/types.generated.ts';
import { parseDuration, type Report, type RetrySettings } from '../../plugin/index.ts';
import type { Path } from '../pointer.ts';

interface Place {
  readonly path: Path;
  readonly report: Report;
}

/** In other gateways 0 means "no limit"; here it would end every request at once. */
const NO_TIME = 'would end every request at once; leave it out for the default, or give a long time';

export function checkTimeouts(timeouts: Timeouts | undefined, { path, report }: Place): void {
  for (const [name, value] of Object.entries(timeouts ?? {})) {
    if (parseDuration(value) === 0) report({ path: [...path, name], message: `\`${name}: ${value}\` ${NO_TIME}` });
  }
}

export function checkRequestTimeout(value: string | number | undefined, { path, report }: Place): void {
  if (value === undefined || parseDuration(value) > 0) return;
  report({ path: [...path, 'request_timeout'], message: `\`request_timeout: ${value}\` ${NO_TIME}` });
}

/** The longest wait caps the shortest: told where one of the two is set, with what the other comes to. */
export function checkDelays(retry: Retry | undefined, compiled: RetrySettings, { path, report }: Place): void {
  if (retry?.min_delay === undefined && retry?.max_delay === undefined) return;
  const { minDelayMs, maxDelayMs } = compiled;
  if (minDelayMs <= maxDelayMs) return;
  const key = retry.min_delay === undefined ? 'max_delay' : 'min_delay';
  const message = `\`min_delay\` (${minDelayMs} ms) is longer than \`max_delay\` (${maxDelayMs} ms)`;
  report({ path: [...path, 'retry', key], message });
}
