import type { Strategy, Target as TargetFile } from '../../../../schemas/types.generated.ts';
import { FAILURE_KINDS } from '../../../plugin/failures.ts';
import { parseDuration } from '../../kernel/units.ts';
import type { FailureKind } from '../../../plugin/index.ts';
import type { Report } from '../../kernel/report.ts';
import { RETRYABLE_STATUS_CODES } from '../compile/gateway-config.ts';
import { itemsOf, within, type Check } from './check.ts';
import { readField } from '../query/fields.ts';
import { mayHoldCredential } from '../values/credential-names.ts';
import { checkUnit } from './times.ts';

/** Checks the keys of `strategy` against its mode and against each other. */
export const checkStrategy: Check = () => ({
  node({ file: { strategy, targets = [] } }, atNode) {
    if (!strategy && targets.length > 1) {
      const message = 'several targets need a `strategy`, such as `mode: fallback`';
      atNode({ path: ['targets'], on: 'key', message });
    }
    if (!strategy) return;
    const report = within(atNode, 'strategy');
    checkMode(strategy, targets, report);
    checkForeignKeys(strategy, report);
    if (strategy.mode === 'fallback' || strategy.mode === 'loadbalance') checkFallThrough(strategy, report);
    checkSticky(strategy, within(report, 'sticky'));
  },
});

function checkMode({ mode }: Strategy, targets: readonly TargetFile[], report: Report): void {
  const path = ['mode'];
  if (mode !== 'single' && targets.length === 0) report({ path, message: `\`mode: ${mode}\` needs \`targets\`` });
  if (mode !== 'single' || targets.length < 2) return;
  const message = `\`mode: single\` uses one target, but there are ${targets.length}`;
  report({ path, message, suggestion: 'fallback' });
}

const FALL_THROUGH_KEYS = ['on_status_codes', 'on_errors', 'on_finish_reasons', 'stop_on_errors'] as const;

/** Reports keys of other modes. Conditions that are never evaluated are an error: requests would reach the wrong target. */
function checkForeignKeys(strategy: Strategy, report: Report): void {
  const { mode } = strategy;
  for (const key of ['conditions', 'default'] as const) {
    if (strategy[key] === undefined || mode === 'conditional') continue;
    report({ path: [key], on: 'key', message: `\`${key}\` needs \`mode: conditional\`` });
  }
  if (strategy.sticky && mode !== 'loadbalance') {
    const message = '`sticky` has no effect without `mode: loadbalance`';
    report({ path: ['sticky'], on: 'key', severity: 'warning', message });
  }
  if (mode !== 'single' && mode !== 'conditional') return;
  const why =
    mode === 'conditional' ? ': a condition chooses the target, and a failure does not fall through to another' : '';
  for (const key of FALL_THROUGH_KEYS) {
    if (strategy[key] === undefined) continue;
    const message = `\`${key}\` has no effect with \`mode: ${mode}\`${why}`;
    report({ path: [key], on: 'key', severity: 'warning', message });
  }
}

/** Kinds of failure that mean an unhealthy upstream rather than a request that it refuses. */
const OUTAGES: readonly FailureKind[] = [
  'rate_limit',
  'overloaded',
  'server_error',
  'connection',
  'timeout_first_byte',
  'timeout_first_content',
];

/** Reports contradictory rules, and rules under which no failure or no outage falls through to the next target. */
function checkFallThrough(strategy: Strategy, report: Report): void {
  const { on_status_codes, on_errors, on_finish_reasons, stop_on_errors = [] } = strategy;
  const stop = new Set<string>(stop_on_errors);
  for (const [kind, at] of itemsOf(on_errors, report, 'on_errors'))
    if (stop.has(kind)) at({ path: [], message: `\`${kind}\` is also in \`stop_on_errors\`, which takes precedence` });
  const unnamed = on_finish_reasons ? -1 : (on_errors ?? []).indexOf('finish_reason');
  if (unnamed >= 0) {
    const message = '`finish_reason` has no effect without `on_finish_reasons`, which names the reasons';
    report({ path: ['on_errors', unnamed], severity: 'warning', message });
  }
  const kinds = on_errors ?? (on_status_codes ? [] : ['default' as const]);
  const fallThrough = kinds
    .flatMap((kind) => (kind === 'default' ? BY_DEFAULT : kind))
    .filter((kind) => !stop.has(kind));
  const warn = (key: string, message: string): void => report({ path: [key], on: 'key', severity: 'warning', message });
  if (fallThrough.length === 0 && !on_status_codes)
    return warn('stop_on_errors', 'no kind of failure is left that falls through to the next target');
  if (!on_errors || fallThrough.some((kind) => OUTAGES.includes(kind))) return;
  if (on_status_codes?.some((code) => RETRYABLE_STATUS_CODES.has(code))) return;
  warn('on_errors', 'none of these kinds is an outage, so no outage falls through to the next target: add `default`');
}

const BY_DEFAULT = (Object.keys(FAILURE_KINDS) as FailureKind[]).filter(
  (kind) => FAILURE_KINDS[kind].fallsThrough && kind !== 'unsupported',
);

function checkSticky({ sticky }: Strategy, report: Report): void {
  if (!sticky) return;
  for (const [field, at] of itemsOf(sticky.hash_fields, report, 'hash_fields')) {
    const header = field.startsWith('headers.') ? field.slice('headers.'.length).toLowerCase() : '';
    const message = `\`${header}\` may hold a credential and cannot be a hash field; \`caller\` stands for the gateway key`;
    if (mayHoldCredential(header)) at({ path: [], message });
    else if (field !== 'caller') readField(field, (problem) => at({ ...problem, on: 'value' }));
  }
  // Portkey's `ttl` is in seconds, at most a day (86400), so a smaller number was likely meant as seconds.
  checkUnit('ttl', sticky.ttl, report, 100_000);
  if (sticky.ttl === undefined || parseDuration(sticky.ttl) > 0) return;
  report({ path: ['ttl'], message: '`ttl: 0` keeps no choice; leave `sticky` out' });
}
