import { describe, expect, it } from 'vitest';
import { findRecord, mergePages } from './pool-records.ts';

const answerOf = <A>(worker: number, answer: A) => ({ worker, answered: true, answer });
const silent = (worker: number) => ({ worker, answered: false, answer: undefined });
const at = (second: number): string => `2026-11-21T10:00:0${second}.000Z`;

describe('a request looked up in several processes', () => {
  it('is returned with the worker that served it', () => {
    expect(findRecord([answerOf(1, undefined), answerOf(2, { request_id: 'a', time: at(1) })])).toEqual({
      worker: 2,
      request_id: 'a',
      time: at(1),
    });
  });

  it('is the latest with the id, and has the number of requests with it', () => {
    const answers = [answerOf(1, { time: at(3), same_id: 2 }), answerOf(2, { time: at(5) }), answerOf(3, undefined)];
    expect(findRecord(answers)).toEqual({ worker: 2, time: at(5), same_id: 3 });
  });

  it('is unknown only if every worker has answered', () => {
    expect(findRecord([answerOf(1, undefined), answerOf(2, undefined)])).toBeUndefined();
    expect(() => findRecord([answerOf(1, undefined), silent(2)])).toThrow('Worker 2 does not answer.');
    expect(findRecord([silent(1), answerOf(2, { time: at(1) })])).toMatchObject({ worker: 2 });
  });
});

describe('a list of requests from several processes', () => {
  const line = (running: boolean, place: number) => ({
    place: { running, at: place },
    line: { request_id: `r${place}` },
  });
  const page = (lines: ReturnType<typeof line>[], more = false, oldest?: string) => ({
    lines,
    more,
    oldest,
    marks: { running: lines.length, ended: lines.length * 2 },
  });
  const first = answerOf(1, page([line(true, 2), line(false, 7), line(false, 3)], false, at(2)));
  const second = answerOf(2, page([line(true, 4), line(false, 5)], false, at(1)));
  const idsOf = ({ lines }: ReturnType<typeof mergePages>) => lines.map(({ line: shown }) => Object.values(shown));

  it('has running requests, then ended ones, the latest first, each with its worker', () => {
    const merged = mergePages([first, second], 10);
    expect(idsOf(merged)).toEqual([
      [2, 'r4'],
      [1, 'r2'],
      [1, 'r7'],
      [2, 'r5'],
      [1, 'r3'],
    ]);
    expect(merged).toMatchObject({ more: false, oldest: at(1), partial: [] });
  });

  it('says that there are more where it is cut, or where a process has more', () => {
    expect(mergePages([first, second], 4)).toMatchObject({ more: true, lines: { length: 4 } });
    expect(mergePages([answerOf(1, page([line(false, 3)], true))], 1)).toMatchObject({ more: true });
  });

  it('keeps lines of one place on one page: the next page begins after a place', () => {
    const same = [answerOf(1, page([line(false, 5)])), answerOf(2, page([line(false, 5), line(false, 4)]))];
    expect(mergePages(same, 1)).toMatchObject({ more: true, lines: { length: 2 } });
  });

  it('has the marks of the process that is behind, and counts what no page has', () => {
    const counted = (missed: number, lines: number) =>
      answerOf(1, { ...page(Array.from({ length: lines }, (_, index) => line(false, index))), missed });
    expect(mergePages([counted(3, 2), counted(1, 3)], 3)).toMatchObject({ marks: { running: 2, ended: 4 }, missed: 6 });
  });

  it('names the workers that did not answer', () => {
    expect(mergePages([silent(3), second], 10)).toMatchObject({ partial: [3], lines: { length: 2 } });
  });
});
