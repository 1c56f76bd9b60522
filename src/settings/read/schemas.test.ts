import { describe, expect, it } from 'vitest';
import { readSchema, SCHEMA_NAMES, type Schema } from './schema-files.ts';
import { createAjv, Schemas } from './schemas.ts';

/** Compiled from top to bottom before anything is validated, and held to draft-07, as nobody does who uses them. */
function whole() {
  const ajv = createAjv();
  for (const name of SCHEMA_NAMES) ajv.addSchema(readSchema(name), name);
  return ajv;
}

describe('the schemas of the package', () => {
  // Nobody checks them when they are used.
  it.each(SCHEMA_NAMES)('are draft-07: %s', (name) => {
    const ajv = createAjv();
    expect([ajv.validateSchema(readSchema(name)), ajv.errors]).toEqual([true, null]);
  });

  it.each(SCHEMA_NAMES)('compile in all their parts: %s', (name) => {
    expect(() => whole().getSchema(name)).not.toThrow();
  });

  it('would be noticed if one were not', () => {
    expect(createAjv().validateSchema({ type: 'objct' })).toBe(false);
    expect(() => createAjv().compile({ type: 'object', proprties: {} })).toThrow('proprties');
  });

  it('compile one by one, each when it is asked for, whatever it refers to', () => {
    for (const name of SCHEMA_NAMES) expect(new Schemas().validate(name, 1)).toMatchObject([{ keyword: 'type' }]);
  });

  it('compile part by part, each when a file first has something there', () => {
    const broken: Schema = {
      $id: 'test:broken',
      type: 'object',
      properties: {
        sound: { $ref: 'test:broken#/definitions/sound' },
        wrong: { $ref: 'test:broken#/definitions/wrong' },
      },
      definitions: { sound: { type: 'string' }, wrong: { type: 'object', proprties: {} } },
    };
    const schemas = new Schemas((name) => ({ ...broken, $id: name, ...(name === 'server' && broken) }));
    expect(schemas.validate('server', { sound: 'x' })).toEqual([]);
    expect(schemas.validate('server', { sound: 1 })).toMatchObject([{ instancePath: '/sound', keyword: 'type' }]);
    expect(() => schemas.validate('server', { wrong: {} })).toThrow('proprties');
  });

  it.each<[(typeof SCHEMA_NAMES)[number], object]>([
    [
      'server',
      { listen: { port: 'x' }, limits: { body: 'much', bdy: 1 }, timeouts: { connect: [] }, chains: { entry: 1 } },
    ],
    [
      'catalog',
      { providers: [{ provider: 'anthropic', slug: 1 }, { provider: 'nobody' }, { provider: 'openai', x: 1 }] },
    ],
    ['keys', { keys: [{ id: 'a', key: 1, expires: 'soon', networks: 'all' }, 7] }],
    [
      'gateway',
      { name: 1, retry: { attempts: 'x' }, cache: [], strategy: { mode: 1 }, targets: [{ targets: 1, weight: 'x' }] },
    ],
    ['test', { cases: [{ name: 1, request: 2, upstream: [{ status: 'x', nothing: 1 }] }] }],
  ])('tell the same mistakes part by part as in one piece: %s', (name, wrong) => {
    const validate = whole().getSchema(name)!;
    expect(validate(wrong)).toBe(false);
    const reported = new Schemas().validate(name, wrong);
    const plain = (errors: typeof reported) =>
      errors.map(({ instancePath, keyword, params, message, schema }) => ({
        instancePath,
        keyword,
        params,
        message,
        schema,
      }));
    expect(plain(reported)).toEqual(plain(validate.errors!));
    expect(reported.length).toBeGreaterThan(3);
  });
});
