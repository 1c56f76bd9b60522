import type { TestExpectation, TestOutbound, TestStream, TestMetric } from '../../../schemas/types.generated.ts';
import { parseJson } from '../../formats/json/object.ts';
import type { CaseCall } from './calls.ts';
import { valueAt, type JsonPath } from '../../core/settings/schema/pointer.ts';
import { differ, differences, expectedPart, meant, type Mismatch, show, showBoth } from './differences.ts';
import type { AttemptOutcome, CaseOutcome, MetricOutcome } from './outcome.ts';

/** Every mismatch with a case's expectations; the likely cause first. */
export function compare(expected: TestExpectation, outcome: CaseOutcome): readonly Mismatch[] {
  const found = mismatches(expected, outcome);
  const { calls, status } = outcome;
  // The gateway itself rejected the request, which causes all other mismatches.
  const isRefused = calls.length === 0 && status >= 400 && expected.status === undefined;
  if (!isRefused) return found;
  const message = `the reply is ${replyText(outcome)}`;
  if (found.length > 0) return [{ path: [], message }, ...found];
  // Every rejected request sends and counts nothing: one with a misspelt path as well as the intended one.
  return 'body' in expected ? [] : [{ path: [], message: `${message}; if intended, expect it with \`status\`` }];
}

const NO_CONNECTION = 502;

function mismatches(expected: TestExpectation, outcome: CaseOutcome): readonly Mismatch[] {
  const { target, attempts, outbound, status, headers, body, stream, dropped, embeddings, metrics } = expected;
  const faults = outcome.faults.map((message): Mismatch => ({ path: [], message }));
  const wrong = status === undefined || status === outcome.status ? [] : [wrongStatus(status, outcome)];
  return [
    // A call without an answer gets no connection, which causes its status. Otherwise the status explains the number of
    // calls.
    ...(outcome.status === NO_CONNECTION ? [...faults, ...wrong] : [...wrong, ...faults]),
    ...(target === undefined ? [] : compareTarget(target, outcome)),
    ...(attempts === undefined ? [] : compareAttempts(attempts, outcome.attempts)),
    ...(outbound === undefined ? [] : compareOutbound(outbound, outcome.attempts)),
    ...compareHeaders(headers, outcome.headers, ['headers']),
    // The key exists only if the file has an expected body.
    ...('body' in expected ? compareBody(body, outcome) : []),
    ...(stream === undefined ? [] : compareStream(stream, outcome)),
    ...(dropped === undefined ? [] : compareDropped(dropped, outcome.dropped)),
    ...(embeddings === undefined ? [] : compareEmbeddings(embeddings, outcome.embeddings)),
    ...(metrics === undefined ? [] : compareMetrics(metrics, outcome.metrics)),
  ];
}

/** The reply came from the last attempt, unless that one failed as well. */
function compareTarget(expected: string, { attempts, status }: CaseOutcome): readonly Mismatch[] {
  const last = attempts.at(-1);
  // A reply that broke after its start still came from the target.
  const answered = last && (last.error === undefined || status < 400) ? last : undefined;
  if (answered && isCalled(answered, expected)) return [];
  return [{ path: ['target'], expected, got: answered ? nameOf(answered) : `no target${tried(attempts)}` }];
}

const tried = (attempts: readonly AttemptOutcome[]): string =>
  attempts.length === 0 ? '; none was tried' : `; tried ${attempts.map(nameOf).join(', ')}`;

const namesOf = ({ target, name, provider }: AttemptOutcome): readonly string[] =>
  [target, name, provider].filter((one) => one !== undefined);

const isCalled = (attempt: AttemptOutcome, name: string): boolean => namesOf(attempt).includes(name);

/** `config.targets[0] (first, @vertex: rate_limited)` */
function nameOf({ target, name, provider, error }: AttemptOutcome): string {
  const rest = [name, provider].filter((one) => one !== undefined).join(', ');
  const about = [rest, error].filter((one) => one !== undefined && one !== '').join(': ');
  return about === '' ? target : `${target} (${about})`;
}

