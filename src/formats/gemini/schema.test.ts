import { describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import { deepFreeze } from '../contexts.testkit.ts';
import { toCarrier } from './schema.ts';

const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });
const property = (schema: object) => toCarrier(object({ p: schema })).schema?.['properties'];

describe('JSON Schema on the wire', () => {
  it.each([
    ['references stay, without their siblings', { $ref: '#/$defs/A', title: 'x' }, { $ref: '#/$defs/A' }],
    ['references to definitions move with them', { $ref: '#/definitions/A' }, { $ref: '#/$defs/A' }],
    ['null stays in a list of types', { type: ['string', 'null'] }, { type: ['string', 'null'] }],
    [
      'oneOf is anyOf',
      { oneOf: [{ type: 'string' }, { type: 'null' }] },
      { anyOf: [{ type: 'string' }, { type: 'null' }] },
    ],
    ['const is an enumeration of one', { const: 'a' }, { enum: ['a'], type: 'string' }],
    ['a constant number has its type', { const: 2 }, { enum: [2], type: 'integer' }],
    [
      'null leaves an enumeration for the type',
      { type: 'string', enum: ['a', null] },
      { type: ['string', 'null'], enum: ['a'] },
    ],
    ['numbers stay in an enumeration', { enum: [1, 2.5] }, { enum: [1, 2.5], type: ['integer', 'number'] }],
    [
      'other values go to the description',
      { enum: [true, false] },
      { type: 'boolean', description: '(enum: [true,false])' },
    ],
    ['times keep their format', { type: 'string', format: 'date-time' }, { type: 'string', format: 'date-time' }],
    [
      'other text formats go to the description',
      { type: 'string', format: 'email' },
      { type: 'string', description: '(format: "email")' },
    ],
    ['numbers keep their format', { type: 'integer', format: 'int32' }, { type: 'integer', format: 'int32' }],
    [
      'constraints that cannot be enforced go to the description',
      { type: 'string', pattern: '^a$', maxLength: 3, description: 'd' },
      { type: 'string', description: 'd (pattern: "^a$", maxLength: 3)' },
    ],
    ['properties make an object', { properties: { a: true } }, { type: 'object', properties: { a: {} } }],
    [
      'a list under items is prefixItems',
      { type: 'array', items: [{ type: 'string' }] },
      { type: 'array', prefixItems: [{ type: 'string' }] },
    ],
    [
      'additionalProperties stay',
      { type: 'object', additionalProperties: { type: 'number', multipleOf: 2 } },
      { type: 'object', additionalProperties: { type: 'number', description: '(multipleOf: 2)' } },
    ],
    ['one wrapped reference stays one', { allOf: [{ $ref: '#/$defs/A' }], description: 'd' }, { $ref: '#/$defs/A' }],
  ])('%s', (_, schema, wire) => {
    expect(property(schema)).toEqual({ p: wire });
  });

  it('merges thousands of allOf branches into one object; a value of another kind replaces those before it', () => {
    const names = Array.from({ length: 5000 }, (_, n) => `p${n}`);
    const branches = names.map((name) => ({ properties: { [name]: { type: 'string' } }, required: [name, 'p0'] }));
    const { schema } = toCarrier({ type: 'object', allOf: branches });
    expect(schema?.['required']).toEqual(names);
    expect(Object.keys(schema?.['properties'] ?? {})).toEqual(names);
    const odd = toCarrier({
      title: 'T',
      properties: { a: {}, b: {}, c: {} },
      allOf: [{ required: ['a'] }, { required: 5 }, { required: ['b'] }, { required: ['c'] }],
    });
    expect(odd.schema).toMatchObject({ title: 'T', required: ['b', 'c'] });
  });

  const ref = { required: ['ref'] };
  it.each([
    ['no properties', { type: 'object', properties: {}, ...ref }, undefined],
    [
      'other properties',
      { type: 'object', properties: { a: {} }, required: ['a', 'ref'] },
      { type: 'object', properties: { a: {} }, required: ['a'] },
    ],
    ['a description alone', { type: 'object', description: 'd', ...ref }, { type: 'object', description: 'd' }],
    [
      'a property inside',
      { type: 'object', properties: { a: { type: 'object', properties: { b: {} }, ...ref } } },
      { type: 'object', properties: { a: { type: 'object', properties: { b: {} } } } },
    ],
    [
      'items',
      { type: 'array', items: { type: 'object', properties: { b: {} }, ...ref } },
      { type: 'array', items: { type: 'object', properties: { b: {} } } },
    ],
    [
      'a definition',
      { $ref: '#/$defs/d', $defs: { d: { type: 'object', properties: { b: {} }, ...ref } } },
      { $ref: '#/$defs/d', $defs: { d: { type: 'object', properties: { b: {} } } } },
    ],
    ['a property that no value fits', { type: 'object', properties: { ref: false }, ...ref }, undefined],
    [
      'a name of Object.prototype',
      { type: 'object', properties: { a: {} }, required: ['toString'] },
      expect.anything(),
    ],
  ])('requires no property that is not defined, and reports it: %s', (_where, schema, sent) => {
    const carried = toCarrier(schema);
    expect(carried.schema).toEqual(sent);
    expect(carried.dropped).toContain('required');
    expect(JSON.stringify(carried.schema ?? {})).not.toMatch(/toString|"ref"/);
  });

  it('reports nothing about properties that are all defined', () => {
    const schema = { type: 'object', properties: { a: {}, b: {} }, required: ['b', 'a'] };
    expect(toCarrier(schema)).toMatchObject({ schema: { required: ['b', 'a'] }, dropped: [] });
  });

  it('merges allOf: properties and required together, later branches win, references are looked up', () => {
    const { schema } = toCarrier({
      $defs: { Base: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] } },
      allOf: [{ $ref: '#/$defs/Base' }, { properties: { b: { type: 'number' } }, required: ['b'] }],
      title: 'T',
    });
    expect(schema).toEqual({
      title: 'T',
      type: 'object',
      required: ['a', 'b'],
      $defs: { Base: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] } },
      properties: { a: { type: 'string' }, b: { type: 'number' } },
    });
  });

  it('definitions that multiply are resolved up to a limit and stay references beyond it', () => {
    const definitions = Object.fromEntries(
      Array.from({ length: 40 }, (_, at) => {
        const next = { allOf: [{ $ref: `#/$defs/d${at + 1}` }, { title: 't' }] };
        return [`d${at}`, object({ l: next, r: next })];
      }),
    );
    const { schema } = toCarrier({ allOf: [{ $ref: '#/$defs/d0' }, { title: 't' }], $defs: definitions });
    const text = JSON.stringify(schema);
    expect(text.length).toBeLessThan(2_000_000);
    expect(text).toContain('{"$ref":"#/$defs/d');
  });

  it('a chain of thousands of definitions ends without a deep stack', () => {
    const definitions = Object.fromEntries(
      Array.from({ length: 5000 }, (_, at) => [
        `d${at}`,
        { allOf: [{ $ref: `#/$defs/d${at + 1}` }, { title: 't' }], properties: { [`p${at}`]: {} } },
      ]),
    );
    const { schema } = toCarrier({ allOf: [{ $ref: '#/$defs/d0' }, { title: 't' }], $defs: definitions });
    expect(schema).toBeDefined();
  });

  it('branches that nest in each of many definitions end without a deep stack', () => {
    const nested = (levels: number, inner: object): object =>
      levels === 0 ? inner : { allOf: [nested(levels - 1, inner)] };
    const $defs = Object.fromEntries(
      Array.from({ length: 129 }, (_, at) => [`d${at}`, nested(28, { $ref: `#/$defs/d${at + 1}`, title: 't' })]),
    );
    expect(toCarrier({ allOf: [{ $ref: '#/$defs/d0' }, {}], $defs }).dropped).toContain('allOf beside $ref');
  });

  it('a definition beside a reference is converted once, at any depth', () => {
    let reads = 0;
    const leaf = Object.defineProperty({}, 'title', { enumerable: true, get: () => `read ${(reads += 1)}` });
    const nested = (levels: number): object =>
      levels === 0 ? leaf : { $ref: '#/x', $defs: { a: nested(levels - 1) }, definitions: {} };
    toCarrier({ ...nested(12) });
    expect(reads).toBeLessThan(5);
  });

  it('a branch that wraps a reference keeps the branches beside that reference', () => {
    const wrapping = { allOf: [{ $ref: '#/$defs/a', allOf: [{ required: ['x'] }] }] };
    const { schema, dropped } = toCarrier({ allOf: [wrapping, {}], $defs: { a: { properties: { x: {} } } } });
    expect(schema).toMatchObject({ properties: { x: {} }, required: ['x'] });
    expect(schema).not.toHaveProperty('allOf');
    expect(dropped).toEqual([]);
  });

  it.each(['$defs', 'definitions'])('a definition of %s may be named __proto__', (keyword) => {
    const schema = JSON.parse(`{"type":"object","properties":{"p":{}},"${keyword}":{"__proto__":{"type":"string"}}}`);
    expect(JSON.stringify(toCarrier(schema).schema?.['$defs'])).toBe('{"__proto__":{"type":"string"}}');
  });

  it('an inherited property name is not a definition', () => {
    const { dropped } = toCarrier({ allOf: [{ $ref: '#/$defs/__proto__' }, { type: 'string' }], $defs: {} });
    expect(dropped).toEqual(['allOf with #/$defs/__proto__']);
  });

  it('an allOf that refers to itself ends', () => {
    const schema = {
      $defs: { A: { allOf: [{ $ref: '#/$defs/A' }, { properties: { x: {} } }] } },
      allOf: [{ $ref: '#/$defs/A' }, {}],
    };
    expect(toCarrier(schema).schema).toMatchObject({ properties: { x: {} } });
  });

  it('a property may have the name of a keyword', () => {
    const schema = object({
      additionalProperties: { type: 'string' },
      $ref: { type: 'string' },
      pattern: { type: 'string' },
    });
    expect(toCarrier(schema)).toEqual({ schema, described: [], dropped: [] });
  });

  it('a property may be named __proto__', () => {
    const schema = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}');
    expect(JSON.stringify(toCarrier(schema).schema)).toBe(JSON.stringify(schema));
  });

  it('a property with a false schema is omitted', () => {
    expect(toCarrier(object({ a: false, b: true })).schema).toEqual(object({ b: {} }));
  });

  it.each([[{}], [{ type: 'object' }], [object({}, { additionalProperties: false, $schema: 'x', title: 'Args' })]])(
    'an empty object is omitted: %j',
    (schema) => {
      expect(toCarrier(schema).schema).toBeUndefined();
    },
  );

  it('an object of anything is not empty', () => {
    expect(toCarrier({ type: 'object', additionalProperties: true }).schema).toBeDefined();
  });

  it('reports each keyword that changed its meaning, once', () => {
    const schema = object(
      { a: { type: 'string', minLength: 1 }, b: { minLength: 2, examples: [1] } },
      { $schema: 's' },
    );
    expect(toCarrier(schema)).toMatchObject({ described: ['minLength'], dropped: ['examples'] });
  });

  it('moves the other annotations to the description, and reports a dropped $comment', () => {
    const a = { type: 'string', description: 'd', readOnly: true, deprecated: true, $comment: 'c' };
    expect(toCarrier(object({ a }))).toEqual({
      schema: object({ a: { type: 'string', description: 'd (readOnly: true, deprecated: true)' } }),
      described: [],
      dropped: ['$comment'],
    });
  });

  it('moves a default to the description, which is no loss', () => {
    expect(toCarrier(object({ a: { type: 'number', default: 2 } }))).toEqual({
      schema: object({ a: { type: 'number', description: '(default: 2)' } }),
      described: [],
      dropped: [],
    });
  });

  it('reports a false schema wherever it is omitted', () => {
    const tuple = { type: 'array', prefixItems: [{ type: 'string' }], items: false };
    expect(toCarrier(object({ a: tuple }))).toMatchObject({
      schema: object({ a: { type: 'array', prefixItems: [{ type: 'string' }] } }),
      dropped: ['false schemas'],
    });
  });

  it('keeps the definitions of every merged branch', () => {
    const branch = { $defs: { B: { type: 'number' } }, properties: { b: { $ref: '#/$defs/B' } } };
    expect(toCarrier({ $defs: { A: { type: 'string' } }, allOf: [branch, {}] }).schema).toMatchObject({
      $defs: { A: { type: 'string' }, B: { type: 'number' } },
    });
  });

  it('stops at the reference when merged references form a cycle', () => {
    const node = {
      type: 'object',
      properties: { next: { allOf: [{ $ref: '#/$defs/node' }, { properties: { a: {} } }] } },
    };
    const { schema, dropped } = toCarrier({ $defs: { node }, ...node });
    const next = { type: 'object', properties: { a: {}, next: { $ref: '#/$defs/node' } } };
    expect(schema?.['properties']).toEqual({ next });
    expect(dropped).toEqual(['allOf beside $ref']);
    const inside = { $defs: { a: { allOf: [{ $ref: '#/$defs/a' }], properties: {} } } };
    expect(
      toCarrier({ $defs: { a: inside }, type: 'object', properties: { x: { $ref: '#/$defs/a' } } }).schema,
    ).toBeDefined();
  });

  it('reports a reference in allOf that leads nowhere', () => {
    const { schema, dropped } = toCarrier(object({ a: { allOf: [{ $ref: '#/nowhere' }, { type: 'string' }] } }));
    expect(schema).toEqual(object({ a: { type: 'string' } }));
    expect(dropped).toEqual(['allOf with #/nowhere']);
  });

  it('stays small when references would multiply', () => {
    const ref = (at: number) => ({ $ref: `#/$defs/d${at}` });
    const $defs = Object.fromEntries(
      Array.from({ length: 40 }, (_, at) => [
        `d${at}`,
        {
          allOf: [ref(at + 1), ref(at + 1)],
          properties: { p: { allOf: [ref(at + 1), {}] }, q: { allOf: [ref(at + 1), {}] } },
        },
      ]),
    );
    const { schema, dropped } = toCarrier({ $defs: { ...$defs, d40: { type: 'object' } }, allOf: [ref(0), {}] });
    expect(JSON.stringify(schema).length).toBeLessThan(500_000);
    expect(dropped).toContain('allOf beside $ref');
  });

  it('never changes its input', () => {
    const schemas = fc.dictionary(
      fc.constantFrom('type', 'allOf', 'enum', 'properties', 'items', '$ref', 'const', 'not'),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(schemas, (schema) => {
        const frozen = deepFreeze(schema);
        expect(toCarrier({ type: 'object', properties: { a: frozen } })).toEqual(
          toCarrier({ type: 'object', properties: { a: frozen } }),
        );
      }),
    );
  });
});
