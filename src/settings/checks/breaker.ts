import type { CircuitBreaker } from '../../../schemas/types.generated.ts';
import { parseDuration } from '../../plugin/index.ts';
import { checkUnit } from './times.ts';
import type { ReportPlace } from './report-place.ts';

interface BreakerPlace extends ReportPlace {
  /** The config has a group with more than one member, so requests can fall through. */
  readonly choice: boolean;
}

/** Statuses that reject one request. A breaker that counts them lets one caller open it for all callers. */
const OF_THE_REQUEST: ReadonlySet<number> = new Set([400, 411, 413, 414, 415, 422, 431]);

export function checkBreaker(breaker: CircuitBreaker | undefined, { path, report, choice }: BreakerPlace): void {
  if (!breaker) return;
  for (const key of ['window', 'cooldown'] as const) {
    const value = breaker[key];
    checkUnit(key, value, { path, report });
    if (value === undefined || parseDuration(value) > 0) continue;
    const effect = key === 'window' ? 'counts no failures' : 'never skips a target';
    report({ path: [...path, key], message: `\`${key}: ${value}\` ${effect}; leave it out for the default` });
  }
  for (const [index, code] of (breaker.on_status_codes ?? []).entries()) {
    if (!OF_THE_REQUEST.has(code)) continue;
    const message = `a ${code} rejects one request: a caller that sends many such requests would open the breaker for all callers`;
    report({ path: [...path, 'on_status_codes', index], severity: 'warning', message });
  }
  if (choice) return;
  const message =
    'there is no other target to fall through to, so this one is always called: the breaker only reports its health';
  report({ path, on: 'key', severity: 'warning', message });
}
