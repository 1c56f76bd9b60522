import { describe, expect, test } from 'vitest';
import type { Diagnostic } from '../../core/settings/source/diagnostic.ts';
import { createReporter, type ReporterName } from './report.ts';
import type { CaseResult, Failure } from './results.ts';

const FILE = 'configs/gateway/prod.test.yaml';

const FAILURE: Failure = {
  file: FILE,
  line: 12,
  column: 9,
  what: 'outbound.body.max_token',
  expected: '512',
  got: 'nothing',
  suggestion: 'max_tokens',
};
const passed: CaseResult = {
  file: FILE,
  name: 'passes',
  place: { file: FILE, line: 2, column: 11 },
  failures: [],
  ms: 4,
};
const failed: CaseResult = {
  ...passed,
  name: 'fails',
  place: { file: FILE, line: 8, column: 11 },
  failures: [FAILURE],
  ms: 1300,
};

const MISTAKE: Diagnostic = { file: 'configs/keys.yaml', line: 1, column: 2, severity: 'error', message: 'no <keys>' };

function report(name: ReporterName, results: readonly CaseResult[], color = false): string {
  const reporter = createReporter(name, { color });
  return [...results.map((one) => reporter.each(one)), reporter.end({ results, notRun: 1, ms: 1304 })].join('');
}

