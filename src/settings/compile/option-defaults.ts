import { Ajv, type ErrorObject } from 'ajv';
import addFormats from 'ajv-formats';
import type { Schema } from '../read/schema-files.ts';
import { isObject } from '../../plugin/index.ts';

/**
 * Returns a function that fills a schema's defaults into options; undefined where the schema has none. As with ajv's
 * `useDefaults`, it fills `properties` and `items` at any depth, but not alternatives (`anyOf`, `oneOf`, `if`), nor an omitted
 * object without a default of its own. Throws for a default that its own schema refuses: that is a mistake of the plugin's
 * author, not of the settings.
 */
export function fillDefaults(schema: Schema, { trusted }: { readonly trusted: boolean }): Filler | undefined {
  const places = [...defaultsIn(schema, '')];
  if (places.length === 0) return undefined;
  // Not strict: the strict validator has checked the schema already, and it ignores defaults.
  const ajv = new Ajv({ useDefaults: true, strict: false, allErrors: true, validateSchema: false });
  addFormats.default(ajv);
  const fill = ajv.compile(schema);
  // Tests check the defaults of the built-in plugins.
  if (!trusted) for (const place of places) checkDefault(place, ajv, schema);
  return (options) => {
    const filled = copyOf(options);
    fill(filled);
    return filled;
  };
}

type Filler = (options: unknown) => unknown;

interface DefaultPlace {
  /** JSON pointer of the option's schema. */
  readonly pointer: string;
  readonly name: string;
  readonly value: unknown;
}

function checkDefault({ pointer, name, value }: DefaultPlace, ajv: Ajv, schema: Schema): void {
  const validate = ajv.compile({ $ref: `${String(schema['$id'])}#${pointer}` });
  if (validate(copyOf(value))) return;
  throw new Error(
    `the default of \`${name}\` is refused by its own schema: ${(validate.errors ?? []).map(inWords).join('; ')}`,
  );
}

const inWords = ({ instancePath, message = '' }: ErrorObject): string =>
  [instancePath, message].filter(Boolean).join(' ');

function* defaultsIn(schema: unknown, pointer: string): Generator<DefaultPlace> {
  if (!isObject(schema)) return;
  for (const list of ['properties', 'definitions', '$defs']) {
    const named = schema[list];
    if (!isObject(named)) continue;
    for (const [name, own] of Object.entries(named)) {
      const at = `${pointer}/${list}/${encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))}`;
      if (isObject(own) && 'default' in own) yield { pointer: at, name, value: own['default'] };
      yield* defaultsIn(own, at);
    }
  }
  if (!isObject(schema['items'])) return;
  yield* defaultsIn(schema['items'], `${pointer}/items`);
}

/** A deep copy, because settings are shared. Other than plain values (a secret) stay the same object. */
function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOf);
  if (!isObject(value) || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, copyOf(one)]));
}
