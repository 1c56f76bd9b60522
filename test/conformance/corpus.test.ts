import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { corpusIsThere, driveFamily } from './corpus.ts';

/**
 * What is known to be wrong, by recording and rule: only what a later issue brings (media, grounding, citations, structured
 * output). The list may only shrink: a new finding fails the test, and so does one that is listed and no longer there.
 */
const known = JSON.parse(readFileSync(new URL('known-findings.json', import.meta.url), 'utf8')) as Record<string, Record<string, string[]>>;

describe.skipIf(!corpusIsThere)('recorded upstream exchanges through a running gateway', () => {
  it.each(['anthropic', 'vertex-anthropic', 'gemini', 'vertex-gemini'])(
    'of the family %s come out as OpenAI chat completions, strict and lax, cut at any byte',
    { timeout: 300_000 },
    async (family) => {
      const outcome = await driveFamily(family, 'bytes');
      expect(outcome.unknown).toBe(0);
      expect(outcome.checked.filter(({ applicable }) => !applicable)).toEqual([]);
      expect(outcome.checked.length).toBe(outcome.derivable * 2);
      const found: Record<string, string[]> = {};
      for (const { id, strict, findings } of outcome.checked) {
        for (const { rule, level, expected, actual } of findings) {
          if (level !== 'error') continue;
          (found[id] ??= []).push(rule);
          if (!known[family]?.[id]?.includes(rule)) console.error(family, id, strict ? 'strict' : 'lax', rule, { expected, actual });
        }
      }
      expect(found).toEqual(known[family] ?? {});
    },
  );
});
