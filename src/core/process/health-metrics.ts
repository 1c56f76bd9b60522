import type { Logger } from 'pino';
import type { HealthListener, HealthReport, TargetPlace } from '../memory/ports.ts';
import type { Metrics } from '../record/metrics/registry.ts';

/** Reports health changes of the targets of stored configs as metrics and log lines. */
export function healthReports(
  { targetHealth }: Pick<Metrics, 'targetHealth'>,
  log: Pick<Logger, 'warn' | 'info'>,
): HealthListener {
  return {
    onTargets: (targets) => targetHealth.list(targets),
    onTransition({ model, ...place }, { from, to, failures, requests, errorCode, waitMs }, healthy) {
      targetHealth.changed(place, to, healthy);
      const { enforced, name, ...labels } = place;
      const line = {
        ...labels,
        ...(name !== '' && { target_name: name }),
        ...(model !== undefined && { model }),
        error_code: errorCode,
      };
      // State changes between open and half-open are not logged: one outage is one line, not one per probe.
      if (to === 'open' && from === 'closed')
        log.warn(
          { ...line, failures, requests, retry_in_ms: Math.round(waitMs) },
          enforced ? 'circuit breaker opened' : 'a target keeps failing',
        );
      if (to === 'closed') log.info(line, enforced ? 'circuit breaker closed' : 'a target has recovered');
    },
  };
}

/** Lines with names from the settings and codes from the error table only, with no content of requests. */
export const healthLines = (reports: readonly (TargetPlace & HealthReport)[]): string[] => reports.map(healthLine);

function healthLine({ config, target, name, provider, model, ...report }: TargetPlace & HealthReport): string {
  const { enforced, state, probing, failures, requests, waitMs, lastError } = report;
  const reported = [
    `${failures} of ${requests} requests failed recently`,
    ...(state === 'closed' ? [] : [nextTry(enforced, probing, waitMs)]),
    ...(lastError ? [`last error ${lastError.code} ${seconds(lastError.agoMs)} ago`] : []),
  ];
  const quoted = [name, model ?? ''].map((text) => text && JSON.stringify(text));
  const place = [config, target, quoted[0], provider, quoted[1]].filter((part) => part !== '').join(' ');
  return `target ${place}: ${state}${enforced ? '' : ' (no circuit_breaker)'}, ${reported.join(', ')}`;
}

function nextTry(enforced: boolean, probing: boolean, waitMs: number): string {
  if (!enforced) return 'still receives requests';
  if (probing) return 'is being probed';
  return waitMs > 0 ? `may be probed in ${seconds(waitMs)}` : 'may be probed now';
}

const seconds = (ms: number): string => `${Math.ceil(ms / 1000)} s`;
