import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createExchange, type ExchangeParts } from '../../../plugin/testing/index.ts';
import { RequestBody, type Operation } from '../../kernel/index.ts';
import { compileQuery } from './predicate.ts';
import { runs } from '../../../../test/support/effort.ts';

type Query = Readonly<Record<string, unknown>>;

const holds = (query: Query, parts: ExchangeParts = {}): boolean => compileQuery(query)(createExchange(parts));

/** Values of `params.x` that match one query and values that do not; `missing` is a body without the field. */
const missing = Symbol('missing');
const ofValue = (test: unknown, value: unknown): boolean =>
  holds({ 'params.x': test }, { json: value === missing ? {} : { x: value } });

describe('an operator matches values in the body', () => {
  test.each<[unknown, { readonly yes: readonly unknown[]; readonly no: readonly unknown[] }]>([
    ['a', { yes: ['a'], no: ['A', ['a'], { a: 1 }, null, missing, 1] }],
    [5, { yes: [5, 5.0], no: ['5', 6, true, missing] }],
    [true, { yes: [true], no: ['true', 1, false, missing] }],
    [null, { yes: [null], no: [missing, 0, '', false] }],
    [
      { a: 1, b: [2] },
      { yes: [{ b: [2], a: 1 }], no: [{ a: 1 }, { a: 1, b: [2], c: 3 }, { a: 1, b: 2 }, missing] },
    ],
    [
      ['a', 'b'],
      { yes: [['a', 'b']], no: [['b', 'a'], ['a'], ['a', 'b', 'c'], 'a', { 0: 'a', 1: 'b', length: 2 }, missing] },
    ],
    [[], { yes: [[]], no: [{}, null, missing] }],
    [{ $eq: {} }, { yes: [{}], no: [[], null, { a: 1 }, missing] }],
    [{ $ne: 'a' }, { yes: ['b', 1, null, ['a'], missing], no: ['a'] }],
    [{ $gt: 5 }, { yes: [6, 5.1], no: [5, 4, '6', null, true, [6], missing] }],
    [{ $gt: '5' }, { yes: ['6', 'a'], no: [6, '5', '10', missing] }],
    [{ $gte: 5 }, { yes: [5, 6], no: [4.9, '5', missing] }],
    [{ $lt: 5 }, { yes: [4, -1, 0], no: [5, '4', null, false, missing] }],
    [{ $lte: 'b' }, { yes: ['a', 'b', ''], no: ['c', 1, missing] }],
    [
      { $gt: 1, $lt: 5 },
      { yes: [2], no: [1, 5, missing] },
    ],
    [{ $in: ['a', 1, null, ['b']] }, { yes: ['a', 1, null, ['b']], no: ['b', '1', missing, ['a']] }],
    [{ $nin: ['a', { b: 1 }] }, { yes: ['b', missing, ['a']], no: ['a', { b: 1 }] }],
    [{ $exists: true }, { yes: [0, '', null, false, [], {}], no: [missing] }],
    [{ $exists: false }, { yes: [missing], no: [null, 0] }],
    [{ $regex: 'b.d' }, { yes: ['abcd', 'b d'], no: ['bd', 'B.D', 'b\nd', ['bcd'], 5, null, missing] }],
    [{ $regex: '^(?i)sum' }, { yes: ['SUMmary'], no: ['a sum'] }],
    [{ $regex: '[äö]$' }, { yes: ['Böschö'], no: ['Büsche'] }],
  ])('%j', (operators, { yes, no }) => {
    expect(yes.filter((value) => !ofValue(operators, value))).toEqual([]);
    expect(no.filter((value) => ofValue(operators, value))).toEqual([]);
  });
});

describe('a number compared with a header or metadata', () => {
  test.each<[unknown, { readonly yes: readonly string[]; readonly no: readonly string[] }]>([
    [3, { yes: ['3', '3.0', '3e0'], no: ['03', ' 3', 'three', '', '0x3', '3,0'] }],
    [{ $ne: 3 }, { yes: ['4', 'x'], no: ['3'] }],
    [{ $gte: 3 }, { yes: ['3', '10'], no: ['2', 'x', ''] }],
    [{ $in: ['gold', 3] }, { yes: ['gold', '3', '3.0'], no: ['4', 'x'] }],
    ['3', { yes: ['3'], no: ['3.0'] }],
    [{ $gt: '3' }, { yes: ['4', '31'], no: ['10', '3'] }],
  ])('matches text in number notation: %j', (operators, { yes, no }) => {
    for (const value of [...yes, ...no]) {
      const expected = yes.includes(value);
      expect(holds({ 'metadata.tier': operators }, { metadata: { tier: value } }), value).toBe(expected);
      expect(holds({ 'headers.x-tier': operators }, { headers: { 'x-tier': value } }), value).toBe(expected);
    }
  });
});

