import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { DOCUMENT, hasTitle, serviceTable } from './service-table.ts';
import { CHAPTERS } from './statements.ts';

const statements = CHAPTERS.flatMap(({ statements }) => statements);

describe('docs/reference/service.md', () => {
  it('is what test/service/service-table.ts writes', () => {
    expect(readFileSync(DOCUMENT, 'utf8')).toBe(serviceTable());
  });

  it.each(statements.map(({ text, tests }) => [text, tests] as const))('names tests that exist: %s', (_, tests) => {
    expect(tests.length).toBeGreaterThan(0);
    expect(tests.filter((test) => !hasTitle(test))).toEqual([]);
  });

  it('has no statement twice', () => {
    expect(new Set(statements.map(({ text }) => text)).size).toBe(statements.length);
  });
});
