import { styleText } from 'node:util';
import { printable } from '../explanation/render/layout.ts';
import { formatDiagnostics, type Diagnostic } from '../../settings/problems/diagnostic.ts';
import { diffOf, headOf, placeOf } from './failure-text.ts';
import { junitBroken, junitReport } from './report-junit.ts';
import { hasFailed, type CaseResult, type TestSummary } from './results.ts';

export type ReporterName = 'pretty' | 'junit' | 'github';

/** Formats results as text; the caller prints it. */
export interface Reporter {
  /** A case has ended. */
  each(result: CaseResult): string;
  end(summary: TestSummary): string;
  /** No case could run. */
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

/** Maximum failures shown per case. */
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
      const failed = summary.results.some(hasFailed);
      return `\n${paint(failed ? 'red' : 'green', summaryOf(summary))}\n`;
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
  return `${parts.join(', ')} (${timeText(ms)})`;
}

const timeText = (ms: number): string => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);
