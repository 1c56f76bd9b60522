import { type Cases, fn } from './case.ts';
import type { Json } from '../outbound.ts';

/** A function whose parameters hold this property. */
const property = (schema: Json, root: Json = {}): Json => ({
  tools: [fn('f', { parameters: { type: 'object', properties: { a: schema }, ...root } })],
});

const node = {
  type: 'object',
  properties: { name: { type: 'string' }, next: { $ref: '#/$defs/node' } },
  required: ['name'],
};

const answer = (schema: Json): Json => ({
  response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } },
});
const object = (properties: Json, rest: Json = {}): Json => ({ type: 'object', properties, ...rest });

/**
 * Parameters of functions, then schemas of answers (docs/protocols/requests.md#json-schema-for-gemini,
 * docs/protocols/requests.md#json-schema-for-claude).
 */
export const schemas: Cases = {
  ref: {
    title: 'a reference',
    request: property({ $ref: '#/$defs/name' }, { $defs: { name: { type: 'string' } } }),
  },
  'ref-definitions': {
    title: 'a reference in the older spelling',
    request: property({ $ref: '#/definitions/name' }, { definitions: { name: { type: 'string' } } }),
  },
  'ref-siblings': {
    title: 'a reference with a description beside it',
    request: property({ $ref: '#/$defs/name', description: 'First name.' }, { $defs: { name: { type: 'string' } } }),
  },
  recursive: { title: 'a schema that holds itself', request: property({ $ref: '#/$defs/node' }, { $defs: { node } }) },
  'null-in-type': { title: 'a type that may be null', request: property({ type: ['string', 'null'] }) },
  'several-types': { title: 'a type of several', request: property({ type: ['string', 'integer'] }) },
  'null-in-any-of': {
    title: 'alternatives with null',
    request: property({ anyOf: [{ type: 'string' }, { type: 'null' }] }),
  },
  'one-of': {
    title: 'exclusive alternatives',
    request: property({ oneOf: [{ type: 'string' }, { type: 'integer' }] }),
  },
  'all-of': {
    title: 'schemas that all hold',
    request: property({
      allOf: [
        object({ x: { type: 'string' } }, { required: ['x'] }),
        object({ y: { type: 'integer' } }, { required: ['y'] }),
      ],
    }),
  },
  const: { title: 'a constant', request: property({ const: 'on' }) },
  enum: { title: 'an enumeration', request: property({ type: 'string', enum: ['on', 'off'] }) },
  'enum-numbers': { title: 'an enumeration of numbers', request: property({ type: 'integer', enum: [1, 2] }) },
  'enum-null': {
    title: 'an enumeration with null',
    request: property({ type: ['string', 'null'], enum: ['on', null] }),
  },
  'enum-booleans': { title: 'an enumeration of truth values', request: property({ enum: [true] }) },
  constraints: {
    title: 'constraints on numbers, texts and lists',
    request: property(
      { type: 'integer', minimum: 1, exclusiveMaximum: 10, multipleOf: 3 },
      {
        properties: {
          a: { type: 'integer', minimum: 1, exclusiveMaximum: 10, multipleOf: 3 },
          b: { type: 'string', minLength: 1, maxLength: 3, pattern: '^a' },
          c: { type: 'array', items: { type: 'string' }, minItems: 1, uniqueItems: true },
        },
      },
    ),
  },
  formats: {
    title: 'formats of texts, known and unknown',
    request: property(
      {},
      {
        properties: {
          a: { type: 'string', format: 'date-time' },
          b: { type: 'string', format: 'email', description: 'Where to write.' },
        },
      },
    ),
  },
  tuple: {
    title: 'a list with a schema for each place',
    request: property({ type: 'array', prefixItems: [{ type: 'number' }, { type: 'string' }] }),
  },
  additional: {
    title: 'further properties, and one that is called so',
    request: property(
      { type: 'object', additionalProperties: { type: 'string' } },
      {
        properties: { additionalProperties: { type: 'string' }, a: { type: 'object', additionalProperties: true } },
        additionalProperties: false,
      },
    ),
  },
  annotations: {
    title: 'annotations',
    request: property(
      { type: 'string', title: 'A', default: 'x', examples: ['y'] },
      { $schema: 'http://json-schema.org/draft-07/schema#', title: 'F' },
    ),
  },
  'truth-schemas': {
    title: 'schemas that are true and false',
    request: property({}, { properties: { a: true, b: false } }),
  },
  'nested-empty': { title: 'an object without properties inside', request: property({ type: 'object' }) },
  'strict-constraints': {
    title: 'constraints of a strict function',
    request: {
      tools: [
        fn('f', {
          strict: true,
          parameters: object(
            { a: { type: 'string', pattern: '^a' } },
            { required: ['a'], additionalProperties: false },
          ),
        }),
      ],
    },
  },
  'answer-constraints': {
    title: 'an answer with constraints',
    request: answer(
      object(
        {
          n: { type: 'integer', minimum: 1, maximum: 9 },
          s: { type: 'string', pattern: '^a', description: 'Begins so.' },
        },
        { required: ['n', 's'], additionalProperties: false },
      ),
    ),
  },
  'answer-ref': {
    title: 'an answer with references',
    request: answer(
      object(
        { first: { $ref: '#/$defs/item' }, rest: { type: 'array', items: { $ref: '#/$defs/item' } } },
        { $defs: { item: object({ id: { type: 'string', format: 'uuid' } }) }, required: ['first'] },
      ),
    ),
  },
  'answer-one-of': {
    title: 'an answer with alternatives, one of them null',
    request: answer(object({ a: { oneOf: [{ type: 'string' }, { type: 'null' }] } }, { required: ['a'] })),
  },
  'answer-format': {
    title: 'an answer with an unknown format',
    request: answer(object({ a: { type: 'string', format: 'isbn' }, b: { type: 'string', format: 'date' } })),
  },
};
