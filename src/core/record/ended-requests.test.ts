import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../plugin/testing/index.ts';
import { EndedRequests, type EndedRequest } from './ended-requests.ts';
import { runs } from '../../../test/support/effort.ts';

function open() {
  const clock = createFakeClock();
  const written: string[][] = [];
  const ended = new EndedRequests(clock);
  ended.writeWith((all) => void written.push(all.map(({ record }) => record.id)));
  let last = 0;
  const add = (): void => {
    const request = { record: { id: `${(last += 1)}` } } as unknown as EndedRequest;
    ended.add(request);
  };
  return { clock, ended, written, add, add32: () => Array.from({ length: 32 }, add) };
}

describe('ended requests', () => {
  it('are written together, 5 ms after the first of them', async () => {
    const { clock, written, add } = open();
    add();
    await clock.advance(3);
    add();
    await clock.advance(1);
    expect(written).toEqual([]);
    await clock.advance(1);
    expect(written).toEqual([['1', '2']]);
    add();
    await clock.advance(5);
    expect(written).toEqual([['1', '2'], ['3']]);
  });

  it('are written at once when 32 of them wait', async () => {
    const { clock, written, add32 } = open();
    add32();
    expect(written.map(({ length }) => length)).toEqual([32]);
    await clock.advance(10);
    expect(written).toHaveLength(1);
  });

  it('are written at once by a flush, which writes nothing if none waits', () => {
    const { ended, written, add } = open();
    ended.flush();
    add();
    ended.flush();
    ended.flush();
    expect(written).toEqual([['1']]);
  });

  it('are each written once and in order, at most 5 ms late, with at most one timer', async () => {
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.constant('add' as const) },
      fc.constant('add32' as const),
      fc.constant('flush' as const),
      fc.integer({ min: 1, max: 4 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const { clock, ended, written, add, add32 } = open();
        let timers = 0;
        const { after } = clock;
        clock.after = (ms, task) => {
          timers += 1;
          expect(timers).toBe(1);
          return after(ms, () => {
            timers -= 1;
            task();
          });
        };
        let added = 0;
        for (const one of steps) {
          if (one === 'add') {
            add();
            added += 1;
          } else if (one === 'add32') {
            add32();
            added += 32;
          } else if (one === 'flush') ended.flush();
          else await clock.advance(one);
        }
        await clock.advance(5);
        expect(written.flat()).toEqual(Array.from({ length: added }, (_, index) => `${index + 1}`));
      }),
      { numRuns: runs(100) },
    );
  });
});
