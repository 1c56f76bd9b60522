import { describe, expect, it } from 'vitest';
import { driveFamily } from './corpus.ts';
import { corpusIsThere } from './recordings.ts';

describe.skipIf(!corpusIsThere)('recorded upstream exchanges through a running gateway', () => {
  it.each(['anthropic', 'vertex-anthropic', 'gemini', 'vertex-gemini'])(
    'of the family %s come out as OpenAI chat completions, strict and lax, cut at any byte',
    { timeout: 300_000 },
    async (family) => {
      const outcome = await driveFamily(family, 'bytes');
      expect(outcome.unknown).toBe(0);
      expect(outcome.checked.filter(({ applicable }) => !applicable)).toEqual([]);
      // Each recording the checker itself can judge, once strict and once lax: nothing was skipped.
      expect(outcome.checked.length).toBe(outcome.derivable * 2);
      expect(outcome.derivable).toBeGreaterThan(0);
      const wrong = outcome.checked.flatMap(({ id, strict, findings }) =>
        findings.filter(({ level }) => level === 'error').map((finding) => ({ id, strict, ...finding })),
      );
      expect(wrong).toEqual([]);
    },
  );
});
