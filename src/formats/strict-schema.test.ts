import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FormatName, JsonObject } from './conversation.ts';
import { formats } from './index.ts';
import { strictFault } from './strict-schema.ts';
import { translateRequest } from './translate.ts';
import { finish } from './steps.ts';

const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
});
const text = { type: 'string' };
const deep = (levels: number): JsonObject => (levels === 1 ? object({ a: text }) : object({ a: deep(levels - 1) }));
const many = (count: number): JsonObject =>
  object(Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, text])));
const values = (count: number, length: number) =>
  Array.from({ length: count }, (_, at) => `${at}`.padStart(length, 'x'));

describe('a strict schema of OpenAI', () => {
  it.each<[string, JsonObject]>([
    ['an object without properties', object({})],
    ['every type', object({ a: text, b: { type: 'number' }, c: { type: 'boolean' }, d: { type: 'null' } })],
    ['a nullable object', object({ a: object({ b: text }, { type: ['object', 'null'] }) })],
    ['a list of objects', object({ a: { type: 'array', items: object({ b: text }), minItems: 1 } })],
    ['anyOf inside', object({ a: { anyOf: [text, object({ b: text }), { type: 'null' }] } })],
    [
      'definitions, and a schema inside itself',
      object({ a: { $ref: '#/$defs/d' } }, { $defs: { d: object({ d: { $ref: '#/$defs/d' } }) } }),
    ],
    ['values', object({ a: { type: 'string', enum: ['x', 'y'] }, b: { type: 'string', const: 'z' } })],
    [
      'limits',
      object({ a: { type: 'number', minimum: 1, multipleOf: 2 }, b: { ...text, pattern: '^a', format: 'uuid' } }),
    ],
    [
      'texts for the model',
      object({ a: { ...text, title: 'A', description: 'd' } }, { $schema: 'x', description: 'd' }),
    ],
    // Recorded: OpenAI takes a default. Keywords that it does not name as refused are left to it.
    ['defaults and annotations', object({ a: { ...text, default: 'x', examples: ['y'], 'x-own': 1 } })],
    ['properties with the names of keywords', object({ oneOf: text, default: text, not: object({ required: text }) })],
    ['ten levels', deep(10)],
    ['5000 properties', many(5000)],
  ])('may have %s', (_name, schema) => {
    expect(strictFault(schema)).toBeUndefined();
  });

  /** Schemas that break a rule. Each is put at every place where a schema may stand. */
  const broken: [string, unknown][] = [
    ['an optional property', object({ a: text, b: text }, { required: ['a'] })],
    ['no `required`', { type: 'object', properties: { a: text }, additionalProperties: false }],
    ['a required property that is not defined', object({ a: text }, { required: ['a', 'b'] })],
    ['open objects', object({ a: text }, { additionalProperties: true })],
    ['objects that may be open', { type: 'object', properties: { a: text }, required: ['a'] }],
    ['objects of values', object({}, { additionalProperties: text })],
    ['a nullable open object', { type: ['object', 'null'], properties: {}, required: [] }],
    ['no type', { description: 'anything' }],
    ['an unknown type', { type: 'date' }],
    ['true', true],
    ['a list without items', { type: 'array' }],
    ['a list of schemas', { type: 'array', items: [text] }],
    ['something beside a reference', { $ref: '#/$defs/d', description: 'd' }],
    ['an unknown format', { ...text, format: 'uri' }],
    ...[
      'allOf',
      'oneOf',
      'not',
      'if',
      'then',
      'else',
      'dependentRequired',
      'dependentSchemas',
      'minLength',
      'patternProperties',
      'uniqueItems',
    ].map((keyword): [string, unknown] => [keyword, { ...text, [keyword]: 1 }]),
  ];
  const places: readonly (readonly [string, (schema: unknown) => JsonObject])[] = [
    ['in a property', (schema) => object({ a: schema })],
    ['in an object in it', (schema) => object({ a: object({ b: schema }) })],
    ['in the items of a list', (schema) => object({ a: { type: 'array', items: schema } })],
    ['in a branch', (schema) => object({ a: { anyOf: [text, schema] } })],
    ['in a definition', (schema) => object({ a: text }, { $defs: { d: schema } })],
    ['in an older definition', (schema) => object({ a: text }, { definitions: { d: schema } })],
  ];
  it.each(places.flatMap(([where, at]) => broken.map(([what, schema]) => [what, where, at(schema)] as const)))(
    'has no %s, %s',
    (_what, _where, schema) => {
      expect(strictFault(schema)).toEqual(expect.any(String));
    },
  );

  it.each<[string, JsonObject | undefined]>([
    ['no schema', undefined],
    ['a list', { type: 'array', items: text }],
    ['a nullable object', object({}, { type: ['object', 'null'] })],
    ['anyOf', object({}, { anyOf: [text] })],
    ['a reference', { $ref: '#/$defs/d', $defs: { d: object({}) } }],
    ['eleven levels', deep(11)],
    ['5001 properties', many(5001)],
    ['1001 values', object({ a: { ...text, enum: values(1001, 1) } })],
    ['251 long values', object({ a: { ...text, enum: values(251, 60) } })],
    ['120,001 characters', object({ ['n'.repeat(120_001)]: text })],
  ])('has no %s at its root or as a whole', (_name, schema) => {
    expect(strictFault(schema)).toEqual(expect.any(String));
  });

  it('has no word that a caller chose at any length in the reason', () => {
    const reason = strictFault(object({ ['x'.repeat(1000)]: text }, { required: [] }));
    expect(reason?.length).toBeLessThan(300);
  });

  it('stays strict in any nesting of schemas that keep the rules, and not where one of them does not', () => {
    const leaf = fc.constantFrom<JsonObject>(text, { type: 'integer' }, { type: ['string', 'null'] });
    const { schema } = fc.letrec<{ schema: JsonObject }>((tie) => ({
      schema: fc.oneof(
        { depthSize: 'small', maxDepth: 4 },
        leaf,
        fc
          .dictionary(fc.string({ minLength: 1, maxLength: 5 }), tie('schema'), { maxKeys: 3 })
          .map((all) => object(all)),
        tie('schema').map((items) => ({ type: 'array', items })),
        fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
      ),
    }));
    const isBroken = fc.constantFrom(...broken.map(([, value]) => value));
    fc.assert(
      fc.property(schema, schema, isBroken, (one, other, fault) => {
        expect(strictFault(object({ one, other }))).toBeUndefined();
        expect(strictFault(object({ one, other: { anyOf: [other, { type: 'array', items: fault }] } }))).toBeDefined();
      }),
    );
  });
});

