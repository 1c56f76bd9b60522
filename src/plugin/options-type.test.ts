import { describe, expectTypeOf, it } from 'vitest';
import { definePlugin } from './define.ts';
import type { OptionsOf } from './options-type.ts';

/** The type of a schema that is written as a literal. */
const typeOf = <const S>(_: S): OptionsOf<S> => undefined as OptionsOf<S>;

describe('the type of a schema', () => {
  it('is the JSON type, the members of an enum, the value of a constant', () => {
    expectTypeOf(typeOf({ type: 'string', minLength: 1 })).toEqualTypeOf<string>();
    expectTypeOf(typeOf({ type: 'integer' })).toEqualTypeOf<number>();
    expectTypeOf(typeOf({ type: ['boolean', 'null'] })).toEqualTypeOf<boolean | null>();
    expectTypeOf(typeOf({ type: 'string', enum: ['a', 'b'] })).toEqualTypeOf<'a' | 'b'>();
    expectTypeOf(typeOf({ const: 3 })).toEqualTypeOf<3>();
    expectTypeOf(typeOf({ $ref: '#/definitions/other' })).toEqualTypeOf<unknown>();
  });

  it('has an optional member for each property that is not required', () => {
    const schema = {
      type: 'object',
      required: ['header'],
      properties: { header: { type: 'string' }, max: { type: 'number' } },
    } as const;
    expectTypeOf(typeOf(schema)).toEqualTypeOf<{ header: string; max?: number }>();
    expectTypeOf(typeOf({ type: 'object', properties: {} })).toEqualTypeOf<{}>();
  });

  it('has each property with a default', () => {
    const schema = {
      type: 'object',
      properties: { max: { type: 'number', default: 3 }, min: { type: 'number' } },
    } as const;
    expectTypeOf(typeOf(schema)).toEqualTypeOf<{ max: number; min?: number }>();
  });

  it('follows lists, maps and alternatives inward', () => {
    const pair = { type: 'object', required: ['in'], properties: { in: { type: 'number' } } } as const;
    expectTypeOf(typeOf({ type: 'array', items: { enum: ['x', 'y'] } })).toEqualTypeOf<('x' | 'y')[]>();
    expectTypeOf(typeOf({ type: 'array' })).toEqualTypeOf<unknown[]>();
    expectTypeOf(typeOf({ type: 'object', additionalProperties: pair })).toEqualTypeOf<
      Record<string, { in: number }>
    >();
    expectTypeOf(typeOf({ type: 'object' })).toEqualTypeOf<Record<string, unknown>>();
    expectTypeOf(typeOf({ anyOf: [{ enum: ['off'] }, pair] })).toEqualTypeOf<'off' | { in: number }>();
    expectTypeOf(typeOf({ oneOf: [{ type: 'string' }, { type: 'number' }] })).toEqualTypeOf<string | number>();
  });

  it('is that of `options` in a plugin', () => {
    definePlugin({
      name: 'typed',
      level: 'request',
      options: { type: 'object', required: ['header'], properties: { header: { type: 'string' } } },
      create: ({ options }) => {
        expectTypeOf(options).toEqualTypeOf<{ header: string }>();
        // @ts-expect-error: the schema has no such property.
        expectTypeOf(options.haeder).toBeAny();
        return (_, next) => next();
      },
    });
  });
});
