import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyEdit } from '../formats/json/edits.ts';
import { changesOf } from './edits.ts';
import type { Edit } from './request.ts';
import { RequestBody } from '../core/kernel/body/request-body.ts';
import { runs } from '../../test/support/effort.ts';

const bodyOf = (json: object): RequestBody => RequestBody.read(Buffer.from(JSON.stringify(json)), 64);
const edit = (path: string, value?: unknown): Edit => ({
  path: path.split('.'),
  value,
  source: `${path}=${JSON.stringify(value)}`,
});

/** The changes as `path=value`, with the client's values. */
const reported = (json: object, ...edits: readonly Edit[]): unknown =>
  changesOf(bodyOf(json).edit(edits)).map(({ edit: { source }, was }) => [source, was]);

describe('what edits change in a body', () => {
  it.each<[string, object, readonly Edit[], unknown]>([
    ['nothing without edits', { a: 1 }, [], []],
    ['a replaced value', { a: 1 }, [edit('a', 2)], [['a=2', 1]]],
    ['an added value', {}, [edit('a', 2)], [['a=2', undefined]]],
    ['a deleted value', { a: 1 }, [edit('a')], [['a=undefined', 1]]],
    ['no edit that writes the client’s own value', { a: { b: [1] } }, [edit('a.b', [1])], []],
    ['no deletion of an absent field', { a: 1 }, [edit('b'), edit('a.c')], []],
    ['the leaf, not the objects around it', { a: { b: 1, c: 2 } }, [edit('a.b', 3)], [['a.b=3', 1]]],
    ['only the last edit of a field', { a: 1 }, [edit('a', 2), edit('a', 3)], [['a=3', 1]]],
    ['the last of two equal edits', {}, [edit('a', 2), edit('a', 2)], [['a=2', undefined]]],
    ['no field that was added and deleted', {}, [edit('a.b', 2), edit('a')], []],
    [
      'the client’s value of a field that was replaced and then deleted',
      { a: 1 },
      [edit('a', 2), edit('a')],
      [['a=undefined', 1]],
    ],
    ['no field that was changed back', { a: 1 }, [edit('a', 2), edit('a', 1)], []],
    [
      'an earlier edit that an empty object does not override',
      {},
      [edit('a.b', 1), edit('a', {})],
      [['a.b=1', undefined]],
    ],
    ['null, which is a value in a body', { a: null }, [edit('a', 1)], [['a=1', null]]],
  ])('is %s', (_, json, edits, expected) => {
    expect(reported(json, ...edits)).toEqual(expected);
  });

  it('turns the client’s body into the edited one', () => {
    const key = fc.constantFrom('a', 'b');
    const value: fc.Arbitrary<unknown> = fc.oneof(
      fc.constantFrom(1, 2, null, []),
      fc.dictionary(key, fc.constantFrom(1, 2)),
    );
    const edits = fc.array(
      fc.record({
        path: fc.array(key, { minLength: 1, maxLength: 3 }),
        value: fc.constantFrom<unknown>(undefined, 1, 2, [], {}),
        source: fc.constant(''),
      }),
      { maxLength: 5 },
    );
    fc.assert(
      fc.property(fc.dictionary(key, value), edits, (json, made) => {
        const body = bodyOf(json).edit(made);
        const changes = changesOf(body);
        const again = changes.reduce<Record<string, unknown>>((state, change) => applyEdit(state, change.edit), {
          ...json,
        });
        expect(again).toEqual(body.json());
      }),
      { numRuns: runs(2000) },
    );
  });
});
