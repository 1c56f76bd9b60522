import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WaitingLine } from './line.ts';

const takeAll = (line: WaitingLine<string>): string[] => {
  const taken: string[] = [];
  for (let one = line.take(); one !== undefined; one = line.take()) taken.push(one);
  return taken;
};

describe('the line for a connection', () => {
  it('lets callers take turns, with the requests of a caller in order', () => {
    const line = new WaitingLine<string>();
    for (const one of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) line.enter(one[0]!, one);
    expect(takeAll(line)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
    expect(line.size).toBe(0);
  });

  it('puts a returning caller behind the waiting ones', () => {
    const line = new WaitingLine<string>();
    line.enter('a', 'a1');
    line.enter('b', 'b1');
    expect(line.take()).toBe('a1');
    line.enter('a', 'a2');
    expect(takeAll(line)).toEqual(['b1', 'a2']);
  });

  it('can be left, and the others keep their order', () => {
    const line = new WaitingLine<string>();
    for (const one of ['a1', 'a2', 'b1']) line.enter(one[0]!, one);
    expect([line.leave('a', 'a1'), line.leave('a', 'a1'), line.leave('c', 'c1'), line.leave('b', 'b1')]).toEqual([
      true,
      false,
      false,
      true,
    ]);
    expect([line.size, [...line]]).toEqual([1, ['a2']]);
  });

  it('never lets a caller wait for more turns than there are callers', () => {
    const caller = fc.constantFrom('a', 'b', 'c', 'd');
    const step = fc.oneof(fc.record({ enter: caller }), fc.record({ leave: caller }), fc.constant('take' as const));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const line = new WaitingLine<string>();
        /** Requests by caller, and the number of others taken since each was first in its lane. */
        const model = new Map<string, { waiting: string[]; passed: number }>();
        let count = 0;
        for (const move of steps) {
          if (move === 'take') {
            const one = line.take();
            const total = [...model.values()].reduce((sum, { waiting }) => sum + waiting.length, 0);
            expect(one === undefined).toBe(total === 0);
            if (one === undefined) continue;
            for (const [name, lane] of model) {
              if (name !== one[0]) lane.passed += lane.waiting.length > 0 ? 1 : 0;
              else expect(lane.waiting.shift()).toBe(one);
              if (name === one[0] || lane.waiting.length === 0) lane.passed = 0;
              expect(lane.passed).toBeLessThan(4);
            }
          } else if ('enter' in move) {
            const lane = model.get(move.enter) ?? { waiting: [], passed: 0 };
            model.set(move.enter, lane);
            lane.waiting.push(`${move.enter}${(count += 1)}`);
            line.enter(move.enter, lane.waiting.at(-1)!);
          } else {
            const lane = model.get(move.leave);
            const one = lane?.waiting.pop();
            expect(line.leave(move.leave, one ?? 'none')).toBe(one !== undefined);
            if (lane?.waiting.length === 0) lane.passed = 0;
          }
        }
        expect(line.size).toBe([...model.values()].reduce((sum, { waiting }) => sum + waiting.length, 0));
      }),
    );
  });
});
