import { describe, expect, test } from 'vitest';
import type { Problem } from '../../kernel/report.ts';
import { betaFilter, checkBetas } from './betas.ts';

describe('betaFilter', () => {
  test.each([
    ['context-1m-2025-08-07', true],
    ['interleaved-thinking-2025-05-14', true],
    ['context-management-2025-06-27', true],
    ['computer-use-2025-11-24', true],
    ['tool-search-tool-2025-10-19', true],
    ['claude-code-20250219', true],
    // Refused by name, according to reports of clients.
    ['prompt-caching-scope-2026-01-05', false],
    ['structured-outputs-2025-11-13', false],
    ['effort-2025-11-24', false],
    ['oauth-2025-04-20', false],
    ['pdfs-2024-09-25', false],
    // For features that Vertex AI does not have (docs/protocols/vertex-ai.md#claude-features-not-served).
    ['files-api-2025-04-14', false],
    ['message-batches-2024-09-24', false],
    ['mcp-client-2025-11-20', false],
    ['skills-2025-10-02', false],
    // Unknown: Vertex AI answers 400.
    ['something-2030-01-01', false],
  ])('without settings: %s %s', (name, taken) => {
    expect(betaFilter()(name)).toBe(taken);
  });

  test('with `allow` forwards only the names in it', () => {
    const takes = betaFilter({ allow: ['files-api-2025-04-14'] });
    expect([takes('files-api-2025-04-14'), takes('context-1m-2025-08-07')]).toEqual([true, false]);
    expect(betaFilter({ allow: [] })('context-1m-2025-08-07')).toBe(false);
  });

  test('with `deny` forwards all other names', () => {
    const takes = betaFilter({ deny: ['context-1m-2025-08-07'] });
    expect([takes('something-2030-01-01'), takes('context-1m-2025-08-07')]).toEqual([true, false]);
    expect(betaFilter({ deny: [] })('something-2030-01-01')).toBe(true);
  });
});

test('a star in a list of betas gets a warning', () => {
  const problems: Problem[] = [];
  checkBetas({ deny: ['files-api-2025-04-14', 'mcp-*'] }, (problem) => problems.push(problem));
  checkBetas({ allow: ['files-api-2025-04-14'] }, (problem) => problems.push(problem));
  checkBetas(undefined, (problem) => problems.push(problem));
  expect(problems).toMatchObject([{ path: ['anthropic_betas', 'deny', 1], severity: 'warning' }]);
});
