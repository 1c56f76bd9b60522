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

/** @param tally of the whole config: its queries are bounded together */
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
  checkStrangers(strategy, place);
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

const GIVING_WAY = ['on_status_codes', 'on_errors', 'stop_on_errors'] as const;

/** Keys of other modes. Conditions that are never asked are a mistake: requests would go where nobody wants them. */
function checkStrangers(strategy: Strategy, { path, report }: ReportPlace): void {
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
  const why = mode === 'conditional' ? ': the target is chosen by its condition, and no other one takes its place' : '';
  for (const key of GIVING_WAY) {
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
  if (otherwise === undefined) needs('`default`, the target of requests of which no condition holds');
  const names = targets.flatMap(({ name }) => (name === undefined ? [] : [name]));
  const asked = new Map<string, number>();
  for (const [index, { query, then }] of (conditions ?? []).entries()) {
    const here = [...at, 'conditions', index];
    checkAskedOnce(query, index, { path: [...here, 'query'], report, asked });
    const reportQuery: Report = (problem) => report({ ...problem, path: [...here, 'query', ...problem.path] });
    readQuery(query, { report: reportQuery, tally }, PREDICATE);
    checkTargetName(then, names, { path: [...here, 'then'], report });
  }
  if (otherwise !== undefined) checkTargetName(otherwise, names, { path: [...at, 'default'], report });
  checkNames(targets, { path, report });
  if (!conditions || otherwise === undefined) return;
  const used = new Set([otherwise, ...conditions.map(({ then }) => then)]);
  // One slip, one message: where a name leads nowhere its target is not reached either.
  if ([...used].every((name) => names.includes(name))) checkReached(targets, used, { path, report });
}

function checkAskedOnce(
  query: unknown,
  index: number,
  { path, report, asked }: ReportPlace & { readonly asked: Map<string, number> },
): void {
  const text = JSON.stringify(query);
  const before = asked.get(text);
  if (before === undefined) return void asked.set(text, index);
  const message = `\`conditions[${before}]\` asks the same, and is asked before: this one never decides`;
  report({ path, on: 'key', severity: 'warning', message });
}

function checkTargetName(name: string, names: readonly string[], { path, report }: ReportPlace): void {
  if (names.includes(name)) return;
  const others = names.length === 0 ? ': they have no `name`' : `, only ${shortList(names)}`;
  const message = `no target here has the name ${showValue(name, undefined)}${others}`;
  report({ path, message, ...withSuggestion(name, names) });
}

function checkNames(targets: readonly TargetFile[], { path, report }: ReportPlace): void {
  const seen = new Set<string>();
  for (const [index, { name }] of targets.entries()) {
    if (name !== undefined && seen.has(name)) {
      const message = `two targets have the name ${showValue(name, undefined)}: conditions would always mean the first`;
      report({ path: [...path, 'targets', index, 'name'], message });
    }
    if (name !== undefined) seen.add(name);
  }
}

function checkReached(targets: readonly TargetFile[], used: ReadonlySet<string>, { path, report }: ReportPlace): void {
  for (const [index, { name }] of targets.entries()) {
    if (name !== undefined && used.has(name)) continue;
    const message = 'no condition leads to this target, and `default` does not either';
    report({ path: [...path, 'targets', index], severity: 'warning', message });
  }
}

/** What an upstream that is unwell looks like, as against a request that it refuses. */
const OUTAGES: readonly FailureKind[] = [
  'rate_limit',
  'overloaded',
  'server_error',
  'connection',
  'timeout_first_byte',
  'timeout_first_content',
];

/** What goes on to the next target must be something, and must not be what stops. */
function checkFallThrough(
  { on_status_codes, on_errors, stop_on_errors = [] }: Strategy,
  { path, report }: ReportPlace,
): void {
  const stop = new Set<string>(stop_on_errors);
  for (const [index, kind] of (on_errors ?? []).entries()) {
    if (!stop.has(kind)) continue;
    const message = `\`${kind}\` is in \`stop_on_errors\` too, which wins`;
    report({ path: [...path, 'on_errors', index], message });
  }
  const kinds = on_errors ?? (on_status_codes ? [] : ['default' as const]);
  const goesOn = kinds.flatMap((kind) => (kind === 'default' ? BY_DEFAULT : kind)).filter((kind) => !stop.has(kind));
  const warn = (key: string, message: string): void =>
    report({ path: [...path, key], on: 'key', severity: 'warning', message });
  if (goesOn.length === 0 && !on_status_codes)
    return warn('stop_on_errors', 'nothing is left that gives way to the next target');
  if (!on_errors || goesOn.some((kind) => OUTAGES.includes(kind))) return;
  if (on_status_codes?.some((code) => RETRYABLE_STATUS_CODES.has(code))) return;
  warn('on_errors', 'no outage is of these kinds, so none gives way to the next target: add `default`');
}

const BY_DEFAULT = (Object.keys(FAILURE_KINDS) as FailureKind[]).filter(
  (kind) => FAILURE_KINDS[kind].fallsThrough && kind !== 'unsupported',
);

function checkSticky({ sticky }: Strategy, { path, report }: ReportPlace): void {
  if (!sticky) return;
  for (const [index, field] of sticky.hash_fields.entries()) {
    const header = field.startsWith('headers.') ? field.slice('headers.'.length).toLowerCase() : undefined;
    if (header === undefined || !mayHoldCredential(header)) continue;
    const message = `\`${header}\` may hold a credential, which no choice is made by; \`caller\` stands for the gateway key`;
    report({ path: [...path, 'sticky', 'hash_fields', index], message });
  }
  // Portkey's are seconds, a day of them at most: 86400.
  checkUnit('ttl', sticky.ttl, { path: [...path, 'sticky'], report, below: 100_000 });
  if (sticky.ttl === undefined || parseDuration(sticky.ttl) > 0) return;
  report({ path: [...path, 'sticky', 'ttl'], message: '`ttl: 0` keeps no choice; leave `sticky` out' });
}
