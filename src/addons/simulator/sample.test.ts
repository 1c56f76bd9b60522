import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sampleFor } from './sample.ts';

const ajv = new Ajv2020({ strict: false });

describe('sampleFor', () => {
  test.each<[object, unknown]>([
    [{ type: 'string' }, 'sample'],
    [{ type: 'string', enum: ['c', 'f'] }, 'c'],
    [{ type: 'string', format: 'date' }, '2026-01-02'],
    [{ type: 'string', minLength: 8 }, 'samplexx'],
    [{ type: 'string', maxLength: 3 }, 'sam'],
    [{ type: ['null', 'integer'] }, 1],
    [{ const: 7 }, 7],
    [{ default: 'x' }, 'x'],
    [{ type: 'array', items: { type: 'boolean' }, minItems: 2 }, [true, true]],
    [{ anyOf: [{ type: 'number' }, { type: 'null' }] }, 1],
    [{ type: 'integer', exclusiveMinimum: 4 }, 5],
    [{ type: 'number', minimum: 0.5, maximum: 0.75 }, 0.5],
    [{ type: 'object', properties: { a: { type: 'string' }, b: {} }, required: ['a'] }, { a: 'sample' }],
    [{ type: 'object', properties: {}, required: ['constructor'] }, { constructor: 'sample' }],
    [
      {
        $defs: { city: { type: 'string', enum: ['Bern'] } },
        type: 'object',
        properties: { c: { $ref: '#/$defs/city' } },
        required: ['c'],
      },
      { c: 'Bern' },
    ],
    [
      {
        allOf: [{ type: 'object', properties: { a: { const: 1 } }, required: ['a'] }],
        properties: { b: { const: 2 } },
        required: ['b'],
      },
      { a: 1, b: 2 },
    ],
    [{}, 'sample'],
  ])('%j gives %j', (schema, value) => {
    expect(sampleFor(schema)).toEqual(value);
  });

  test('terminates for recursive schemas', () => {
    const schema = { type: 'object', properties: { next: { $ref: '#' } }, required: ['next'] };
    expect(JSON.stringify(sampleFor(schema))).toContain('null');
    expect(() => sampleFor({ $ref: '#' })).not.toThrow();
    expect(() => sampleFor({ allOf: [{ $ref: '#' }] })).not.toThrow();
  });

  test('returns a valid value for every schema of supported keywords', () => {
    const { schema } = fc.letrec<{ schema: object; leaf: object }>((tie) => ({
      leaf: fc.oneof(
        fc.constantFrom<object>(
          { type: 'boolean' },
          { type: 'null' },
          { type: ['null', 'string'] },
          { enum: ['x', 3] },
        ),
        fc.record({ type: fc.constant('string'), minLength: fc.nat(12) }),
        fc.record({ type: fc.constantFrom('integer', 'number'), minimum: fc.integer({ min: -9, max: 9 }) }),
        fc.record({ type: fc.constantFrom('integer', 'number'), exclusiveMaximum: fc.integer({ min: -9, max: 9 }) }),
      ),
      schema: fc.oneof(
        { depthSize: 'small' },
        tie('leaf'),
        fc.record({ type: fc.constant('array'), items: tie('schema'), minItems: fc.nat(3) }),
        fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }) }),
        fc
          .dictionary(fc.constantFrom('a', 'b', 'c', 'toString'), tie('schema'), { maxKeys: 3, noNullPrototype: true })
          .map((properties) => ({
            type: 'object',
            properties,
            required: Object.keys(properties),
            additionalProperties: false,
          })),
      ),
    }));
    fc.assert(
      fc.property(schema, (generated) => {
        const value = sampleFor(generated);
        expect(ajv.validate(generated, value), JSON.stringify({ generated, value })).toBe(true);
      }),
      { numRuns: 50 },
    );
  });
});
