import { readFileSync } from 'node:fs';
import { packageFile } from '../../package-root.ts';

export type SchemaName = 'server' | 'catalog' | 'keys' | 'gateway' | 'test';
export const SCHEMA_NAMES: readonly SchemaName[] = ['server', 'catalog', 'keys', 'gateway', 'test'];

/** A JSON Schema as data. */
export type Schema = Readonly<Record<string, unknown>>;

/** A schema of the package with absolute `$ref`s, so that a part of it can be read alone. */
export function readSchema(name: SchemaName): Schema {
  // Bytes become types here: the files are the package's own, and ajv refuses an invalid schema.
  const schema = JSON.parse(readFileSync(packageFile(`schemas/${name}.json`), 'utf8')) as Schema;
  return absoluteRefs(schema, String(schema['$id']));
}

/** A schema whose local `$ref`s name its id, so that a part of it can be read alone. */
export function absoluteRefs(schema: Schema, id: string): Schema {
  // The copy keeps the schema's shape.
  return absolute(schema, id) as Schema;
}

function absolute(value: unknown, id: string): unknown {
  if (Array.isArray(value)) return value.map((item) => absolute(item, id));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const isLocalRef = key === '$ref' && typeof inner === 'string' && inner.startsWith('#');
      return [key, isLocalRef ? `${id}${inner}` : absolute(inner, id)];
    }),
  );
}
