import { describe, expect, test } from 'vitest';
import type { Problem } from '../../kernel/report.ts';
import { readOptions } from './plugin-options.ts';

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

function problemsOf(options: Readonly<Record<string, unknown>>, schema: object = SCHEMA): readonly Problem[] {
  const problems: Problem[] = [];
  const of = { schema, trusted: false };
  const read = readOptions(of, options, ['chains', 'request', 0, 'options'], (problem) => problems.push(problem));
  expect(read !== undefined).toBe(problems.length === 0);
  return problems;
}

describe('readOptions', () => {
  test('reports nothing for valid options', () => {
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
  ])('reports the mistake in %j', (options, reported) => {
    expect(
      problemsOf(options).map(({ message, suggestion }) => [message, suggestion].filter(Boolean).join('; ')),
    ).toEqual([reported]);
  });

  test('reports paths inside the options', () => {
    expect(problemsOf({ header: 'x', nested: { dept: 1 } })).toMatchObject([
      { path: ['chains', 'request', 0, 'options', 'nested', 'dept'], on: 'key' },
    ]);
  });

  test('reports a mistake in the schema itself without throwing', () => {
    for (const schema of [{ type: 'objekt' }, { $ref: '#/definitions/none' }, { type: 'object', propertys: {} }]) {
      expect(problemsOf({}, schema)).toEqual([
        {
          path: ['chains', 'request', 0, 'options'],
          message: expect.stringContaining('schema for its options is invalid'),
        },
      ]);
    }
  });

  test('accepts two plugins whose schemas have the same `$id`', () => {
    const schema = (type: string) => ({
      $id: 'https://example.com/options.json',
      type: 'object',
      properties: { a: { type } },
    });
    expect(problemsOf({ a: 1 }, schema('string'))).toHaveLength(1);
    expect(problemsOf({ a: 1 }, schema('number'))).toHaveLength(0);
  });
});

describe('the defaults of a schema', () => {
  const schemaOf = (properties: object, more: object = {}): object => ({
    type: 'object',
    additionalProperties: false,
    properties,
    ...more,
  });
  const read = (options: Readonly<Record<string, unknown>>, schema: object): unknown =>
    readOptions({ schema, trusted: false }, options, [], ({ message }) => {
      throw new Error(message);
    });
  const retry = schemaOf({ times: { type: 'integer', default: 3 }, pause: { type: 'string', default: '1s' } });

  test.each<[string, Readonly<Record<string, unknown>>, object, object]>([
    ['stand where an option is left out', {}, schemaOf({ mode: { type: 'string', default: 'set' } }), { mode: 'set' }],
    [
      'give way to what is written',
      { mode: 'x' },
      schemaOf({ mode: { type: 'string', default: 'set' } }),
      { mode: 'x' },
    ],
    ['fill in what is required', {}, schemaOf({ a: { type: 'integer', default: 1 } }, { required: ['a'] }), { a: 1 }],
    [
      'stand inside an object that is written',
      { retry: { times: 1 } },
      schemaOf({ retry }),
      { retry: { times: 1, pause: '1s' } },
    ],
    ['make no object that is left out', {}, schemaOf({ retry }), {}],
    [
      'fill an object that has a default itself',
      {},
      schemaOf({ retry: { ...retry, default: {} } }),
      { retry: { times: 3, pause: '1s' } },
    ],
    [
      'stand in items of a list',
      { list: [{}] },
      schemaOf({ list: { type: 'array', items: retry } }),
      { list: [{ times: 3, pause: '1s' }] },
    ],
    [
      'stand behind a reference',
      { retry: {} },
      schemaOf({ retry: { $ref: '#/definitions/retry' } }, { definitions: { retry } }),
      { retry: { times: 3, pause: '1s' } },
    ],
  ])('%s', (_, options, schema, expected) => {
    const before = structuredClone(options);
    expect(read(options, schema)).toEqual(expected);
    expect(options).toEqual(before);
  });

  test('do not hide other mistakes in the options', () => {
    const schema = schemaOf(
      { max_keys: { type: 'integer', default: 16 }, a: { type: 'integer', default: 1 } },
      { required: ['a', 'b'] },
    );
    expect(problemsOf({ max_kyes: 1 }, schema)).toMatchObject([
      { message: '`b` is missing' },
      { message: 'unknown key `max_kyes`', suggestion: 'max_keys' },
    ]);
  });

  test('are copied for each use', () => {
    const schema = schemaOf({ list: { type: 'array', items: { type: 'string' }, default: [] } });
    const [one, other] = [read({}, schema), read({}, schema)] as { list: string[] }[];
    one!.list.push('x');
    expect(other).toEqual({ list: [] });
  });

  test.each([
    ['times', schemaOf({ times: { type: 'integer', default: 'three' } }), {}],
    ['times', schemaOf({ times: { type: 'integer', default: 'three' } }), { times: 1 }],
    ['pause', schemaOf({ deep: schemaOf({ pause: { type: 'string', minLength: 2, default: '' } }) }), {}],
  ])('are validated against their own schema: %s', (name, schema, options) => {
    expect(problemsOf(options, schema)).toEqual([
      {
        path: ['chains', 'request', 0, 'options'],
        message: expect.stringContaining(`the default of \`${name}\` is refused by its own schema`),
      },
    ]);
  });
});
