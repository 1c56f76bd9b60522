import type { CircuitBreaker } from '../../../schemas/types.generated.ts';
import { parseDuration } from '../../plugin/index.ts';
import { checkUnit } from './times.ts';
import type { ReportPlace } from './report-place.ts';

interface BreakerPlace extends ReportPlace {
  /** Somewhere in the config one target may take over from another. */
  readonly choice: boolean;
}

/** Statuses by which an upstream refuses one request: whoever sends such requests could have it left alone for everybody. */
const OF_THE_REQUEST: ReadonlySet<number> = new Set([400, 411, 413, 414, 415, 422, 431]);

export function checkBreaker(breaker: CircuitBreaker | undefined, { path, report, choice }: BreakerPlace): void {
  if (!breaker) return;
  for (const key of ['window', 'cooldown'] as const) {
    const value = breaker[key];
    checkUnit(key, value, { path, report });
    if (value === undefined || parseDuration(value) > 0) continue;
    const effect = key === 'window' ? 'counts nothing' : 'leaves no target alone';
    report({ path: [...path, key], message: `\`${key}: ${value}\` ${effect}; leave it out for the default` });
  }
  for (const [index, code] of (breaker.on_status_codes ?? []).entries()) {
    if (!OF_THE_REQUEST.has(code)) continue;
    const message = `a ${code} is about one request: a caller that sends many of them would open the breaker for all`;
    report({ path: [...path, 'on_status_codes', index], severity: 'warning', message });
  }
  if (choice) return;
  const message =
    'no other target could take over, so this one is asked in any case: the breaker only reports its health';
  report({ path, on: 'key', severity: 'warning', message });
}
