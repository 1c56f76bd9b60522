import { describe, expect, it } from 'vitest';
import { joinLosses, LossReport, MAX_NAME_LENGTH, MAX_NAMED } from './losses.ts';

const reportOf = (count: number): LossReport => {
  const report = new LossReport();
  for (let at = 0; at < count; at += 1) report.dropped(`k${at}`, 'unknown');
  return report;
};

describe('A report of losses', () => {
  it('names every loss of an ordinary request', () => {
    expect(
      reportOf(MAX_NAMED)
        .list()
        .map(({ param }) => param),
    ).toEqual(Array.from({ length: MAX_NAMED }, (_, at) => `k${at}`));
  });

  it('names the first losses of a hostile request and counts the others by their action', () => {
    const report = reportOf(100_000);
    report.clamped('temperature', 'too hot');
    const list = report.list();
    expect(list).toHaveLength(MAX_NAMED + 2);
    expect(list.slice(MAX_NAMED)).toEqual([
      { param: '(+99900 more)', action: 'dropped', reason: 'Not named one by one', count: 99_900 },
      { param: '(+1 more)', action: 'clamped', reason: 'Not named one by one', count: 1 },
    ]);
  });

  it('counts no loss that is already named, however many there are', () => {
    const report = reportOf(MAX_NAMED + 1);
    report.dropped('k0', 'unknown');
    report.add({ param: 'k1', action: 'dropped', reason: 'unknown' });
    expect(report.list().at(-1)).toMatchObject({ action: 'dropped', count: 1 });
    report.clamped('k0', 'unknown');
    expect(report.list().at(-1)).toMatchObject({ action: 'clamped', count: 1 });
  });

  it('counts a loss with a name too long to show', () => {
    const report = new LossReport();
    report.dropped('x'.repeat(MAX_NAME_LENGTH + 1), 'unknown');
    expect(report.list()).toMatchObject([{ param: '(+1 more)', action: 'dropped', count: 1 }]);
  });

  it('has one entry for the same place, action and reason', () => {
    const report = new LossReport();
    report.dropped('a', 'unknown');
    report.dropped('a', 'unknown');
    report.dropped('a', 'for another reason');
    expect(report.list()).toHaveLength(2);
  });
});

describe('Joined reports', () => {
  it('keep the bound, sum the unnamed losses, and count no name twice', () => {
    const joined = joinLosses(reportOf(150).list(), reportOf(300).list());
    expect(joined.filter(({ count }) => count === undefined)).toHaveLength(MAX_NAMED);
    expect(joined.at(-1)).toMatchObject({ action: 'dropped', count: 250 });
  });

  it('are the only list that is not empty, unchanged', () => {
    const losses = reportOf(2).list();
    expect(joinLosses([], losses, [])).toBe(losses);
    expect(joinLosses([], [])).toEqual([]);
  });
});
