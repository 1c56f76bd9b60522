import { describe, expect, it } from 'vitest';
import { readSchema, SCHEMA_NAMES, type Schema } from './schema-files.ts';
import { Schemas, createAjv } from './schemas.ts';

/** The schemas compiled whole and checked against draft-07, which production skips. */
function whole() {
  const ajv = createAjv();
  for (const name of SCHEMA_NAMES) ajv.addSchema(readSchema(name), name);
  return ajv;
}

describe('the schemas of the package', () => {
  // Production does not check them.
  it.each(SCHEMA_NAMES)('are draft-07: %s', (name) => {
    const ajv = createAjv();
    expect([ajv.validateSchema(readSchema(name)), ajv.errors]).toEqual([true, null]);
  });

  it.each(SCHEMA_NAMES)('compile in all their parts: %s', (name) => {
    expect(() => whole().getSchema(name)).not.toThrow();
  });

  it('would fail these tests with a misspelt type or keyword', () => {
    expect(createAjv().validateSchema({ type: 'objct' })).toBe(false);
    expect(() => createAjv().compile({ type: 'object', proprties: {} })).toThrow('proprties');
  });

  it('compile one by one, each on first use, with its references', () => {
    for (const name of SCHEMA_NAMES) expect(new Schemas().validate(name, 1)).toMatchObject([{ keyword: 'type' }]);
  });

  it('compile part by part, each when a file first has a value there', () => {
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
  ])('report the same errors compiled part by part and as a whole: %s', (name, wrong) => {
    const validate = whole().getSchema(name);
    // A build without an add-on lacks its schemas.
    if (!validate) return;
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
