import type { Strategy, Target as TargetFile } from '../../../../schemas/types.generated.ts';
import type { Report } from '../../kernel/report.ts';
import type { JsonPath } from '../schema/pointer.ts';
import { showValue, shortList } from '../values/show.ts';
import { PREDICATE } from '../query/predicate.ts';
import { readQuery, type Tally } from '../query/read.ts';
import { itemsOf, within, type Check } from './check.ts';
import { withSuggestion } from './names.ts';

/** Checks `mode: conditional`: its queries, and that they and `default` lead to every target by its name. */
export const checkConditions: Check = () => ({
  config({ file: { metadata }, nodes }, report) {
    // All queries of a config share one limit.
    const tally: Tally = { operators: 0, patterns: 0 };
    for (const { file, path } of nodes) {
      if (file.strategy?.mode !== 'conditional') continue;
      checkConditional(file.strategy, file.targets ?? [], tally, within(report, ...path));
      for (const [{ query }, at] of itemsOf(file.strategy.conditions, report, ...path, 'strategy', 'conditions'))
        checkAllowed(query, metadata?.allowed ?? {}, within(at, 'query'));
    }
  },
});

function checkConditional(
  { conditions, default: otherwise }: Strategy,
  targets: readonly TargetFile[],
  tally: Tally,
  report: Report,
): void {
  const needs = (what: string): void =>
    report({ path: ['strategy', 'mode'], message: `\`mode: conditional\` needs ${what}` });
  if (!conditions) needs('`conditions`');
  if (otherwise === undefined) needs('`default`, the target of requests that match no condition');
  const names = targets.flatMap(({ name }) => (name === undefined ? [] : [name]));
  const seen = new Map<string, number>();
  for (const [index, { query, then }] of (conditions ?? []).entries()) {
    const reportQuery = within(report, 'strategy', 'conditions', index, 'query');
    const text = JSON.stringify(query);
    const before = seen.get(text);
    if (before === undefined) seen.set(text, index);
    else {
      const message = `\`conditions[${before}]\` has the same query and comes first: this condition never applies`;
      reportQuery({ path: [], on: 'key', severity: 'warning', message });
    }
    readQuery(query, { report: reportQuery, tally }, PREDICATE);
    checkTargetName(then, names, within(report, 'strategy', 'conditions', index, 'then'));
  }
  if (otherwise !== undefined) checkTargetName(otherwise, names, within(report, 'strategy', 'default'));
  checkNames(targets, report);
  if (!conditions || otherwise === undefined) return;
  const used = new Set([otherwise, ...conditions.map(({ then }) => then)]);
  // One mistake, one message: a wrong name also leaves its target unreached.
  if ([...used].every((name) => names.includes(name))) checkReached(targets, used, report);
}

function checkTargetName(name: string, names: readonly string[], report: Report): void {
  if (names.includes(name)) return;
  const others = names.length === 0 ? ': none of them has a `name`' : `, only ${shortList(names)}`;
  const message = `no target here has the name ${showValue(name, undefined)}${others}`;
  report({ path: [], message, ...withSuggestion(name, names) });
}

function checkNames(targets: readonly TargetFile[], report: Report): void {
  const seen = new Set<string>();
  for (const [index, { name }] of targets.entries()) {
    if (name !== undefined && seen.has(name)) {
      const message = `two targets have the name ${showValue(name, undefined)}: conditions would always choose the first`;
      report({ path: ['targets', index, 'name'], message });
    }
    if (name !== undefined) seen.add(name);
  }
}

function checkReached(targets: readonly TargetFile[], used: ReadonlySet<string>, report: Report): void {
  for (const [index, { name }] of targets.entries()) {
    if (name !== undefined && used.has(name)) continue;
    const message = 'neither a condition nor `default` leads to this target';
    report({ path: ['targets', index], severity: 'warning', message });
  }
}

const METADATA = 'metadata.';
/** Operators that name the values for which a comparison holds. */
const NAMING: readonly string[] = ['$eq', '$in'];

/** Warns of a value that `metadata.allowed` refuses before any condition reads it. */
function checkAllowed(query: unknown, allowed: Readonly<Record<string, readonly string[]>>, report: Report): void {
  if (typeof query !== 'object' || query === null) return;
  for (const [key, value] of Object.entries(query)) {
    const at = within(report, Array.isArray(query) ? Number(key) : key);
    const name = key.startsWith(METADATA) ? key.slice(METADATA.length) : undefined;
    if (name === undefined || !Object.hasOwn(allowed, name)) checkAllowed(value, allowed, at);
    else
      for (const [path, word] of namedValues(value)) {
        if (allowed[name]!.includes(word)) continue;
        const message = `${showValue(word, undefined)} is not in \`metadata.allowed\` for ${name}: requests with it are refused`;
        at({ path, severity: 'warning', message, ...withSuggestion(word, allowed[name]!) });
      }
  }
}

function namedValues(value: unknown): readonly (readonly [path: JsonPath, word: string])[] {
  if (typeof value === 'string') return [[[], value]];
  if (Array.isArray(value)) return value.flatMap((one, at) => (typeof one === 'string' ? [[[at], one] as const] : []));
  if (typeof value !== 'object' || value === null) return [];
  return NAMING.flatMap((operator) =>
    namedValues(Reflect.get(value, operator)).map(([path, word]) => [[operator, ...path], word] as const),
  );
}
