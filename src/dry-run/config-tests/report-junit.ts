import { describe, type Diagnostic } from '../../settings/problems/diagnostic.ts';
import { diffOf, headOf, placeOf } from './failure-text.ts';
import { hasFailed, type CaseResult, type Failure, type TestSummary } from './results.ts';

/** JUnit XML for Jenkins, GitLab and others: one suite per file. */
export function junitReport({ results, ms }: TestSummary): string {
  const suites = [...Map.groupBy(results, ({ file }) => file)].map(([file, cases]) => suiteOf(file, cases));
  return documentOf(suites, { tests: results.length, failures: countFailed(results), ms });
}

/** A report for settings that could not be loaded: CI servers show a failure more clearly than a missing report. */
export function junitBroken(diagnostics: readonly Diagnostic[]): string {
  const text = diagnostics.map(describe).join('\n');
  const suite = [
    open('testsuite', { name: 'settings', tests: 1, failures: 1 }),
    open('testcase', { name: 'the settings and their tests have no errors', classname: 'settings' }),
    failureOf({ message: diagnostics.length === 1 ? '1 error' : `${diagnostics.length} errors`, text }),
    '</testcase>',
    '</testsuite>',
  ].join('\n');
  return documentOf([suite], { tests: 1, failures: 1, ms: 0 });
}

interface Totals {
  readonly tests: number;
  readonly failures: number;
  readonly ms: number;
}

function documentOf(suites: readonly string[], { tests, failures, ms }: Totals): string {
  const root = open('testsuites', { name: 'gatehouse test', tests, failures, time: seconds(ms) });
  return `${['<?xml version="1.0" encoding="UTF-8"?>', root, ...suites, '</testsuites>'].join('\n')}\n`;
}

function suiteOf(file: string, cases: readonly CaseResult[]): string {
  const ms = cases.reduce((sum, one) => sum + one.ms, 0);
  const attributes = { name: file, tests: cases.length, failures: countFailed(cases), time: seconds(ms) };
  return [open('testsuite', attributes), ...cases.flatMap(caseOf), '</testsuite>'].join('\n');
}

function caseOf({ name, file, place, failures, ms }: CaseResult): readonly string[] {
  const head = open('testcase', { name, classname: file, file, line: place.line, time: seconds(ms) });
  const [first] = failures;
  if (!first) return [head, '</testcase>'];
  // One element for all failures: most servers show only the first element.
  return [head, failureOf({ message: headOf(first), text: failures.map(describeFailure).join('\n') }), '</testcase>'];
}

function describeFailure(failure: Failure): string {
  const diff = diffOf(failure).map(([word, text]) => `\n  ${word} ${text}`);
  return `${placeOf(failure)}: ${headOf(failure)}${diff.join('')}`;
}

const failureOf = ({ message, text }: { readonly message: string; readonly text: string }): string =>
  `${open('failure', { message, type: 'mismatch' })}${escape(text)}</failure>`;

const countFailed = (results: readonly CaseResult[]): number => results.filter(hasFailed).length;

const seconds = (ms: number): string => (ms / 1000).toFixed(3);

function open(name: string, attributes: Readonly<Record<string, string | number>>): string {
  const pairs = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeAttribute(String(value))}"`);
  return `<${name}${pairs.join('')}>`;
}

/** XML parsers normalize line ends in attributes unless they are escaped. */
const escapeAttribute = (text: string): string =>
  escape(text).replaceAll('"', '&quot;').replaceAll('\n', '&#10;').replaceAll('\t', '&#9;');

function escape(text: string): string {
  // A case may expect characters that XML does not allow.
  const sound = text.toWellFormed().replaceAll(NO_XML, '\uFFFD');
  return sound.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('\r', '&#13;');
}

// oxlint-disable-next-line no-control-regex -- these are what XML 1.0 leaves out
const NO_XML = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g;
