/**
 * The complete schemas of the settings: the core's part in schemas/core, and what each add-on adds in schemas/addons/NAME.json, by file.
 * An add-on without its file in that folder is not in this build, and the schemas lack its keys.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Schema } from '../src/core/settings/schema/schema-files.ts';
import { isObject } from '../src/core/kernel/index.ts';

const CORE = join(import.meta.dirname, 'core');
const ADD_ONS = join(import.meta.dirname, 'addons');

/** What an add-on adds, by file: `server`, `keys`. A file that the core lacks is the add-on's own. */
export type Fragment = Readonly<Record<string, Schema>>;

/** By name of the add-on, in the order of their names. */
export const readFragments = (): ReadonlyMap<string, Fragment> => new Map(jsonIn(ADD_ONS)) as Map<string, Fragment>;

/** By file. @param fragments of the add-ons of a build */
export function completeSchemas(fragments: Iterable<Fragment> = readFragments().values()): ReadonlyMap<string, Schema> {
  const files = new Map(jsonIn(CORE));
  for (const fragment of fragments)
    for (const [file, added] of Object.entries(fragment)) files.set(file, withAdded(files.get(file) ?? {}, added));
  const whole = [...files].filter(([, schema]) => schema['$id'] !== undefined);
  return new Map(whole.map(([file, schema]) => [file, withoutLoose(withEach(schema))]));
}

const jsonIn = (folder: string): (readonly [string, Schema])[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .sort()
    // The files are the package's own; tests check them against draft-07.
    .map((file) => [basename(file, '.json'), JSON.parse(readFileSync(join(folder, file), 'utf8')) as Schema]);

/** Lists of alternatives: those of an add-on follow. */
const APPENDED: ReadonlySet<string> = new Set(['enum', 'oneOf']);

/** Objects have the keys of both, descriptions the sentences of both; any other value is the one of the add-on. */
function withAdded(before: Schema, added: Schema): Schema {
  const merged: Record<string, unknown> = { ...before };
  for (const [key, value] of Object.entries(added)) {
    const own = merged[key];
    if (isObject(own) && isObject(value)) merged[key] = isLoose(own) ? withAdded(value, own) : withAdded(own, value);
    else if (Array.isArray(own) && Array.isArray(value) && APPENDED.has(key)) merged[key] = [...own, ...value];
    else if (key === 'description' && typeof own === 'string') merged[key] = `${own} ${String(value)}`;
    else merged[key] = value;
  }
  return merged;
}

/** Keys for a definition of another add-on, which comes later or is not in this build. */
const isLoose = (definition: unknown): boolean =>
  isObject(definition) && Object.keys(definition).join() === 'properties';

function withoutLoose({ definitions, ...schema }: Schema): Schema {
  if (!isObject(definitions)) return schema;
  return { ...schema, definitions: Object.fromEntries(Object.entries(definitions).filter(([, one]) => !isLoose(one))) };
}

const EACH = '.*';

/** A definition `NAME.*` is added to each one that `oneOf` of NAME names: `entry.*` to every kind of entry, also those of other add-ons. */
function withEach(schema: Schema): Schema {
  const { definitions } = schema;
  if (!isObject(definitions)) return schema;
  const named = { ...definitions };
  for (const [key, each] of Object.entries(definitions)) {
    if (!key.endsWith(EACH) || !isObject(each)) continue;
    delete named[key];
    for (const name of namesOf(definitions[key.slice(0, -EACH.length)])) {
      const one = named[name];
      if (isObject(one)) named[name] = withAdded(one, each);
    }
  }
  return { ...schema, definitions: named };
}

const namesOf = (definition: unknown): readonly string[] =>
  isObject(definition) && Array.isArray(definition['oneOf'])
    ? definition['oneOf'].flatMap((one: unknown) => (isObject(one) ? [String(one['$ref']).split('/').at(-1)!] : []))
    : [];

const WIDTH = 120;
/** A longer line is hard to compare. */
const LONG = 400;
/** Keywords whose members have lines of their own. */
const OPENED: ReadonlySet<string> = new Set(['properties', 'definitions']);

/** JSON that people read and compare: a value without properties of its own has one line. */
export const schemaJson = (schema: Schema): string => `${written(schema, 0)}\n`;

function written(value: unknown, depth: number): string {
  const line = inLine(value);
  if (!isObject(value) || (depth > 0 && !isOpen(value, line))) return line;
  const indent = '  '.repeat(depth + 1);
  const members = Object.entries(value).map(
    ([key, inner]) => `${indent}${JSON.stringify(key)}: ${written(inner, depth + 1)}`,
  );
  return `{\n${members.join(',\n')}\n${indent.slice(2)}}`;
}

const isOpen = (value: Schema, line: string): boolean =>
  line.length > WIDTH &&
  (line.length > LONG ||
    Object.entries(value).some(([key, inner]) => OPENED.has(key) || (isObject(inner) && isOpen(inner, inLine(inner)))));

function inLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inLine).join(', ')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, inner]) => `${JSON.stringify(key)}: ${inLine(inner)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}
