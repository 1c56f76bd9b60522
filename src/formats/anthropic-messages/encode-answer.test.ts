import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Conversation, JsonObject } from '../conversation.ts';
import { deepFreeze, replyContext, requestTarget, encodeWith } from '../contexts.testkit.ts';
import { anthropicMessages } from './index.ts';
import { toOutputSchema } from './encode-answer.ts';

describe('toOutputSchema', () => {
  it('describes a format that is not a string, like every other that Claude does not enforce', () => {
    const { schema, moved } = toOutputSchema({ type: 'string', format: { toString: 1 } });
    expect(schema).toEqual({ type: 'string', description: 'format: {"toString":1}' });
    expect(moved).toEqual(['.format']);
  });

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
      moved: ['.properties.node.description'],
    });
  });

  it('keeps the first of two equivalent keywords, and describes the other', () => {
    const either = [{ type: 'string' }];
    expect(toOutputSchema({ anyOf: either, oneOf: [{ type: 'null' }] })).toEqual({
      schema: { anyOf: either, description: 'oneOf: [{"type":"null"}]' },
      moved: ['.oneOf'],
    });
  });

  const plain = {
    type: fc.constantFrom('object', 'array', 'string', 'integer', 'null', ['string', 'null']),
    description: fc.string(),
    format: fc.constantFrom('email', 'regex'),
    minimum: fc.integer(),
    pattern: fc.string(),
    enum: fc.array(fc.string()),
    $ref: fc.constant('#/$defs/a'),
    $schema: fc.constant('x'),
    required: fc.array(fc.string()),
    unknown: fc.jsonValue(),
  };
  const schemas: fc.Arbitrary<JsonObject> = fc.letrec<{ schema: JsonObject; nested: JsonObject }>((tie) => {
    const list = fc.array(tie('schema'), { maxLength: 2 });
    const map = fc.dictionary(fc.constantFrom('a', 'b', '__proto__', 'additionalProperties', 'anyOf'), tie('schema'), {
      maxKeys: 2,
    });
    return {
      schema: fc.oneof({ maxDepth: 3 }, fc.record<JsonObject>(plain, { requiredKeys: [] }), tie('nested')),
      nested: fc.record<JsonObject>(
        {
          ...plain,
          properties: map,
          $defs: map,
          items: fc.oneof(tie('schema'), fc.boolean()),
          anyOf: list,
          oneOf: list,
          allOf: list,
          additionalProperties: fc.oneof(fc.boolean(), tie('schema')),
        },
        { requiredKeys: [] },
      ),
    };
  }).schema;

  it('never changes its input, and leaves its own output unchanged', () => {
    fc.assert(
      fc.property(schemas, (schema) => {
        const before = JSON.stringify(schema);
        const { schema: clean } = toOutputSchema(deepFreeze(schema));
        expect(JSON.stringify(schema)).toBe(before);
        expect(toOutputSchema(deepFreeze(clean))).toEqual({ schema: clean, moved: [] });
      }),
    );
  });

  it('leaves the caller’s schema unchanged in a request: as an answer, as a tool, on both hosts', () => {
    fc.assert(
      fc.property(schemas, fc.constantFrom('direct' as const, 'vertex' as const), (schema, host) => {
        const before = JSON.stringify(schema);
        const conversation = deepFreeze<Conversation>({
          model: 'm',
          turns: [],
          maxTokens: 100,
          sampling: {},
          stream: false,
          tools: [{ type: 'function', name: 'f', parameters: schema }],
          responseFormat: { type: 'json_schema', description: 'd', schema },
        });
        const target = requestTarget({ model: 'claude-sonnet-4-5', host });
        const { body } = encodeWith(anthropicMessages, conversation, target, replyContext());
        expect(JSON.stringify(schema)).toBe(before);
        expect(body.tools).toMatchObject([
          { input_schema: { ...schema, type: 'object' } },
          ...(host === 'vertex' ? [{}] : []),
        ]);
      }),
    );
  });

  it('describes the constraints that Claude cannot enforce, and reports their places', () => {
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
