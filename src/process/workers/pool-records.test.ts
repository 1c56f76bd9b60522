import { describe, expect, it } from 'vitest';
import { findRecord, mergeRecords } from './pool-records.ts';

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
    expect(() => findRecord([answerOf(1, undefined), silent(2)])).toThrow('worker 2 does not answer');
    expect(findRecord([silent(1), answerOf(2, { time: at(1) })])).toMatchObject({ worker: 2 });
  });
});

describe('a list of requests from several processes', () => {
  const first = answerOf(1, [
    { time: at(2), state: 'running' },
    { time: at(1), ended: at(7) },
    { time: at(1), ended: at(3) },
  ]);
  const second = answerOf(2, [
    { time: at(4), state: 'running' },
    { time: at(2), ended: at(5) },
  ]);

  it('has running requests, then ended ones, the latest first, up to the limit', () => {
    const lines = mergeRecords([first, second], 4);
    expect(lines).toEqual([
      { worker: 2, time: at(4), state: 'running' },
      { worker: 1, time: at(2), state: 'running' },
      { worker: 1, time: at(1), ended: at(7) },
      { worker: 2, time: at(2), ended: at(5) },
    ]);
  });

  it('names a worker that did not answer', () => {
    expect(mergeRecords([silent(3), second], 1)).toEqual([
      { worker: 3, state: 'does not answer' },
      { worker: 2, time: at(4), state: 'running' },
    ]);
  });
});