describe('a field', () => {
  const chat = { id: 'chat.completions' } as Operation;
  const parts: ExchangeParts = {
    operation: chat,
    metadata: { plan: 'paid', 'a.b': 'dotted' },
    headers: { 'x-team': 'search' },
    json: {
      model: 'm',
      user: 'u',
      messages: [{ role: 'system' }, { role: 'user', content: 'hi' }],
      o: { p: { q: 1 } },
    },
  };

  test.each<[string, unknown]>([
    ['metadata.plan', 'paid'],
    ['metadata.a.b', 'dotted'],
    ['headers.x-team', 'search'],
    ['headers.X-Team', 'search'],
    ['model', 'm'],
    ['operation', 'chat.completions'],
    ['path', '/v1/chat/completions'],
    ['params.user', 'u'],
    ['params.model', 'm'],
    ['params.o.p.q', 1],
    ['params.messages.1.content', 'hi'],
    ['params.messages.0', { role: 'system' }],
  ])('%s is read', (field, value) => {
    expect(holds({ [field]: { $eq: value } }, parts)).toBe(true);
  });

  test.each([
    'metadata.team',
    'metadata.constructor',
    'headers.x-other',
    'headers.toString',
    'params.constructor',
    'params.__proto__',
    'params.o.p.q.r',
    'params.o.toString',
    'params.user.length',
    'params.messages.length',
    'params.messages.01',
    'params.messages.2',
    'params.messages.-1',
    'params.messages.2.content',
  ])('%s is missing', (field) => {
    expect(holds({ [field]: { $exists: true } }, parts)).toBe(false);
    const parsed = createExchange(parts);
    parsed.request.body?.json();
    expect(compileQuery({ [field]: { $exists: true } })(parsed)).toBe(false);
  });

  test('is missing without a body and an operation', () => {
    const exchange = createExchange();
    exchange.request.body = undefined;
    const query = { model: { $exists: false }, operation: { $exists: false }, 'params.x.y': { $exists: false } };
    expect(compileQuery(query)(exchange)).toBe(true);
  });

  test('of a large body is parsed once, and the other fields are not parsed', () => {
    const body = RequestBody.read(Buffer.from(`{"user":"u","messages":[${'"x",'.repeat(20_000)}"x"]}`), 8);
    const asked: string[] = [];
    body.value = (key) => {
      asked.push(key);
      return RequestBody.prototype.value.call(body, key);
    };
    const exchange = createExchange();
    exchange.request.body = body;
    const query = { $or: [{ 'params.messages.0': 'a' }, { 'params.messages.1': 'b' }, { 'params.messages.2': 'x' }] };
    expect(compileQuery(query)(exchange)).toBe(true);
    expect(compileQuery(query)(exchange)).toBe(true);
    expect(asked).toEqual(['messages']);
  });
});

describe('combined queries', () => {
  const parts = { json: { a: 1, b: 2 } };
  test.each<[Query, boolean]>([
    [{ 'params.a': 1, 'params.b': 2 }, true],
    [{ 'params.a': 1, 'params.b': 3 }, false],
    [{ $and: [{ 'params.a': 1 }, { 'params.b': 2 }] }, true],
    [{ $and: [{ 'params.a': 1 }, { 'params.b': 1 }] }, false],
    [{ $or: [{ 'params.a': 2 }, { 'params.b': 2 }] }, true],
    [{ $or: [{ 'params.a': 2 }, { 'params.b': 1 }] }, false],
    [{ $not: { 'params.a': 2 } }, true],
    [{ $not: { 'params.a': 1, 'params.b': 3 } }, true],
    [{ 'params.a': 1, $or: [{ 'params.b': 3 }, { $not: { 'params.b': 3 } }] }, true],
    [{ 'params.a': 2, $or: [{ 'params.b': 2 }] }, false],
  ])('%j: %s', (query, expected) => {
    expect(holds(query, parts)).toBe(expected);
  });
});

// A small set of values: queries for random values would almost never match.
/** Objects of JSON have a prototype. */
const JSON_OBJECT = { noNullPrototype: true };
const scalar = fc.constantFrom<unknown>(0, 1, 2, -1, 1.5, '', 'a', 'ab', '1', true, false, null);
const value = fc.oneof(
  { weight: 4, arbitrary: scalar },
  fc.array(scalar, { maxLength: 2 }),
  fc.record({ a: scalar }, JSON_OBJECT),
);
const key = fc.constantFrom('a', 'b', 'c.a', 'c.0');
const operator = fc.oneof(
  fc.tuple(fc.constantFrom('$eq', '$ne'), value),
  fc.tuple(fc.constantFrom('$gt', '$gte', '$lt', '$lte'), fc.constantFrom<unknown>(0, 1, 1.5, 'a', 'b')),
  fc.tuple(fc.constantFrom('$in', '$nin'), fc.array(value, { minLength: 1, maxLength: 3 })),
  fc.tuple(fc.constant('$regex'), fc.constantFrom('a', '^a', 'b$', '[0-9]', '^$', '(a|b){2}')),
  fc.tuple(fc.constant('$exists'), fc.boolean()),
);
const asked = fc.array(operator, { minLength: 1, maxLength: 2 }).map((list) => Object.fromEntries(list));
const fields = fc.dictionary(
  key.map((name) => `params.${name}`),
  asked,
  { minKeys: 1, maxKeys: 2, ...JSON_OBJECT },
);
const { query: anyQuery } = fc.letrec<{ query: Query }>((tie) => ({
  query: fc.oneof(
    { maxDepth: 3 },
    fields,
    fc.array(tie('query'), { minLength: 1, maxLength: 3 }).map(($and) => ({ $and })),
    fc.array(tie('query'), { minLength: 1, maxLength: 3 }).map(($or) => ({ $or })),
    tie('query').map(($not) => ({ $not })),
  ),
}));
const anyBody = fc.record({ a: value, b: value, c: value }, { requiredKeys: [], ...JSON_OBJECT });