function compareAttempts(expected: number | readonly string[], got: readonly AttemptOutcome[]): readonly Mismatch[] {
  const path: JsonPath = ['attempts'];
  const list = got.length === 0 ? 'none' : got.map(nameOf).join(', ');
  if (typeof expected === 'number')
    return expected === got.length ? [] : [{ path, expected: String(expected), got: `${got.length}: ${list}` }];
  if (expected.length !== got.length) return [{ path, expected: expected.join(', ') || 'none', got: list }];
  return expected.flatMap((name, index) => {
    const attempt = got[index]!;
    return isCalled(attempt, name) ? [] : [{ path: [...path, index], expected: name, got: nameOf(attempt) }];
  });
}

interface ExpectedCalls {
  readonly expected: TestOutbound | readonly TestOutbound[];
  readonly got: readonly CaseCall[];
  readonly path: JsonPath;
  readonly none: string;
  readonly count: string;
}

/** The last call, or all of them. @param listed the calls in words */
function compareCalls({ expected, got, path, none, count }: ExpectedCalls, listed = ''): readonly Mismatch[] {
  if (!isList(expected)) {
    const last = got.at(-1);
    return last ? compareCall(expected, last, path) : [{ path, message: none }];
  }
  if (expected.length !== got.length)
    return [{ path, message: count, expected: String(expected.length), got: `${got.length}${listed}` }];
  return expected.flatMap((one, index) => compareCall(one, got[index]!, [...path, index]));
}

function compareOutbound(expected: ExpectedCalls['expected'], attempts: readonly AttemptOutcome[]) {
  const sent = attempts.filter(({ outbound }) => outbound !== undefined);
  return compareCalls(
    {
      expected,
      got: sent.map(({ outbound }) => outbound!),
      path: ['outbound'],
      none: `nothing was sent${tried(attempts)}`,
      count: 'number of targets to which a request was sent',
    },
    `: ${sent.map(nameOf).join(', ') || 'none'}`,
  );
}

const compareEmbeddings = (expected: ExpectedCalls['expected'], got: readonly CaseCall[]) =>
  compareCalls({
    expected,
    got,
    path: ['embeddings'],
    none: 'no call for vectors was made',
    count: 'number of calls for vectors',
  });

/** `Array.isArray` does not narrow read-only lists. */
const isList = <T>(value: T | readonly T[]): value is readonly T[] => Array.isArray(value);

function compareCall(expected: TestOutbound, call: CaseCall, path: JsonPath): readonly Mismatch[] {
  const { method = call.method, url = '*', headers } = expected;
  return [
    ...differences(method.toUpperCase(), call.method.toUpperCase(), [...path, 'method']),
    ...(fitsPattern(url, call.url) ? [] : [differ(url, call.url, [...path, 'url'])]),
    ...compareHeaders(headers, call.headers, [...path, 'headers']),
    ...('body' in expected ? differences(expected.body, call.body, [...path, 'body']) : []),
  ];
}

