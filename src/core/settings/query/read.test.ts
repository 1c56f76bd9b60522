import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createExchange } from '../../../plugin/testing/index.ts';
import { compileQuery, PREDICATE } from './predicate.ts';
import { expandedSize } from './patterns.ts';
import { readQuery, type Tally } from './read.ts';

const empty = (): Tally => ({ operators: 0, patterns: 0 });

/** Messages, each with its path in the query. */
function mistakesOf(query: unknown, tally = empty()): string[] {
  const reported: string[] = [];
  readQuery(query, { report: ({ path, message }) => reported.push(`${path.join('/')}: ${message}`), tally }, PREDICATE);
  return reported;
}

const questions = (count: number, test: unknown) => ({ $or: Array.from({ length: count }, () => ({ model: test })) });

describe('the queries of a config', () => {
  it('may have 256 operators, a bare value and a logical operator counting as one each', () => {
    expect(mistakesOf(questions(255, 'm'))).toEqual([]);
    expect(mistakesOf(questions(300, 'm'))).toEqual([
      '$or/255/model: the queries of this config have more than 256 operators',
    ]);
  });

  it('may have 32 patterns; further ones are not compiled', () => {
    expect(mistakesOf(questions(32, { $regex: 'm' }))).toEqual([]);
    expect(mistakesOf(questions(40, { $regex: 'm' }))).toEqual([
      '$or/32/model/$regex: the queries of this config have more than 32 `$regex`',
    ]);
    const tally = empty();
    mistakesOf(questions(33, { $regex: 'm' }), tally);
    expect(mistakesOf({ model: { $regex: '(' } }, tally)).toEqual([]);
  });

  it('share their limits', () => {
    const tally = empty();
    expect(mistakesOf(questions(200, 'm'), tally)).toEqual([]);
    expect(mistakesOf(questions(200, 'm'), tally)).toHaveLength(1);
    expect(mistakesOf(questions(200, 'm'), tally)).toEqual([]);
  });

  it('may list 1000 values for one operator', () => {
    const values = Array.from({ length: 1001 }, (_, index) => `user-${index}`);
    expect(mistakesOf({ 'metadata.user': { $in: values.slice(1) } })).toEqual([]);
    expect(mistakesOf({ 'metadata.user': { $in: values } })).toEqual([
      'metadata.user/$in: `$in` lists 1001 values; at most 1000 are allowed',
    ]);
  });

  it('may have patterns of 1000 characters', () => {
    expect(mistakesOf({ model: { $regex: `[${'a'.repeat(998)}]` } })).toEqual([]);
    expect(mistakesOf({ model: { $regex: `[${'a'.repeat(999)}]` } })).toEqual([
      'model/$regex: `$regex` has 1001 characters; at most 1000 are allowed',
    ]);
  });

  it.each([
    ['abc', 3],
    ['a{3}b', 4],
    ['a{3}{2}', 6],
    ['(ab{2,4}){3}c', 19],
    ['((a{10}){10}){10}', 1110],
    ['a{2,}[x(){3}\\]]{2}', 4],
    ['\\p{Greek}{3}\\pL', 40],
    ['\\({2}\\{3}', 5],
    ['x{0}', 1],
    ['a){2}', 3],
    ['(((a{2', 6],
  ])('have patterns whose size is estimated before they are compiled: %s', (source, size) => {
    expect(expandedSize(source)).toBe(size);
  });

  it('refuse patterns that would take seconds to compile', () => {
    for (const part of ['\\pL{1000}', '(?i)[^a]{1000}', '(((a?){10}){10}){10}']) {
      const source = part.repeat(Math.floor(1000 / part.length));
      expect(mistakesOf({ model: { $regex: source } })).toEqual([expect.stringContaining('is too large')]);
    }
  });

  it('do not overflow the stack, however deep they nest', () => {
    let query: unknown = { model: 'm' };
    for (let depth = 0; depth < 100_000; depth += 1) query = { $not: query };
    expect(mistakesOf(query)).toEqual([expect.stringMatching(/: queries nest deeper than 8 levels$/)]);
    expect(() => readQuery(query, { report: undefined, tally: empty() }, PREDICATE)).not.toThrow();
  });

  it('do not repeat what looks like a secret', () => {
    const secret = `sk-${'a1'.repeat(10)}`;
    const reported = mistakesOf({ model: { $regex: `(${secret}` }, operation: secret, [secret]: 1 });
    expect(reported).toHaveLength(3);
    expect(reported.map((line) => line.slice(line.indexOf(': '))).join(' ')).not.toContain('a1a1');
  });
});

describe('any value as a query', () => {
  const operators = ['$and', '$or', '$not', '$eq', '$in', '$gt', '$regex', '$exists', '$x', 'gt', ''];
  const fields = ['model', 'operation', 'path', 'metadata', 'metadata.a', 'headers.a', 'headers.cookie'];
  const word = fc.constantFrom(...operators, ...fields, 'params.a', 'params.a.0', 'params.', '__proto__', 'x.y');
  const { json } = fc.letrec((tie) => ({
    json: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<unknown>(0, 'a', '', '(', '(?=a)', true, null),
      fc.array(tie('json'), { maxLength: 3 }),
      fc.dictionary(word, tie('json'), { maxKeys: 3 }),
    ),
  }));
  const anyQuery = fc.dictionary(word, json, { minKeys: 1, maxKeys: 3 });

  it('is reported as a mistake, or returns true or false for every request', () => {
    const sound = { yes: 0, no: 0 };
    fc.assert(
      fc.property(anyQuery, (query) => {
        const holds = compileQuery(query);
        if (mistakesOf(query).length > 0) return void (sound.no += 1);
        sound.yes += 1;
        const exchange = createExchange({ json: { a: ['a'], model: 'a' }, metadata: { a: '1' }, headers: { a: 'a' } });
        expect(holds(exchange)).toBeTypeOf('boolean');
      }),
      { numRuns: 1000 },
    );
    expect(Math.min(sound.yes, sound.no)).toBeGreaterThan(10);
  });
});
