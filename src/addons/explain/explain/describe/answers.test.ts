import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createExchange } from '../../../../plugin/testing/index.ts';
import { compileQuery } from '../../../../core/settings/query/predicate.ts';
import { explainQuery, allHold, type ComparisonAnswer } from './answers.ts';
import { runs } from '../../../../../test/support/effort.ts';

type Query = Readonly<Record<string, unknown>>;

const leaf = ({ field, operator, found, holds }: ComparisonAnswer) => ({ field, operator, found, holds });
const ask = (query: Query, json: Query = {}) =>
  explainQuery(query)(createExchange({ json, metadata: { tier: 'gold' } }));

describe('explainQuery', () => {
  it('returns each comparison with the value found', () => {
    const query = { 'metadata.tier': 'gold', 'params.n': { $gt: 3, $lt: 9 }, model: { $exists: true } };
    expect(ask(query, { n: 5 }).map(leaf)).toEqual([
      { field: 'metadata.tier', operator: '$eq', found: 'gold', holds: true },
      { field: 'params.n', operator: '$gt', found: 5, holds: true },
      { field: 'params.n', operator: '$lt', found: 5, holds: true },
      { field: 'model', operator: '$exists', found: undefined, holds: false },
    ]);
  });

  it('returns the path of each comparison in the query', () => {
    const query = { $or: [{ model: 'a' }, { $not: { 'params.n': { $gt: 1 } } }, { model: 'b', path: '/x' }] };
    const paths = (answers: readonly ComparisonAnswer[]): unknown[] =>
      answers.map(({ path, inner }) => (inner ? [path.join('/'), paths(inner)] : path.join('/')));
    expect(paths(ask(query))).toEqual([
      ['$or', ['$or/0/model', ['$or/1/$not', ['$or/1/$not/params.n/$gt']], ['$or/2', ['$or/2/model', '$or/2/path']]]],
    ]);
  });

  it('leaves a comparison undefined whose text is too long for its pattern, and evaluates the others', () => {
    const query = { 'params.x': { $regex: 'b' }, 'params.n': 1 };
    const answers = ask(query, { x: 'a'.repeat(10_000_000), n: 1 });
    expect(answers.map(({ holds }) => holds)).toEqual([undefined, true]);
    expect(allHold(answers)).toBeUndefined();
    expect(ask({ $not: query }, { x: 'a'.repeat(10_000_000), n: 1 })[0]?.holds).toBeUndefined();
    expect(ask({ $or: [{ 'params.n': 1 }, query] }, { x: 'a'.repeat(10_000_000), n: 1 })[0]?.holds).toBe(true);
  });

  it('does not add to the pattern cost of the request', () => {
    const exchange = createExchange({ json: { x: 'a'.repeat(400_000) } });
    const query = { 'params.x': { $regex: 'b' } };
    for (let time = 0; time < 10; time += 1) explainQuery(query)(exchange);
    expect(compileQuery(query)(exchange)).toBe(false);
  });
});

const scalar = fc.constantFrom<unknown>(0, 1, 2, '', 'a', 'ab', '1', true, null);
const value = fc.oneof({ weight: 4, arbitrary: scalar }, fc.array(scalar, { maxLength: 2 }));
const operator = fc.oneof(
  fc.tuple(fc.constantFrom('$eq', '$ne'), value),
  fc.tuple(fc.constantFrom('$gt', '$gte', '$lt', '$lte'), fc.constantFrom<unknown>(0, 1, 'a')),
  fc.tuple(fc.constantFrom('$in', '$nin'), fc.array(value, { minLength: 1, maxLength: 3 })),
  fc.tuple(fc.constant('$regex'), fc.constantFrom('a', '^a', 'b$', '^$')),
  fc.tuple(fc.constant('$exists'), fc.boolean()),
);
const test = fc.oneof(
  value,
  fc.array(operator, { minLength: 1, maxLength: 3 }).map((list) => Object.fromEntries(list)),
);
const field = fc.constantFrom('params.a', 'params.b', 'params.c.0', 'metadata.a', 'headers.x-a', 'model', 'operation');
const { query: anyQuery } = fc.letrec<{ query: Query }>((tie) => {
  const queries = fc.array(tie('query'), { minLength: 1, maxLength: 3 });
  const mixed = fc.record({ 'params.a': test, $and: queries, $or: queries, $not: tie('query') }, { requiredKeys: [] });
  return {
    query: fc.oneof(
      { maxDepth: 3 },
      fc.dictionary(field, test, { minKeys: 1, maxKeys: 3 }),
      mixed.filter((query) => Object.keys(query).length > 0),
    ),
  };
});
const anyRequest = fc.record({
  json: fc.record({ a: value, b: value, c: value, model: fc.constantFrom('a', 'b') }, { requiredKeys: [] }),
  metadata: fc.record({ a: fc.constantFrom('a', '1') }, { requiredKeys: [] }),
  headers: fc.record({ 'x-a': fc.constantFrom('a', '1') }, { requiredKeys: [] }),
});

describe('any query with any request', () => {
  it('has the same result explained and evaluated', () => {
    const seen = new Set<boolean>();
    fc.assert(
      fc.property(anyQuery, anyRequest, (query, parts) => {
        const answer = compileQuery(query)(createExchange(parts));
        seen.add(answer);
        expect(allHold(explainQuery(query)(createExchange(parts)))).toBe(answer);
      }),
      { numRuns: runs(2000) },
    );
    expect(seen.size).toBe(2);
  });
});
