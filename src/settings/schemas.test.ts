import { describe, expect, it } from 'vitest';
import { readSchema, SCHEMA_NAMES } from './schema-files.ts';
import { createAjv, Schemas } from './schemas.ts';

describe('the schemas of the package', () => {
  // Nobody checks them when they are used.
  it.each(SCHEMA_NAMES)('are draft-07: %s', (name) => {
    const ajv = createAjv();
    expect([ajv.validateSchema(readSchema(name)), ajv.errors]).toEqual([true, null]);
  });

  it('compile one by one, each when it is asked for, whatever it refers to', () => {
    for (const name of SCHEMA_NAMES) expect(new Schemas().validate(name, 1)).toMatchObject([{ keyword: 'type' }]);
  });

  it('would be noticed if one were not', () => {
    expect(createAjv().validateSchema({ type: 'objct' })).toBe(false);
  });
});
