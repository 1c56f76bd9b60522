import { describe, expect, it } from 'vitest';
import { checkPrices } from '../../../../build/release/prices.ts';

const table = (row: object) => ({
  as_of: '2026-11-22',
  models: [{ id: 'm', on: ['openai'], p: [{ from: '2026-10-01' }, { from: '2026-12-01' }], ...row }],
});
const ended = { until_at_least: '2026-11-25' };
const accepted = {
  id: 'm',
  on: ['openai'],
  due: '2026-11-25',
  accepted: '2026-11-26',
  until: '2026-11-29',
  reason: 'no source',
};

describe('the check of prices before a release', () => {
  it.each([
    ['a step that was announced has not come', {}, '2026-11-30', 0],
    ['it has come', {}, '2026-12-01', 1],
    ['it was confirmed', { confirmed: '2026-12-01' }, '2026-12-02', 0],
    ['it was looked up the day before', { confirmed: '2026-11-30' }, '2026-12-02', 1],
    ['a promise holds', ended, '2026-11-25', 0],
    ['a promise has ended', ended, '2026-11-26', 1],
    ['its end was confirmed', { ...ended, confirmed: '2026-11-26' }, '2026-11-26', 0],
  ])('counts what is due when %s', (_, row, today, due) => {
    expect(checkPrices(table(row), { accepted: [] }, today).problems).toHaveLength(due);
  });

  it.each([
    ['passes a price that is accepted, with a note', accepted, '2026-11-28', [], 1],
    ['refuses it after the exception', accepted, '2026-11-30', [/promised until 2026-11-25; .* until 2026-11-29/], 0],
    [
      'refuses an exception for another day',
      { ...accepted, due: '2026-11-24' },
      '2026-11-28',
      [/promised until/, /not due; remove/],
      1,
    ],
    [
      'refuses an exception for another provider',
      { ...accepted, on: ['azure-openai'] },
      '2026-11-28',
      [/promised until/, /not due/],
      1,
    ],
    [
      'refuses an exception without a near end',
      { ...accepted, until: '2027-02-01' },
      '2026-11-28',
      [/more than 31 days/],
      1,
    ],
  ])('%s', (_, exception, today, problems, notes) => {
    const checked = checkPrices(table(ended), { accepted: [exception] }, today);
    expect(checked.problems).toEqual(problems.map((pattern) => expect.stringMatching(pattern)));
    expect(checked.notes).toHaveLength(notes);
  });
});
