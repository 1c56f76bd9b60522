import { describe, expect, it } from 'vitest';
import type { EffectDone } from './effect.ts';
import { effectMarkdown, effectText, type EffectReport } from './render.ts';

const place = { file: 'gateway/prod.yaml', line: 6, column: 7 };
const done: EffectDone = {
  same: 686,
  changed: 1312,
  unknown: 2,
  cases: 9,
  reasons: [
    { reason: 'a condition compares `headers.x`, which the record does not have', count: 2, sample: 'r-9', place },
  ],
};
const report: EffectReport = {
  done,
  changes: [
    {
      sample: 'r-1',
      count: 1312,
      before: { to: '@vertex/gemini-2.5-pro', config: 'prod', targets: [], place: { ...place, line: 9 } },
      after: { to: '@anthropic/claude-sonnet-4-5', config: 'prod', targets: [], place },
      fields: [{ path: 'max_tokens', after: 5, place }],
    },
  ],
};

describe('the effect of a change, as text', () => {
  it('has the groups with their lines, and why requests are unknown', () => {
    expect(effectText(report)).toBe(`1,312 of 2,000 requests move, 686 do not, 2 unknown

1,312: @vertex/gemini-2.5-pro → @anthropic/claude-sonnet-4-5
  before  gateway/prod.yaml:9:7
  after   gateway/prod.yaml:6:7
  field   max_tokens: as the caller sends it → 5 (gateway/prod.yaml:6:7)
  example r-1

Unknown:
2: a condition compares \`headers.x\`, which the record does not have (gateway/prod.yaml:6:7); example r-9
`);
  });

  it('cannot control the terminal, whatever a file of requests has', () => {
    const [change] = report.changes;
    const reasons = [{ reason: 'a\u009b2Jb', count: 1, sample: '\u001b]0;title\u0007' }];
    const text = effectText({ changes: [{ ...change!, sample: '\u001b[2J\nline' }], done: { ...done, reasons } });
    expect(text.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
    expect(text).toContain('  example \\u{1b}[2J\\u{a}line\n');
  });

  it('is one line where nothing moves', () => {
    expect(effectText({ changes: [], done: { ...done, changed: 0, unknown: 0, reasons: [] } })).toBe(
      '0 of 686 requests move, 686 do not\n',
    );
  });
});

describe('the effect of a change, as Markdown', () => {
  it('has a row for each group and each reason', () => {
    expect(effectMarkdown(report)).toBe(`**1,312 of 2,000 requests move, 686 do not, 2 unknown**

| Requests | Before | After | Fields of the sent body | Example |
| ---: | --- | --- | --- | --- |
| 1,312 | \`@vertex/gemini-2.5-pro\` (\`gateway/prod.yaml:9:7\`) | \`@anthropic/claude-sonnet-4-5\` (\`gateway/prod.yaml:6:7\`) | \`max_tokens\`: \`as the caller sends it\` → \`5\` | \`r-1\` |

| Unknown | Reason | Example |
| ---: | --- | --- |
| 2 | a condition compares \`headers.x\`, which the record does not have (\`gateway/prod.yaml:6:7\`) | \`r-9\` |
`);
  });

  it.each(['a | b', '`code`', '<img src=x onerror=alert(1)>', 'two\nlines'])('keeps %j in its cell', (sample) => {
    const [change] = report.changes;
    const reasons = [{ reason: sample, count: 1, sample }];
    const text = effectMarkdown({ changes: [{ ...change!, sample }], done: { ...done, reasons } });
    expect(text.split('\n')).toHaveLength(10);
    expect(text.replaceAll(/`[^`\n]*`/g, '')).not.toContain('<img');
  });
});
