import type { Logger } from 'pino';
import type { HealthReport } from '../state/memory/breaker.ts';
import type { HealthStoreSetup, TargetPlace } from '../state/memory/target-health.ts';
import type { Metrics } from '../record/metrics/registry.ts';

/** Metrics and log of what becomes of targets of stored configs. */
export function healthReports(
  { targetHealth }: Pick<Metrics, 'targetHealth'>,
  log: Pick<Logger, 'warn' | 'info'>,
): Required<Pick<HealthStoreSetup, 'onTargets' | 'onTransition'>> {
  return {
    onTargets: (targets) => targetHealth.list(targets),
    onTransition(place, { from, to, failures, requests, errorCode, waitMs }) {
      targetHealth.changed(place, to);
      const { enforced, ...labels } = place;
      const line = { ...labels, error_code: errorCode };
      // Between the two it is tried now and then: a bad hour is one line, not one for each try.
      if (to === 'open' && from === 'closed')
        log.warn(
          { ...line, failures, requests, retry_in_ms: Math.round(waitMs) },
          enforced ? 'circuit breaker opened' : 'a target keeps failing',
        );
      if (to === 'closed') log.info(line, enforced ? 'circuit breaker closed' : 'a target is well again');
    },
  };
}

/** Names of the settings and codes of the error table: nothing of a request. */
export const healthLines = (reports: readonly (TargetPlace & HealthReport)[]): string[] => reports.map(healthLine);

function healthLine({ config, target, provider, enforced, ...report }: TargetPlace & HealthReport): string {
  const { state, probing, failures, requests, waitMs, lastError } = report;
  const reported = [
    `${failures} of ${requests} requests failed of late`,
    ...(state === 'closed' ? [] : [nextTry(enforced, probing, waitMs)]),
    ...(lastError ? [`last error ${lastError.code} ${seconds(lastError.agoMs)} ago`] : []),
  ];
  const place = [config, target, ...(provider === '' ? [] : [provider])].join(' ');
  return `target ${place}: ${state}${enforced ? '' : ' (no circuit_breaker)'}, ${reported.join(', ')}`;
}

function nextTry(enforced: boolean, probing: boolean, waitMs: number): string {
  if (!enforced) return 'is tried all the same';
  if (probing) return 'is being tried';
  return waitMs > 0 ? `may be tried in ${seconds(waitMs)}` : 'may be tried now';
}

const seconds = (ms: number): string => `${Math.ceil(ms / 1000)} s`;
