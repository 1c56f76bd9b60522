import { parseDuration } from '../../plugin/index.ts';
import { within, type Check } from './check.ts';
import { checkUnit } from './times.ts';

/** Statuses that reject one request. A breaker that counts them lets one caller open it for all callers. */
const OF_THE_REQUEST: ReadonlySet<number> = new Set([400, 411, 413, 414, 415, 422, 431]);

export const checkBreaker: Check = () => ({
  node({ file: { circuit_breaker: breaker } }, atNode, { nodes }) {
    if (!breaker) return;
    const report = within(atNode, 'circuit_breaker');
    for (const key of ['window', 'cooldown'] as const) {
      const value = breaker[key];
      checkUnit(key, value, report);
      if (value === undefined || parseDuration(value) > 0) continue;
      const effect = key === 'window' ? 'counts no failures' : 'never skips a target';
      report({ path: [key], message: `\`${key}: ${value}\` ${effect}; leave it out for the default` });
    }
    for (const [index, code] of (breaker.on_status_codes ?? []).entries()) {
      if (!OF_THE_REQUEST.has(code)) continue;
      const message = `a ${code} rejects one request: a caller that sends many such requests would open the breaker for all callers`;
      report({ path: ['on_status_codes', index], severity: 'warning', message });
    }
    // Requests can fall through in a group with more than one member.
    if (nodes.some(({ route }) => route.kind === 'group' && route.members.length > 1)) return;
    const message =
      'there is no other target to fall through to, so this one is always called: the breaker only reports its health';
    report({ path: [], on: 'key', severity: 'warning', message });
  },
});
