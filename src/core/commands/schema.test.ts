import addFormats from 'ajv-formats';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { SCHEMA_NAMES, type Schema, type SchemaName } from '../settings/schema/schema-files.ts';
import { keepOutput } from './folder.testkit.ts';
import { bundleSchema, schemaCommand } from './schema.ts';

function print(kind: string) {
  const { printed, ...output } = keepOutput();
  return { code: schemaCommand(kind, output), ...printed };
}

/** As a foreign validator: no other schema and none of the gateway's own keywords are known. */
function compile(kind: SchemaName) {
  const ajv = new Ajv({ strict: false, allErrors: true });
  addFormats.default(ajv);
  return ajv.compile(JSON.parse(print(kind).out));
}

describe('gatehouse schema', () => {
  test.each(SCHEMA_NAMES)('%s prints a schema that stands by itself', (kind) => {
    const { code, out, err } = print(kind);
    expect([code, err, out.endsWith('}\n')]).toEqual([0, '', true]);
    expect(out).not.toMatch(/"\$ref": "(?!#)|x-secret|tsType/);
    expect(compile(kind)({ stratgey: 1 })).toBe(false);
  });

  test.each<[SchemaName, unknown]>([
    ['gateway', { targets: [{ timeouts: { idle: 'soon' } }] }],
    ['gateway', { plugins: [{ options: {} }] }],
    ['catalog', { providers: [{ slug: 'a', provider: 'openai', timeouts: { idle: 'soon' } }] }],
    ['server', { limits: { body: '1 hectare' } }],
  ])('includes rules from other schemas: %s refuses %j', (kind, value) => {
    expect(compile(kind)(value)).toBe(false);
  });

  test.each([
    ['keyz', 'did you mean "keys"?'],
    ['', 'give'],
    ['../package', 'give'],
  ])('refuses the unknown kind %j, exit code 2', (kind, words) => {
    expect(print(kind)).toEqual({ code: 2, out: '', err: expect.stringContaining(words) });
  });
});

describe('a bundled schema', () => {
  const id = (name: string) => `https://gatehouse.dev/schemas/${name}.json`;

  test('follows references between files and back', () => {
    const schemas: Partial<Record<SchemaName, Schema>> = {
      keys: {
        $id: id('keys'),
        properties: { a: { $ref: `${id('server')}#/definitions/x` } },
        definitions: { k: { type: 'string' } },
      },
      server: {
        $id: id('server'),
        definitions: {
          x: {
            properties: {
              self: { $ref: `${id('server')}#/definitions/x` },
              k: { $ref: `${id('keys')}#/definitions/k` },
            },
          },
        },
      },
    };
    expect(bundleSchema('keys', (name) => schemas[name]!)).toEqual({
      $id: id('keys'),
      properties: { a: { $ref: '#/definitions/server.x' } },
      definitions: {
        k: { type: 'string' },
        'server.x': { properties: { self: { $ref: '#/definitions/server.x' }, k: { $ref: '#/definitions/k' } } },
      },
    });
  });

  test('fails if a reference has no target', () => {
    const schemas = { $id: id('keys'), properties: { a: { $ref: `${id('server')}#/definitions/nowhere` } } };
    expect(() => bundleSchema('keys', () => schemas)).toThrow('which does not exist');
  });
});
