import type { GatewayFile, Strategy, Target as TargetFile } from '../../../schemas/types.generated.ts';
import { FAILURE_KINDS, parseDuration, type FailureKind, type Report } from '../../plugin/index.ts';
import { RETRYABLE_STATUS_CODES } from '../compile/gateway-config.ts';
import { showValue } from '../problems/show.ts';
import { shortList } from '../problems/words.ts';
import { PREDICATE } from '../query/predicate.ts';
import { readQuery, type Tally } from '../query/read.ts';
import { mayHoldCredential } from './forward-headers.ts';
import { withSuggestion } from './known.ts';
import { checkUnit } from './times.ts';
import type { ReportPlace } from './report-place.ts';

/** @param tally counts the operators of all queries of the config, which share one limit */
export function checkStrategy(
  { strategy, targets = [] }: GatewayFile | TargetFile,
  { path, report, tally }: ReportPlace & { readonly tally: Tally },
): void {
  if (!strategy && targets.length > 1) {
    const message = 'several targets need a `strategy`, such as `mode: fallback`';
    report({ path: [...path, 'targets'], on: 'key', message });
  }
  if (!strategy) return;
  const place = { path: [...path, 'strategy'], report };
  checkMode(strategy, targets, place);
  checkForeignKeys(strategy, place);
  if (strategy.mode === 'conditional') checkConditional(strategy, targets, { path, report, tally });
  if (strategy.mode === 'fallback' || strategy.mode === 'loadbalance') checkFallThrough(strategy, place);
  checkSticky(strategy, place);
}

function checkMode({ mode }: Strategy, targets: readonly TargetFile[], { path, report }: ReportPlace): void {
  const at = [...path, 'mode'];
  if (mode !== 'single' && targets.length === 0) report({ path: at, message: `\`mode: ${mode}\` needs \`targets\`` });
  if (mode !== 'single' || targets.length < 2) return;
  const message = `\`mode: single\` uses one target, but there are ${targets.length}`;
  report({ path: at, message, suggestion: 'fallback' });
}

const FALL_THROUGH_KEYS = ['on_status_codes', 'on_errors', 'stop_on_errors'] as const;

/** Reports keys of other modes. Conditions that are never evaluated are an error: requests would reach the wrong target. */
function checkForeignKeys(strategy: Strategy, { path, report }: ReportPlace): void {
  const { mode } = strategy;
  for (const key of ['conditions', 'default'] as const) {
    if (strategy[key] === undefined || mode === 'conditional') continue;
    report({ path: [...path, key], on: 'key', message: `\`${key}\` needs \`mode: conditional\`` });
  }
  if (strategy.sticky && mode !== 'loadbalance') {
    const message = '`sticky` has no effect without `mode: loadbalance`';
    report({ path: [...path, 'sticky'], on: 'key', severity: 'warning', message });
  }
  if (mode !== 'single' && mode !== 'conditional') return;
  const why =
    mode === 'conditional' ? ': a condition chooses the target, and a failure does not fall through to another' : '';
  for (const key of FALL_THROUGH_KEYS) {
    if (strategy[key] === undefined) continue;
    const message = `\`${key}\` has no effect with \`mode: ${mode}\`${why}`;
    report({ path: [...path, key], on: 'key', severity: 'warning', message });
  }
}

function checkConditional(
  { conditions, default: otherwise }: Strategy,
  targets: readonly TargetFile[],
  { path, report, tally }: ReportPlace & { readonly tally: Tally },
): void {
  const at = [...path, 'strategy'];
  const needs = (what: string): void =>
    report({ path: [...at, 'mode'], message: `\`mode: conditional\` needs ${what}` });
  if (!conditions) needs('`conditions`');
  if (otherwise === undefined) needs('`default`, the target of requests that match no condition');
  const names = targets.flatMap(({ name }) => (name === undefined ? [] : [name]));
  const seen = new Map<string, number>();
  for (const [index, { query, then }] of (conditions ?? []).entries()) {
    const here = [...at, 'conditions', index];
    checkUniqueQuery(query, index, { path: [...here, 'query'], report, seen });
    const reportQuery: Report = (problem) => report({ ...problem, path: [...here, 'query', ...problem.path] });
    readQuery(query, { report: reportQuery, tally }, PREDICATE);
    checkTargetName(then, names, { path: [...here, 'then'], report });
  }
  if (otherwise !== undefined) checkTargetName(otherwise, names, { path: [...at, 'default'], report });
  checkNames(targets, { path, report });
  if (!conditions || otherwise === undefined) return;
  const used = new Set([otherwise, ...conditions.map(({ then }) => then)]);
  // One mistake, one message: a wrong name also leaves its target unreached.
  if ([...used].every((name) => names.includes(name))) checkReached(targets, used, { path, report });
}

