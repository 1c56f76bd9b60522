import { describe, expect, it } from 'vitest';
import type { Fields } from '../../../../schemas/types.generated.ts';
import type { Problem } from '../../kernel/report.ts';
import { checkFieldRules } from './params.ts';

const problemsOf = (fields: Fields): Problem[] => {
  const problems: Problem[] = [];
  checkFieldRules(fields, (problem) => void problems.push(problem));
  return problems;
};

describe('checkFieldRules', () => {
  it('accepts the rules of the documentation', () => {
    expect(
      problemsOf({
        preset: 'shared_credentials',
        deny: ['tools[].container', '**.file_id', 'vendor_field'],
        allow: ['messages'],
      }),
    ).toEqual([]);
  });

  it.each<[string, Fields, object]>([
    [
      'a number in brackets',
      { deny: ['store', 'tools[0].container'] },
      { path: ['deny', 1], suggestion: 'tools[].container' },
    ],
    ['two dots', { allow: ['messages', 'a..b'] }, { path: ['allow', 1] }],
    [
      'a name that is nearly a known one',
      { deny: ['temperatur'] },
      { path: ['deny', 0], severity: 'warning', suggestion: 'temperature' },
    ],
    [
      'a field in both lists',
      { deny: ['store'], allow: ['messages', 'store'] },
      { path: ['allow', 1], severity: 'warning' },
    ],
    ['a list that refuses every request', { allow: ['temperature'] }, { path: ['allow'], severity: 'warning' }],
  ])('reports %s', (_, fields, problem) => {
    expect(problemsOf(fields)).toMatchObject([problem]);
  });
});