/** A direct interpreter of queries, as the reference for the compiled ones. */
function says(query: Query, body: Query): boolean {
  return Object.entries(query).every(([name, operand]) => {
    if (name === '$not') return !says(operand as Query, body);
    if (name === '$and') return (operand as Query[]).every((one) => says(one, body));
    if (name === '$or') return (operand as Query[]).some((one) => says(one, body));
    let at: unknown = body;
    for (const segment of name.split('.').slice(1))
      at = typeof at === 'object' && at !== null ? Object.getOwnPropertyDescriptor(at, segment)?.value : undefined;
    return Object.entries(operand as Query).every(([op, wanted]) => saysOf(at, op, wanted));
  });
}

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

function saysOf(found: unknown, op: string, wanted: unknown): boolean {
  if (op === '$exists') return (found !== undefined) === wanted;
  if (op === '$ne') return !saysOf(found, '$eq', wanted);
  if (op === '$nin') return !saysOf(found, '$in', wanted);
  if (found === undefined) return false;
  if (op === '$eq') return same(found, wanted);
  if (op === '$in') return (wanted as unknown[]).some((item) => same(found, item));
  if (op === '$regex') return typeof found === 'string' && new RegExp(wanted as string, 'u').test(found);
  if (typeof found !== typeof wanted) return false;
  const [one, other] = [found as number, wanted as number];
  return { $gt: one > other, $gte: one >= other, $lt: one < other, $lte: one <= other }[op] ?? false;
}

describe('any query with any body', () => {
  test('gives the same result compiled and interpreted', () => {
    const seen = new Set<boolean>();
    fc.assert(
      fc.property(anyQuery, anyBody, (query, body) => {
        const answer = says(query, body);
        seen.add(answer);
        expect(holds(query, { json: body })).toBe(answer);
      }),
      { numRuns: runs(1000) },
    );
    expect(seen.size).toBe(2);
  });

  test('obeys De Morgan’s laws, also for missing fields', () => {
    fc.assert(
      fc.property(anyQuery, anyQuery, anyBody, (one, other, json) => {
        const is = (query: Query): boolean => holds(query, { json });
        const not = (query: Query): Query => ({ $not: query });
        expect(is(not({ $and: [one, other] }))).toBe(is({ $or: [not(one), not(other)] }));
        expect(is(not({ $or: [one, other] }))).toBe(is({ $and: [not(one), not(other)] }));
        expect(is(not(not(one)))).toBe(is(one));
      }),
    );
  });
});

describe('a pattern', () => {
  test.each([
    ['(a+)+$', `${'a'.repeat(100_000)}!`],
    ['(a|aa)+$', `${'a'.repeat(100_000)}!`],
    ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a'.repeat(100_000)],
    ['(x+x+)+y', 'x'.repeat(100_000)],
  ])('that would take a backtracking engine for ever ends: %s', (pattern, text) => {
    expect(ofValue({ $regex: pattern }, text)).toBe(false);
  });

  test('is matched with a text up to its cost limit, and a longer text is refused', () => {
    // Two instructions of its own and a few that every pattern has: a match at the very end, or a refusal.
    expect(ofValue({ $regex: 'b' }, `${'a'.repeat(500_000)}b`)).toBe(true);
    expect(() => ofValue({ $regex: 'b' }, 'a'.repeat(10_000_000))).toThrow(
      expect.objectContaining({
        code: 'request_too_large',
        param: 'x',
        message: expect.stringContaining('params.x is too long for the `$regex`'),
      }),
    );
  });

  test('costs more the larger it is, and the patterns of one request share one cost limit', () => {
    const text = 'a'.repeat(200_000);
    expect(() => ofValue({ $regex: '(a|b)*c(a|b){100}' }, text)).toThrow('too long');
    const query = { 'params.x': { $regex: 'b' } };
    expect(holds(query, { json: { x: text } })).toBe(false);
    expect(() => holds({ $or: Array.from({ length: 20 }, () => query) }, { json: { x: text } })).toThrow('too long');
  });

  test('has a cost limit per request', () => {
    const query = compileQuery({ 'params.x': { $regex: 'b' } });
    const json = { x: 'a'.repeat(400_000) };
    expect(Array.from({ length: 10 }, () => query(createExchange({ json })))).not.toContain(true);
  });
});
