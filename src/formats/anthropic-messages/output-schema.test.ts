import { describe, expect, it } from 'vitest';
import { deepFreeze } from '../laws.testkit.ts';
import { toOutputSchema } from './output-schema.ts';

describe('toOutputSchema', () => {
  it('keeps what Claude enforces, closes every object and leaves its input alone', () => {
    const schema = deepFreeze({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        additionalProperties: { type: 'string', format: 'email' },
        node: { $ref: '#/$defs/node', description: 'dropped beside a reference' },
        either: { oneOf: [{ type: 'object', properties: {} }, { type: 'null' }] },
        list: { type: 'array', items: { properties: { a: true } } },
      },
      required: ['node'],
      additionalProperties: false,
      $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } },
    });
    expect(toOutputSchema(schema)).toEqual({
      schema: {
        type: 'object',
        properties: {
          additionalProperties: { type: 'string', format: 'email' },
          node: { $ref: '#/$defs/node' },
          either: { anyOf: [{ type: 'object', properties: {}, additionalProperties: false }, { type: 'null' }] },
          list: { type: 'array', items: { properties: { a: true }, additionalProperties: false } },
        },
        required: ['node'],
        additionalProperties: false,
        $defs: {
          node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } }, additionalProperties: false },
        },
      },
      moved: [],
    });
  });

  it('tells the model what it cannot enforce, and says where', () => {
    const { schema, moved } = toOutputSchema({
      type: 'object',
      description: 'A person.',
      properties: { name: { type: 'string', maxLength: 9, pattern: '^a' }, at: { type: 'string', format: 'regex' } },
      additionalProperties: { type: 'string' },
    });
    expect(schema).toEqual({
      type: 'object',
      description: 'A person.\nadditionalProperties: {"type":"string"}',
      properties: {
        name: { type: 'string', description: 'maxLength: 9, pattern: "^a"' },
        at: { type: 'string', description: 'format: "regex"' },
      },
      additionalProperties: false,
    });
    expect(moved.toSorted()).toEqual([
      '.additionalProperties',
      '.properties.at.format',
      '.properties.name.maxLength',
      '.properties.name.pattern',
    ]);
  });
});
