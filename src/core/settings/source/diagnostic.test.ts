import { expect, test } from 'vitest';
import { describe, formatDiagnostics, sortDiagnostics, type Diagnostic } from './diagnostic.ts';

const at = (file: string, line: number, column: number, message = 'wrong'): Diagnostic => ({
  file,
  line,
  column,
  severity: 'error',
  message,
});

test('diagnostics are sorted by file, then by line and column as numbers, without duplicates', () => {
  const sorted = sortDiagnostics([
    at('b', 1, 1),
    at('a', 10, 1),
    at('a', 9, 2),
    at('a', 9, 10),
    at('a', 9, 2),
    at('a', 9, 2, 'also'),
  ]);
  expect(sorted.map(describe)).toEqual([
    'a:9:2: also',
    'a:9:2: wrong',
    'a:9:10: wrong',
    'a:10:1: wrong',
    'b:1:1: wrong',
  ]);
});

const TWO: readonly Diagnostic[] = [
  { file: 'configs/a,b:c.yaml', line: 2, column: 3, severity: 'error', message: '100% wrong', suggestion: 'right' },
  { file: 'configs/keys.yaml', line: 1, column: 1, severity: 'warning', message: 'two\nlines' },
];

test('the format `pretty` writes one line for each diagnostic and marks warnings', () => {
  expect(formatDiagnostics(TWO.slice(0, 1), 'pretty')).toBe(
    'configs/a,b:c.yaml:2:3: 100% wrong; did you mean "right"?\n',
  );
  expect(formatDiagnostics(TWO, 'pretty')).toContain('configs/keys.yaml:1:1: warning: two');
});

test('the format `github` writes one escaped workflow command for each diagnostic', () => {
  expect(formatDiagnostics(TWO, 'github')).toBe(
    '::error file=configs/a%2Cb%3Ac.yaml,line=2,col=3::100%25 wrong; did you mean "right"?\n' +
      '::warning file=configs/keys.yaml,line=1,col=1::two%0Alines\n',
  );
});

test('the format `json` writes one document, also for no diagnostics', () => {
  expect(JSON.parse(formatDiagnostics(TWO, 'json'))).toEqual({ errors: 1, warnings: 1, diagnostics: TWO });
  expect(JSON.parse(formatDiagnostics([], 'json'))).toEqual({ errors: 0, warnings: 0, diagnostics: [] });
});
