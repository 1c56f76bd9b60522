import { members, nest, repeat, text, type Json } from './repeat.ts';

/** A reference with definitions under both keywords that hold them, so many levels deep. */
const referring = (levels: number): unknown =>
  nest(levels, (inner) => ({ $ref: '#/x', $defs: { a: inner }, definitions: {} }), {});

/** JSON Schemas that are hard on code that walks, copies or merges them. */
export const SCHEMAS: Readonly<Record<string, (bytes: number) => Json>> = {
  'a wide schema': (bytes) => ({ type: 'object', properties: members(bytes, (at) => [`p${at}`, { type: 'string' }]) }),
  'a wide schema of constraints': (bytes) => ({
    type: 'object',
    properties: members(bytes, (at) => [`p${at}`, { type: 'string', minLength: 1, pattern: '^a' }]),
  }),
  'deep schemas': (bytes) => ({
    type: 'object',
    properties: members(bytes, (at) => [
      `p${at}`,
      nest(25, (inner) => ({ type: 'object', properties: { a: inner } }), { type: 'string', maxLength: 5 }),
    ]),
  }),
  'a deep schema with long names': (bytes) =>
    nest(20, (inner) => ({ type: 'object', minProperties: 1, properties: { [text(bytes / 20, 'name.')]: inner } }), {
      type: 'string',
    }) as Json,
  'unknown keywords': (bytes) => ({ type: 'object', ...members(bytes, (at) => [`x-keyword-${at}`, at]) }),
  'unknown keywords at every level': (bytes) => ({
    type: 'object',
    properties: members(bytes, (at) => [`p${at}`, { type: 'string', [`x-${at}`]: at }]),
  }),
  references: (bytes) => ({
    type: 'object',
    properties: members(bytes, (at) => [`p${at}`, { $ref: '#/$defs/d', description: 'x' }]),
    $defs: { d: { type: 'string' } },
  }),
  // The deeper, the more bytes: what walks a level twice costs twice as much with each.
  'definitions beside references': (bytes) => ({
    type: 'object',
    properties: members(bytes, (at) => [`p${at}`, referring(Math.ceil(bytes / 100_000))]),
  }),
  'definitions beside references of the greatest depth': (bytes) => ({
    type: 'object',
    properties: members(bytes, (at) => [`p${at}`, referring(27)]),
  }),
  'many merged definitions around many merged schemas': (bytes) => ({
    allOf: repeat(bytes / 3, (at) => ({ $ref: `#/$defs/d${at}` })),
    properties: members(bytes / 3, (at) => [`p${at}`, { allOf: [{ $ref: '#/$defs/x' }, {}] }]),
    $defs: { x: {}, ...members(bytes / 3, (at) => [`d${at}`, {}]) },
  }),
  'branches that nest in definitions that nest': (bytes) => ({
    allOf: [{ $ref: '#/$defs/d0' }, {}],
    $defs: members(bytes, (at) => [
      `d${at}`,
      nest(25, (inner) => ({ allOf: [inner] }), { $ref: `#/$defs/d${at + 1}`, title: 't' }),
    ]),
  }),
  'definitions that name each other twice': (bytes) => ({
    type: 'object',
    properties: { a: { allOf: [{ $ref: '#/$defs/d0' }, { title: 'a' }] } },
    $defs: members(bytes, (at) => [
      `d${at}`,
      {
        properties: {
          [`l${at}`]: { allOf: [{ $ref: `#/$defs/d${at + 1}` }, { title: 'l' }] },
          [`r${at}`]: { allOf: [{ $ref: `#/$defs/d${at + 1}` }, { title: 'r' }] },
        },
      },
    ]),
  }),
  'a large definition merged many times': (bytes) => ({
    type: 'object',
    properties: members(bytes / 2, (at) => [`p${at}`, { allOf: [{ $ref: '#/$defs/big' }, { title: 't' }] }]),
    $defs: { big: { type: 'object', properties: members(bytes / 2, (at) => [`q${at}`, { type: 'string' }]) } },
  }),
  'a chain of merged definitions': (bytes) => ({
    type: 'object',
    allOf: [{ $ref: '#/$defs/d0' }, { title: 't' }],
    $defs: members(bytes, (at) => [
      `d${at}`,
      {
        allOf: [{ $ref: `#/$defs/d${at + 1}` }, { title: 't' }],
        properties: Object.fromEntries(Array.from({ length: 20 }, (_, p) => [`p${at}_${p}`, { type: 'string' }])),
      },
    ]),
  }),
  'many branches of allOf': (bytes) => ({
    allOf: repeat(bytes, (at) => ({ properties: { [`p${at}`]: { type: 'string' } }, required: [`p${at}`] })),
  }),
  'many branches of anyOf and oneOf': (bytes) => ({
    anyOf: repeat(bytes / 2, (at) => ({ type: 'object', properties: { a: { const: at } } })),
    oneOf: repeat(bytes / 2, (at) => ({ type: 'object', properties: { a: { const: at } } })),
  }),
  'branches within branches': (bytes) => ({
    anyOf: repeat(bytes, (at) => nest(12, (inner) => ({ anyOf: [inner, { type: 'null' }] }), { const: at })),
  }),
  'a long enumeration': (bytes) => ({
    enum: repeat(bytes, (at) => (at % 3 === 0 ? at : at % 3 === 1 ? `v${at}` : null)),
  }),
  'a long list of required names': (bytes) => ({ type: 'object', required: repeat(bytes, (at) => `p${at}`) }),
  'long descriptions': (bytes) => ({ type: 'string', pattern: text(bytes / 2), description: text(bytes / 2) }),
};
