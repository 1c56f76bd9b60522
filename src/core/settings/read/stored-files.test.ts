import { expect, it } from 'vitest';
import { packageSchemas } from '../schema/schemas.ts';
import { SchemaTree, readSchema, type Schema } from '../schema/schema-files.ts';
import { SEALED_OF_PROVIDERS, type StoredObject } from '../source/stored-objects.ts';
import { valueAt } from '../schema/pointer.ts';
import { readStoredFiles } from './stored-files.ts';

const stored = (...objects: readonly StoredObject[]) => ({
  known: true,
  objects: new Map(objects.map((one) => [`${one.kind}/${one.id}`, one])),
});

const provider = (id: string, doc: Readonly<Record<string, unknown>>, more: object = {}): StoredObject => ({
  kind: 'providers',
  id,
  value: { doc, secrets: { api_key: '"sk-${env:HOME}-0123456789"' } },
  by: 'ann',
  at: 0,
  version: 1,
  ...more,
});

const read = (...objects: readonly StoredObject[]) =>
  readStoredFiles('/configs', stored(...objects), { schemas: packageSchemas(), catalog: undefined, configIds: [] });

it('The sealed fields of an entry are those that its schema calls secrets', () => {
  const tree = new SchemaTree([readSchema('catalog')]);
  const isSecret = (schemas: readonly Schema[], depth = 0): boolean =>
    schemas.some((schema) => schema['x-secret'] === true) ||
    (depth < 3 &&
      schemas.some((schema) =>
        [...Object.keys(Object(schema['properties'])), ...(schema['additionalProperties'] ? ['any'] : [])].some(
          (name) => isSecret(tree.child([schema], name), depth + 1),
        ),
      ));
  const kinds = tree.alternatives({ $ref: 'https://gatehouse.dev/schemas/catalog.json#/definitions/entry' });
  const names = new Set(
    kinds.flatMap((kind) =>
      Object.keys(Object(valueAt(kind, ['properties']))).filter((name) => isSecret(tree.child([kind], name))),
    ),
  );
  expect([...names].toSorted()).toEqual([...SEALED_OF_PROVIDERS]);
});

it('An entry of the store reads neither the environment nor files, and its secret is no warning', async () => {
  const [entry] = await read(provider('a', { provider: 'openai' }));
  expect(entry!.secrets).toEqual(['sk-${env:HOME}-0123456789']);
  expect([entry!.diagnostics, entry!.paths]).toEqual([[], []]);
  expect(JSON.stringify(entry!.value)).toBe('{"providers":[{"provider":"openai","api_key":"[secret]","slug":"a"}]}');
});

it('An entry of the store that is not valid, or whose secrets do not open, has no effect, and a warning says why', async () => {
  const entries = await read(
    provider('a', { provider: 'openai', colour: 'red' }),
    provider('b', { provider: 'openai' }, { problem: 'the secret "api_key" of b does not open' }),
    provider('c', { provider: 'openai' }),
  );
  expect(entries.map(({ value, diagnostics }) => [value === undefined, diagnostics[0]?.severity])).toEqual([
    [true, 'warning'],
    [true, 'warning'],
    [false, undefined],
  ]);
  expect(entries[1]!.diagnostics[0]!.message).toContain('does not open');
});