describe('pretty', () => {
  test('has a line for each case, with the mismatches below a failed one', () => {
    const other = { ...passed, file: 'configs/other.test.yaml', name: 'passes, too' };
    expect(report('pretty', [passed, failed, other])).toBe(`configs/gateway/prod.test.yaml
  ✓ passes
  ✗ fails
      configs/gateway/prod.test.yaml:12:9: outbound.body.max_token; did you mean "max_tokens"?
        expected 512
        got      nothing

configs/other.test.yaml
  ✓ passes, too

2 passed, 1 failed, 1 not run (1.3 s)
`);
  });

  test('limits the mismatches of one case', () => {
    const many = { ...failed, failures: Array.from({ length: 30 }, () => FAILURE) };
    const text = report('pretty', [many]);
    expect([text.split('expected').length - 1, text.includes('      and 10 more\n')]).toEqual([20, true]);
  });

  test('prints a multi-line name in one line, without control characters', () => {
    const nasty = 'a name\nof \u001B[31mtwo\u009B2J lines\u202E\n';
    const failure = { ...FAILURE, what: nasty, expected: '"\u009B2J"', got: '"\u202E"' };
    const text = report('pretty', [{ ...failed, name: nasty, failures: [failure] }]);
    expect(text.split('\n').slice(1, 5)).toEqual([
      expect.stringMatching(/^ {2}✗ a name of .*two.* lines\S*$/),
      expect.stringMatching(/^ {6}configs.*:12:9: a name of .*two.* lines.*; did you mean "max_tokens"\?$/),
      expect.stringMatching(/^ {8}expected "/),
      expect.stringMatching(/^ {8}got {6}"/),
    ]);
    expect([...text].filter((character) => '\u001B\u009B\u202E'.includes(character))).toEqual([]);
  });

  test('has colours only when they are enabled', () => {
    // oxlint-disable-next-line no-control-regex -- that is what a colour is
    const escapes = /\u001B\[\d+m/g;
    expect(report('pretty', [passed, failed])).not.toMatch(escapes);
    const colored = report('pretty', [passed, failed], true);
    expect(colored).toMatch(escapes);
    expect(colored.replaceAll(escapes, '')).toBe(report('pretty', [passed, failed]));
  });
});

describe('github', () => {
  test('has a workflow command for each mismatch', () => {
    expect(report('github', [passed, failed])).toBe(
      '::error file=configs/gateway/prod.test.yaml,line=12,col=9::fails: outbound.body.max_token; did you mean "max_tokens"?%0Aexpected 512%0Agot nothing\n' +
        '1 passed, 1 failed, 1 not run (1.3 s)\n',
    );
  });

  test('escapes workflow commands in texts of a case', () => {
    const text = report('github', [{ ...failed, name: 'a\n::stop-commands::x' }]);
    expect(text.split('\n').filter((line) => line.startsWith('::'))).toHaveLength(1);
  });
});

describe('junit', () => {
  test('has a suite for each file and a case for each case', () => {
    expect(report('junit', [passed, failed])).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="gatehouse test" tests="2" failures="1" time="1.304">
<testsuite name="configs/gateway/prod.test.yaml" tests="2" failures="1" time="1.304">
<testcase name="passes" classname="configs/gateway/prod.test.yaml" file="configs/gateway/prod.test.yaml" line="2" time="0.004">
</testcase>
<testcase name="fails" classname="configs/gateway/prod.test.yaml" file="configs/gateway/prod.test.yaml" line="8" time="1.300">
<failure message="outbound.body.max_token; did you mean &quot;max_tokens&quot;?" type="mismatch">configs/gateway/prod.test.yaml:12:9: outbound.body.max_token; did you mean "max_tokens"?
  expected 512
  got nothing</failure>
</testcase>
</testsuite>
</testsuites>
`);
  });

  test('is valid XML for any text of a case', () => {
    const nasty = '<a b="c">&amp; ]]> \u0000\u001B\uD800 \r\n\t"';
    const text = report('junit', [{ ...failed, name: nasty, failures: [{ ...FAILURE, what: nasty, got: nasty }] }]);
    const [name] = attributesOf(text, 'testcase', 'name');
    // Only characters that XML does not allow are lost.
    const readable = nasty.replace('\u0000\u001B\uD800', '\uFFFD\uFFFD\uFFFD');
    expect(name).toBe(readable);
    expect(isWellFormed(text)).toBe(true);
  });

  test('is a report even when nothing could run', () => {
    const text = createReporter('junit', { color: false }).broken([MISTAKE]);
    expect(isWellFormed(text)).toBe(true);
    expect(text).toContain('configs/keys.yaml:1:2: no &lt;keys&gt;</failure>');
    expect(text).toContain('<failure message="1 error"');
    expect(attributesOf(text, 'testsuites', 'failures')).toEqual(['1']);
  });
});

test.each<[ReporterName, string]>([
  ['pretty', 'configs/keys.yaml:1:2: no <keys>\nno test was run: fix these errors first\n'],
  ['github', '::error file=configs/keys.yaml,line=1,col=2::no <keys>\nno test was run: fix these errors first\n'],
])('%s reports errors as `gatehouse validate` does', (name, text) => {
  expect(createReporter(name, { color: false }).broken([MISTAKE])).toBe(text);
});

/**
 * A minimal well-formedness check: balanced tags; text without `<`, with `&` only in entities, and without characters
 * that XML does not allow.
 */
function isWellFormed(xml: string): boolean {
  // oxlint-disable-next-line no-control-regex -- these are what XML 1.0 leaves out
  if (/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/.test(xml) || !xml.isWellFormed()) return false;
  const open: string[] = [];
  const token =
    /<\?xml [^?]*\?>|<(\/?)([a-z]+)((?: [a-z]+="[^"<>&]*(?:&(?:amp|lt|gt|quot|#\d+);[^"<>&]*)*")*)>|[^<>&]+|&(?:amp|lt|gt|quot|#\d+);/gy;
  let at = 0;
  for (const match of xml.matchAll(token)) {
    at += match[0].length;
    if (match[2] === undefined) continue;
    if (match[1] === '') open.push(match[2]);
    else if (open.pop() !== match[2]) return false;
  }
  return at === xml.length && open.length === 0;
}

function attributesOf(xml: string, tag: string, attribute: string): readonly string[] {
  const found = xml.matchAll(new RegExp(`<${tag} (?:[a-z]+="[^"]*" )*?${attribute}="([^"]*)"`, 'g'));
  return [...found].map(([, value]) =>
    value!
      .replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
      .replaceAll('&quot;', '"')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&amp;', '&'),
  );
}