function checkUniqueQuery(
  query: unknown,
  index: number,
  { path, report, seen }: ReportPlace & { readonly seen: Map<string, number> },
): void {
  const text = JSON.stringify(query);
  const before = seen.get(text);
  if (before === undefined) return void seen.set(text, index);
  const message = `\`conditions[${before}]\` has the same query and comes first: this condition never applies`;
  report({ path, on: 'key', severity: 'warning', message });
}

function checkTargetName(name: string, names: readonly string[], { path, report }: ReportPlace): void {
  if (names.includes(name)) return;
  const others = names.length === 0 ? ': none of them has a `name`' : `, only ${shortList(names)}`;
  const message = `no target here has the name ${showValue(name, undefined)}${others}`;
  report({ path, message, ...withSuggestion(name, names) });
}

function checkNames(targets: readonly TargetFile[], { path, report }: ReportPlace): void {
  const seen = new Set<string>();
  for (const [index, { name }] of targets.entries()) {
    if (name !== undefined && seen.has(name)) {
      const message = `two targets have the name ${showValue(name, undefined)}: conditions would always choose the first`;
      report({ path: [...path, 'targets', index, 'name'], message });
    }
    if (name !== undefined) seen.add(name);
  }
}

function checkReached(targets: readonly TargetFile[], used: ReadonlySet<string>, { path, report }: ReportPlace): void {
  for (const [index, { name }] of targets.entries()) {
    if (name !== undefined && used.has(name)) continue;
    const message = 'neither a condition nor `default` leads to this target';
    report({ path: [...path, 'targets', index], severity: 'warning', message });
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
function checkFallThrough(
  { on_status_codes, on_errors, stop_on_errors = [] }: Strategy,
  { path, report }: ReportPlace,
): void {
  const stop = new Set<string>(stop_on_errors);
  for (const [index, kind] of (on_errors ?? []).entries()) {
    if (!stop.has(kind)) continue;
    const message = `\`${kind}\` is also in \`stop_on_errors\`, which takes precedence`;
    report({ path: [...path, 'on_errors', index], message });
  }
  const kinds = on_errors ?? (on_status_codes ? [] : ['default' as const]);
  const fallThrough = kinds
    .flatMap((kind) => (kind === 'default' ? BY_DEFAULT : kind))
    .filter((kind) => !stop.has(kind));
  const warn = (key: string, message: string): void =>
    report({ path: [...path, key], on: 'key', severity: 'warning', message });
  if (fallThrough.length === 0 && !on_status_codes)
    return warn('stop_on_errors', 'no kind of failure is left that falls through to the next target');
  if (!on_errors || fallThrough.some((kind) => OUTAGES.includes(kind))) return;
  if (on_status_codes?.some((code) => RETRYABLE_STATUS_CODES.has(code))) return;
  warn('on_errors', 'none of these kinds is an outage, so no outage falls through to the next target: add `default`');
}

const BY_DEFAULT = (Object.keys(FAILURE_KINDS) as FailureKind[]).filter(
  (kind) => FAILURE_KINDS[kind].fallsThrough && kind !== 'unsupported',
);

function checkSticky({ sticky }: Strategy, { path, report }: ReportPlace): void {
  if (!sticky) return;
  for (const [index, field] of sticky.hash_fields.entries()) {
    const header = field.startsWith('headers.') ? field.slice('headers.'.length).toLowerCase() : undefined;
    if (header === undefined || !mayHoldCredential(header)) continue;
    const message = `\`${header}\` may hold a credential and cannot be a hash field; \`caller\` stands for the gateway key`;
    report({ path: [...path, 'sticky', 'hash_fields', index], message });
  }
  // Portkey's `ttl` is in seconds, at most a day (86400), so a smaller number was likely meant as seconds.
  checkUnit('ttl', sticky.ttl, { path: [...path, 'sticky'], report, below: 100_000 });
  if (sticky.ttl === undefined || parseDuration(sticky.ttl) > 0) return;
  report({ path: [...path, 'sticky', 'ttl'], message: '`ttl: 0` keeps no choice; leave `sticky` out' });
}
