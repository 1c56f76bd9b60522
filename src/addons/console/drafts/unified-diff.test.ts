import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { diffLines } from './diff-lines.ts';
import { unifiedDiff } from './unified-diff.ts';

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-diff-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd: 1', ''), { maxLength: 12 });
const text = fc.tuple(lines, fc.boolean()).map(([all, ends]) => all.join('\n') + (ends && all.length > 0 ? '\n' : ''));

describe('the difference of two texts', () => {
  it('has the text before without its added lines, and the text after without its removed ones', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const all = diffLines(before, after);
        const without = (op: string): string => all.flatMap((one) => (one.op === op ? [] : [one.text])).join('');
        expect(without('+')).toBe(before);
        expect(without('-')).toBe(after);
      }),
    );
  });

  it('is a patch that makes the text after of the text before', () => {
    execFileSync('git', ['init', '-q'], { cwd: folder });
    fc.assert(
      fc.property(
        text.filter((one) => one !== ''),
        text.filter((one) => one !== ''),
        fc.uniqueArray(fc.integer({ min: 1, max: 12 }), { maxLength: 3 }),
        (before, after, hidden) => {
          const patch = unifiedDiff('file.yaml', { before, after }, new Set(hidden));
          if (!patch || before === after) return;
          writeFileSync(join(folder, 'file.yaml'), before);
          const flags = ['apply', '--whitespace=nowarn', ...(patch.cut ? ['--unidiff-zero'] : []), '-'];
          execFileSync('git', flags, { cwd: folder, input: patch.text });
          expect(readFileSync(join(folder, 'file.yaml'), 'utf8')).toBe(after);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('shows no line with a secret, and none at all where it would remove one', () => {
    const before = 'one\nkey: secret\ntwo\n';
    const added = unifiedDiff('a.yaml', { before, after: 'one\nkey: secret\ntwo\nthree\n' }, new Set([2]));
    expect(added).toEqual({ text: '--- a/a.yaml\n+++ b/a.yaml\n@@ -3,1 +3,2 @@\n two\n+three\n', cut: true });
    expect(unifiedDiff('a.yaml', { before, after: 'one\ntwo\n' }, new Set([2]))).toBeUndefined();
  });

  it('of a large change is one block, in time that grows with the lines', () => {
    const of = (word: string): string => Array.from({ length: 20_000 }, (_, index) => `${word} ${index}\n`).join('');
    expect(diffLines(of('a'), of('b'))).toHaveLength(40_000);
  });
});
