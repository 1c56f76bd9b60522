import { describe, expect, test } from 'vitest';
import type { Problem } from '../plugin/index.ts';
import { checkOptions } from './plugin-options.ts';

const SCHEMA = {
  type: 'object',
  additionalProperties: false,
  required: ['header'],
  properties: {
    header: { type: 'string', minLength: 1 },
    mode: { type: 'string', enum: ['set', 'append'] },
    since: { type: 'string', format: 'date-time' },
    ratio: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 },
    match: { type: 'string', pattern: '^a+$' },
    nested: { $ref: '#/definitions/nested' },
  },
  definitions: { nested: { type: 'object', additionalProperties: false, properties: { depth: { type: 'integer' } } } },
};

function problemsOf(options: unknown, schema: object = SCHEMA): readonly Problem[] {
  const problems: Problem[] = [];
  const of = { schema, trusted: false };
  const fine = checkOptions(of, options, ['chains', 'request', 0, 'options'], (problem) => problems.push(problem));
  expect(fine).toBe(problems.length === 0);
  return problems;
}

describe('checkOptions', () => {
  test('has nothing to say about options that fit', () => {
    expect(problemsOf({ header: 'x', mode: 'set', since: '2027-01-01T00:00:00Z', nested: { depth: 1 } })).toEqual([]);
  });

  test.each([
    [{}, '`header` is missing'],
    [{ haeder: 'x' }, 'unknown key `haeder`, and `header` is missing; header'],
    [{ header: 'x', mode: 'apend' }, '`mode` must be set or append, not "apend"; append'],
    [{ header: 'x', depth: 1 }, 'unknown key `depth`: it belongs under `nested:`'],
    [{ header: 'x', nested: { dept: 1 } }, 'unknown key `dept`; depth'],
    [{ header: 'x', nested: { header: 'y' } }, 'unknown key `header`: it belongs beside `nested:`, not under it'],
    [{ header: 'x', since: 'tomorrow' }, '`since` must look like "2027-01-01T00:00:00Z", not "tomorrow"'],
    [{ header: 'x', ratio: 1 }, '`ratio` must be less than 1, not 1'],
    [{ header: 'x', ratio: 0 }, '`ratio` must be more than 0, not 0'],
    [{ header: 'x', match: 'b' }, '`match` must match pattern "^a+$", which "b" does not'],
  ])('tells what is wrong with %j', (options, told) => {
    expect(
      problemsOf(options).map(({ message, suggestion }) => [message, suggestion].filter(Boolean).join('; ')),
    ).toEqual([told]);
  });

  test('points into the options', () => {
    expect(problemsOf({ header: 'x', nested: { dept: 1 } })).toMatchObject([
      { path: ['chains', 'request', 0, 'options', 'nested', 'dept'], on: 'key' },
    ]);
  });

  test('tells an author’s mistake in the schema itself, and does not throw', () => {
    for (const schema of [{ type: 'objekt' }, { $ref: '#/definitions/none' }, { type: 'object', propertys: {} }]) {
      expect(problemsOf({}, schema)).toEqual([
        {
          path: ['chains', 'request', 0, 'options'],
          message: expect.stringContaining('schema for its options is not usable'),
        },
      ]);
    }
  });

  test('takes two plugins whose schemas have one `$id`', () => {
    const schema = (type: string) => ({
      $id: 'https://example.com/options.json',
      type: 'object',
      properties: { a: { type } },
    });
    expect(problemsOf({ a: 1 }, schema('string'))).toHaveLength(1);
    expect(problemsOf({ a: 1 }, schema('number'))).toHaveLength(0);
  });
});
