import { styleText } from 'node:util';
import { printable } from '../../core/kernel/layout.ts';
import { formatDiagnostics, type Diagnostic, describe } from '../../core/settings/source/diagnostic.ts';
import { hasFailed, type CaseResult, type TestSummary, diffOf, headOf, placeOf, type Failure } from './results.ts';

export type ReporterName = 'pretty' | 'junit' | 'github';

/** Formats results as text; the caller prints it. */
interface Reporter {
  each(result: CaseResult): string;
  end(summary: TestSummary): string;
  broken(diagnostics: readonly Diagnostic[]): string;
}

export function createReporter(name: ReporterName, { color }: { readonly color: boolean }): Reporter {
  switch (name) {
    case 'pretty':
      return pretty(color);
    case 'junit':
      return { each: () => '', end: junitReport, broken: junitBroken };
    case 'github':
      return github;
  }
}

const MOST_SHOWN = 20;

function pretty(color: boolean): Reporter {
  const paint = (format: 'green' | 'red' | 'bold' | 'dim', text: string): string =>
    color ? styleText(format, text, { validateStream: false }) : text;
  let file: string | undefined;
  return {
    each(result) {
      const title = result.file === file ? '' : `${file === undefined ? '' : '\n'}${paint('bold', result.file)}\n`;
      file = result.file;
      const { failures } = result;
      const name = inOneLine(result.name);
      const line = hasFailed(result) ? `${paint('red', '✗')} ${paint('bold', name)}` : `${paint('green', '✓')} ${name}`;
      const shown = failures
        .slice(0, MOST_SHOWN)
        .flatMap((failure) => [
          `      ${paint('dim', `${placeOf(failure)}:`)} ${paint('red', inOneLine(headOf(failure)))}`,
          ...diffOf(failure).map(
            ([word, text]) =>
              `        ${word.padEnd('expected'.length)} ${paint(word === 'got' ? 'red' : 'green', printable(text))}`,
          ),
        ]);
      const more = failures.length - MOST_SHOWN;
      return `${title}${lines(`  ${line}`, ...shown, ...(more > 0 ? [`      and ${more} more`] : []))}`;
    },
    end: (summary) => {
      return `\n${paint(summary.results.some(hasFailed) ? 'red' : 'green', summaryOf(summary))}\n`;
    },
    broken: (diagnostics) => `${formatDiagnostics(diagnostics, 'pretty')}${NOTHING_RUN}\n`,
  };
}

const github: Reporter = {
  each: ({ name, failures }) => {
    const diagnostics = failures.map((failure): Diagnostic => {
      const { file, line, column } = failure;
      const diff = diffOf(failure).map(([word, text]) => `${word} ${text}`);
      return { file, line, column, severity: 'error', message: [`${name}: ${headOf(failure)}`, ...diff].join('\n') };
    });
    return formatDiagnostics(diagnostics, 'github');
  },
  end: (summary) => `${summaryOf(summary)}\n`,
  broken: (diagnostics) => `${formatDiagnostics(diagnostics, 'github')}${NOTHING_RUN}\n`,
};

/** Names written as YAML blocks end with a newline. */
const inOneLine = (text: string): string => printable(text.trim().replaceAll(/\s+/g, ' '));

const NOTHING_RUN = 'no test was run: fix these errors first';

const lines = (...texts: readonly string[]): string => texts.map((text) => `${text}\n`).join('');

function summaryOf({ results, notRun, ms }: TestSummary): string {
  const failed = results.filter(hasFailed).length;
  const parts = [
    `${results.length - failed} passed`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(notRun > 0 ? [`${notRun} not run`] : []),
  ];
  return `${parts.join(', ')} (${ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`})`;
}

/** JUnit XML for Jenkins, GitLab and others: one suite per file. */
function junitReport({ results, ms }: TestSummary): string {
  const suites = [...Map.groupBy(results, ({ file }) => file)].map(([file, cases]) => suiteOf(file, cases));
  return documentOf(suites, { tests: results.length, failures: countFailed(results), ms });
}

/** A report for settings that could not be loaded: CI servers show a failure more clearly than a missing report. */
function junitBroken(diagnostics: readonly Diagnostic[]): string {
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

function documentOf(
  suites: readonly string[],
  { tests, failures, ms }: { readonly tests: number; readonly failures: number; readonly ms: number },
): string {
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
