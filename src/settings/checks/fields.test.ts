import { describe, expect, it } from 'vitest';
import type { Fields } from '../../../schemas/types.generated.ts';
import type { Problem } from '../../plugin/index.ts';
import { checkFieldRules } from './fields.ts';

const problemsOf = (fields: Fields): Problem[] => {
  const problems: Problem[] = [];
  checkFieldRules(fields, { path: ['fields'], report: (problem) => void problems.push(problem) });
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
      { path: ['fields', 'deny', 1], suggestion: 'tools[].container' },
    ],
    ['two dots', { allow: ['messages', 'a..b'] }, { path: ['fields', 'allow', 1] }],
    [
      'a name that is nearly a known one',
      { deny: ['temperatur'] },
      { path: ['fields', 'deny', 0], severity: 'warning', suggestion: 'temperature' },
    ],
    [
      'a field in both lists',
      { deny: ['store'], allow: ['messages', 'store'] },
      { path: ['fields', 'allow', 1], severity: 'warning' },
    ],
    [
      'a list that refuses every request',
      { allow: ['temperature'] },
      { path: ['fields', 'allow'], severity: 'warning' },
    ],
  ])('reports %s', (_, fields, problem) => {
    expect(problemsOf(fields)).toMatchObject([problem]);
  });
});