/** `*` matches any text, including none. */
export function fitsPattern(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return text === pattern;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found === -1 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

const wrongStatus = (expected: number, outcome: CaseOutcome): Mismatch => ({
  path: ['status'],
  expected: String(expected),
  got: replyText(outcome),
});

function replyText({ status, text }: Pick<CaseOutcome, 'status' | 'text'>): string {
  const json = parseJson(text);
  const shownText = valueAt(json, ['error', 'message']) ?? json ?? text;
  return shownText === '' ? String(status) : `${status}: ${show(shownText)}`;
}

function compareHeaders(
  expected: Readonly<Record<string, string | null>> | undefined,
  got: Readonly<Record<string, string>>,
  path: JsonPath,
): readonly Mismatch[] {
  return Object.entries(expected ?? {}).flatMap(([name, value]) => {
    const lower = name.toLowerCase();
    const found = Object.hasOwn(got, lower) ? got[lower] : undefined;
    // An empty header counts as present.
    if (value !== null && found !== undefined && fitsPattern(value, found)) return [];
    const missing = found === undefined ? meant(name, Object.keys(got)) : {};
    return differences(value, found, [...path, name]).map((one) => ({ ...one, ...missing }));
  });
}

function compareBody(expected: unknown, { text, stream }: CaseOutcome): readonly Mismatch[] {
  const path: JsonPath = ['body'];
  if (typeof expected === 'string') return expected === text ? [] : [{ path, ...showBoth(expected, text) }];
  if (stream) return [{ path, message: 'the reply is a stream of events: expect it with `stream`', got: show(text) }];
  const got = parseJson(text);
  if (got === undefined && (expected !== null || text !== ''))
    return [{ path, message: text === '' ? 'the reply has no body' : 'the reply is not JSON', got: show(text) }];
  return differences(expected, got, path);
}

function compareStream({ text, events = [], ends }: TestStream, outcome: CaseOutcome): readonly Mismatch[] {
  const path: JsonPath = ['stream'];
  const { stream } = outcome;
  if (!stream) return [{ path, message: 'the reply is not a stream', got: replyText(outcome) }];
  return [
    ...(text === undefined ? [] : differences(text, stream.text, [...path, 'text'])),
    ...compareEvents(events, stream.events, [...path, 'events']),
    ...(ends === undefined || ends === stream.ends
      ? []
      : [{ path: [...path, 'ends'], expected: ends, got: stream.ends }]),
  ];
}

function compareEvents(expected: readonly unknown[], got: readonly unknown[], path: JsonPath): readonly Mismatch[] {
  let from = 0;
  for (const [index, event] of expected.entries()) {
    const found = got.slice(from).findIndex((one) => differences(event, one, []).length === 0);
    if (found === -1) return [noSuchEvent(event, { got, from, path: [...path, index] })];
    from += found + 1;
  }
  return [];
}

function noSuchEvent(
  event: unknown,
  { got, from, path }: { readonly got: readonly unknown[]; readonly from: number; readonly path: JsonPath },
): Mismatch {
  const rest = got.slice(from);
  const where = from === 0 ? `among ${got.length} events` : `after event ${from} of ${got.length}`;
  const closest = rest.toSorted((a, b) => differences(event, a, []).length - differences(event, b, []).length)[0];
  const message = `there is no such event ${where}`;
  const best = closest !== undefined && { got: `closest: ${show(expectedPart(event, closest))}` };
  return { path, message, expected: show(event), ...best };
}

function compareDropped(expected: readonly string[], got: readonly string[]): readonly Mismatch[] {
  const path: JsonPath = ['dropped'];
  const extra = [...new Set(got)].filter((name) => !expected.includes(name));
  return [
    ...expected.flatMap((name, index) =>
      got.includes(name)
        ? []
        : [{ path: [...path, index], message: `\`${name}\` was not dropped`, ...meant(name, extra) }],
    ),
    ...extra.map((name) => ({ path, message: `\`${name}\` was also dropped` })),
  ];
}

const MOST_LISTED = 4;

/** Checks that every expected counter was incremented: by the given value, or by any. */
const compareMetrics = (expected: readonly TestMetric[], got: readonly MetricOutcome[]): readonly Mismatch[] =>
  expected.flatMap((metric, index) =>
    compareMetric(metric, got).map((one) => ({ ...one, path: ['metrics', index, ...one.path] })),
  );

function compareMetric({ name, labels = {}, value }: TestMetric, got: readonly MetricOutcome[]): readonly Mismatch[] {
  const same = got.filter((metric) => metric.name === name);
  if (same.length === 0) {
    if (value === 0) return [];
    const counted = new Set(got.map((metric) => metric.name));
    return [{ path: ['name'], message: `\`${name}\` was not incremented`, ...meant(name, counted) }];
  }
  const fitting = same.filter((metric) => Object.entries(labels).every(([key, text]) => metric.labels[key] === text));
  const sum = fitting.reduce((total, one) => total + one.value, 0);
  if (value === undefined ? sum > 0 : sum === value) return [];
  const wanted = value === undefined ? 'more than 0' : String(value);
  // With other labels only, the labels are the mismatch.
  if (fitting.length === 0) return [{ path: ['labels'], expected: shown({ labels }, wanted), got: listed(same) }];
  return [{ path: value === undefined ? [] : ['value'], expected: wanted, got: `${sum}: ${listed(fitting)}` }];
}

function listed(metrics: readonly MetricOutcome[]): string {
  const shownOnes = metrics.slice(0, MOST_LISTED).map((one) => shown(one, String(one.value)));
  const more = metrics.length - shownOnes.length;
  return [...shownOnes, ...(more > 0 ? [`and ${more} more`] : [])].join(', ');
}

/** In the notation of /metrics. */
function shown({ labels }: Pick<MetricOutcome, 'labels'>, value: string): string {
  const pairs = Object.entries(labels).map(([key, text]) => `${key}=${JSON.stringify(text)}`);
  return `{${pairs.join(',')}} ${value}`;
}
