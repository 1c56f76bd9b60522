import { valueAt } from '../settings/read/pointer.ts';
import { readSchema, type Schema, type SchemaName } from '../settings/read/schema-files.ts';

/**
 * A settings schema that needs no other file: what it refers to in another one stands in its `definitions`, as `server.timeouts`
 * (names of its own have no dot). JSON Schema would also let whole documents be embedded by their `$id`, but editors resolve
 * such references over the network.
 */
export function bundleSchema(name: SchemaName, read: (name: SchemaName) => Schema = readSchema): Schema {
  const schema = read(name);
  const home = String(schema['$id']);
  const foreign = new Map<string, unknown>();
  const bring = (address: string): string => {
    const [, file = '', definition = ''] = ADDRESS.exec(address) ?? [];
    const id = `${file}.${definition}`;
    if (!foreign.has(id)) {
      // Before its own references are followed: they may lead back here.
      foreign.set(id, null);
      const found = valueAt(read(toName(file, address)), ['definitions', definition]);
      if (found === undefined) throw new Error(`${home} refers to ${address}, which is not there.`);
      foreign.set(id, localise(found, { home, bring }));
    }
    return `#/definitions/${id}`;
  };
  const bundled = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, localise(value, { home, bring })]),
  );
  return { ...bundled, definitions: { ...Object(bundled['definitions']), ...Object.fromEntries(foreign) } };
}

const ADDRESS = /\/([a-z-]+)\.json#\/definitions\/([^/]+)$/;

/** Ours alone: they would make a strict validator refuse the schema, or tell it nothing. */
const OWN_KEYWORDS: readonly string[] = ['x-secret', 'tsType', 'discriminator'];

interface Bundling {
  readonly home: string;
  readonly bring: (address: string) => string;
}

function localise(value: unknown, bundling: Bundling): unknown {
  if (Array.isArray(value)) return value.map((item) => localise(item, bundling));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !OWN_KEYWORDS.includes(key))
      .map(([key, inner]) => {
        if (key !== '$ref' || typeof inner !== 'string') return [key, localise(inner, bundling)];
        const { home, bring } = bundling;
        return [key, inner.startsWith(home) ? inner.slice(home.length) : bring(inner)];
      }),
  );
}

function toName(file: string, address: string): SchemaName {
  if (file === 'server' || file === 'catalog' || file === 'keys' || file === 'gateway') return file;
  throw new Error(`${address} is no schema of the settings.`);
}
