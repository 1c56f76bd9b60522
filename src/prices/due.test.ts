import { expect, it } from 'vitest';
import { dueRows } from '../../build/release-check.ts';

const table = (row: object) => ({
  as_of: '2026-11-22',
  models: [{ id: 'm', on: ['openai'], p: [{ from: '2026-10-01' }, { from: '2026-12-01' }], ...row }],
});
const ended = { until_at_least: '2026-11-25' };

it.each([
  ['a step that was announced has not come', {}, '2026-11-30', 0],
  ['it has come', {}, '2026-12-01', 1],
  ['it was confirmed', { confirmed: '2026-12-01' }, '2026-12-02', 0],
  ['it was looked up the day before', { confirmed: '2026-11-30' }, '2026-12-02', 1],
  ['a promise holds', ended, '2026-11-25', 0],
  ['a promise has ended', ended, '2026-11-26', 1],
  ['its end was confirmed', { ...ended, confirmed: '2026-11-26' }, '2026-11-26', 0],
])('the check of a release, when %s', (_, row, today, due) => {
  expect(dueRows(table(row), today)).toHaveLength(due);
});
