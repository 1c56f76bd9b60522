import { isObject, nearest } from '../kernel/index.ts';
import { SCHEMA_NAMES, type SchemaName, readSchema, type Schema } from '../settings/schema/schema-files.ts';
import { alternatives } from '../settings/values/show.ts';
import type { Output } from './terminal/output.ts';
import { valueAt } from '../settings/schema/pointer.ts';
import { OWN_KEYWORDS } from '../settings/schema/schemas.ts';

/** `gatehouse schema`. Exit code 2: unknown kind of file. */
export function schemaCommand(kind: string, { out, err }: Output): 0 | 2 {
  if (isSchemaName(kind)) {
    out(schemaText(kind));
    return 0;
  }
  const suggestion = nearest(kind, SCHEMA_NAMES);
  const hint = suggestion === undefined ? `give ${alternatives(SCHEMA_NAMES)}` : `did you mean "${suggestion}"?`;
  err(`gatehouse: there is no schema ${JSON.stringify(kind)}; ${hint}\n`);
  return 2;
}

export const schemaText = (name: SchemaName): string => `${JSON.stringify(bundleSchema(name), null, 2)}\n`;

const isSchemaName = (name: string): name is SchemaName => SCHEMA_NAMES.some((one) => one === name);

/**
 * Bundles a schema into one document: definitions of other files become `server.timeouts` and so on. Editors would
 * resolve whole documents, embedded by `$id`, over the network.
 */
export function bundleSchema(name: SchemaName, read: (name: SchemaName) => Schema = readSchema): Schema {
  const schema = read(name);
  const home = String(schema['$id']);
  const foreign = new Map<string, unknown>();
  const include = (address: string): string => {
    const [, file = '', definition = ''] = ADDRESS.exec(address) ?? [];
    const id = `${file}.${definition}`;
    if (!foreign.has(id)) {
      // Set before its own references are followed: they may lead back here.
      foreign.set(id, null);
      const found = valueAt(read(toName(file, address)), ['definitions', definition]);
      if (found === undefined) throw new Error(`${home} refers to ${address}, which does not exist.`);
      foreign.set(id, localise(found));
    }
    return `#/definitions/${id}`;
  };
  const localise = (value: unknown, key?: string): unknown => {
    if (key === '$ref' && typeof value === 'string')
      return value.startsWith(home) ? value.slice(home.length) : include(value);
    if (Array.isArray(value)) return value.map((item) => localise(item));
    if (!isObject(value)) return value;
    const shown = Object.entries(value).filter(([name]) => !NOT_SHOWN.includes(name));
    return Object.fromEntries(shown.map(([name, inner]) => [name, localise(inner, name)]));
  };
  const bundled = Object(localise(schema)) as Schema;
  return { ...bundled, definitions: { ...Object(bundled['definitions']), ...Object.fromEntries(foreign) } };
}

const ADDRESS = /\/([a-z-]+)\.json#\/definitions\/([^/]+)$/;

/** The gateway's own keywords: a strict validator would refuse the schema, others would ignore them. */
const NOT_SHOWN: readonly string[] = [...OWN_KEYWORDS, 'discriminator'];

function toName(file: string, address: string): SchemaName {
  const found = SCHEMA_NAMES.find((name) => name === file && name !== 'test');
  if (found) return found;
  throw new Error(`${address} is not a settings schema.`);
}