const byName = (name: string) => formats[name as FormatName];
const loose = { type: 'object', properties: { a: text, b: text }, required: ['a'], additionalProperties: false };

/** How each client asks for an answer and for calls that keep to a schema. Google's API has no strict tools. */
const DOORS: Readonly<
  Record<
    string,
    { answer: (schema: JsonObject) => JsonObject; tool?: (schema: JsonObject) => JsonObject; places: readonly string[] }
  >
> = {
  'openai-chat': {
    answer: (schema) => ({
      messages: [{ role: 'user', content: 'q' }],
      response_format: { type: 'json_schema', json_schema: { name: 'o', schema, strict: true } },
    }),
    tool: (parameters) => ({
      messages: [{ role: 'user', content: 'q' }],
      tools: [{ type: 'function', function: { name: 'f', parameters, strict: true } }],
    }),
    places: ['response_format.json_schema.strict', 'tools[0].function.strict'],
  },
  'openai-responses': {
    answer: (schema) => ({ input: 'q', text: { format: { type: 'json_schema', name: 'o', schema, strict: true } } }),
    tool: (parameters) => ({ input: 'q', tools: [{ type: 'function', name: 'f', parameters, strict: true }] }),
    places: ['text.format.strict', 'tools[0].strict'],
  },
  'anthropic-messages': {
    answer: (schema) => ({
      max_tokens: 100,
      messages: [{ role: 'user', content: 'q' }],
      output_config: { format: { type: 'json_schema', schema } },
    }),
    tool: (input_schema) => ({
      max_tokens: 100,
      messages: [{ role: 'user', content: 'q' }],
      tools: [{ name: 'f', input_schema, strict: true }],
    }),
    places: ['output_config.format', 'tools[0].strict'],
  },
};

const TARGETS: Readonly<Record<string, (body: JsonObject) => unknown>> = {
  'openai-chat': (body) => {
    const { tools, response_format: answer } = body as {
      tools?: [{ function: JsonObject }];
      response_format?: { json_schema: JsonObject };
    };
    return tools ? tools[0].function.strict : answer?.json_schema.strict;
  },
  'openai-responses': (body) => {
    const { tools, text: settings } = body as { tools?: [JsonObject]; text?: { format: JsonObject } };
    return tools ? tools[0].strict : settings?.format.strict;
  },
};

const translated = (door: string, target: string, body: JsonObject) =>
  finish(
    translateRequest(
      { model: 'm', ...body },
      {
        client: byName(door),
        upstream: byName(target),
        target: { model: 'gpt-5.2', host: 'direct', strict: true, extensions: new Set<string>() },
        reply: { model: 'm', newCallId: () => 'call' },
      },
    ),
  );

describe.each(Object.keys(DOORS).flatMap((door) => Object.keys(TARGETS).map((target) => [door, target] as const)))(
  'a strict request of %s to %s',
  (door, target) => {
    const { answer, tool, places } = DOORS[door]!;
    const asked = [answer, tool].flatMap((ask, at) =>
      ask ? [[at === 0 ? 'answer' : 'tool', ask, places[at]] as const] : [],
    );

    it.each(asked)('is strict where the schema keeps the rules: %s', (_kind, ask) => {
      const { body, losses } = translated(door, target, ask(object({ a: text })));
      expect(TARGETS[target]!(body)).toBe(true);
      expect(losses).toEqual([]);
    });

    it.each(asked)(
      'is not strict where an optional property breaks them, and reports that: %s',
      (_kind, ask, place) => {
        const { body, losses } = translated(door, target, ask(loose));
        expect(TARGETS[target]!(body)).toBe(false);
        expect(losses).toEqual([expect.objectContaining({ action: 'downgraded', param: place })]);
      },
    );
  },
);

describe('a schema of a Gemini client', () => {
  it.each(Object.keys(TARGETS))('is never strict at %s: that API has no such field', (target) => {
    const contents = [{ role: 'user', parts: [{ text: 'q' }] }];
    const { body } = translated('gemini', target, {
      contents,
      generationConfig: { responseMimeType: 'application/json', responseJsonSchema: loose },
    });
    expect(TARGETS[target]!(body)).not.toBe(true);
  });
});
