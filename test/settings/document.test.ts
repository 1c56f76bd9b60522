import { isDeepStrictEqual } from 'node:util';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { generateDocuments } from '../../schemas/document.ts';
import { isObject } from '../../src/core/kernel/index.ts';
import { exampleOf, placesOf, resolved, type Owner, type Place } from '../../schemas/places.ts';
import { SCHEMA_NAMES, type Schema, propertiesOf } from '../../src/core/settings/schema/schema-files.ts';
import { packageSchemas } from '../../src/core/settings/schema/schemas.ts';

const places = SCHEMA_NAMES.flatMap((file) => placesOf(file));
const nameOf = ({ file, path, owner }: Place): string => `${file}.yaml ${path} (${owner.address.replace(/.*\//, '')})`;

describe('every key of the settings', () => {
  test('is there', () => {
    const paths = places.map(({ file, path }) => `${file} ${path}`);
    for (const known of [
      'server listen.port',
      'server telemetry.log.level',
      'catalog providers[].service_account.private_key',
      'keys keys[].digest',
      'gateway strategy.onStatusCodes',
      'gateway targets[].timeouts.idle',
    ])
      expect(paths).toContain(known);
  });

  test('says what it means', () => {
    expect(places.filter(({ schema }) => typeof schema['description'] !== 'string').map(nameOf)).toEqual([]);
  });

  test('has an example or a default', () => {
    expect(places.filter((place) => exampleOf(place) === undefined).map(nameOf)).toEqual([]);
  });
});

describe('an example or default is accepted where it would stand', () => {
  const values = places.flatMap((place) => valuesOf(place).map((value) => [nameOf(place), value, place] as const));

  test.each(values)('%s: %j', (_, value, place) => {
    const tries = filesWith(place, value).map((file) => ({
      file,
      errors: packageSchemas().validate(place.file, file),
    }));
    expect(tries.length).toBeGreaterThan(0);
    // Where one of several keys is required, one of the files has the right one.
    expect(
      tries.some(({ errors }) => errors.length === 0),
      JSON.stringify(tries, ['file', 'errors', 'instancePath', 'message']),
    ).toBe(true);
  });

  test('which a wrong value is not', () => {
    const wrong = { nobody: ['accepts', { this: null }] };
    const open = places.filter((place) =>
      filesWith(place, wrong).some((file) => packageSchemas().validate(place.file, file).length === 0),
    );
    expect(new Set(open.map(({ name }) => name))).toEqual(
      new Set(['query', 'options', 'default_params', 'override_params', 'overrideParams', 'body']),
    );
  });
});

/** All keywords of a key and of its references; examples of a list's items as a list of one. */
function valuesOf({ layers, schema }: Place): readonly unknown[] {
  const { items } = schema;
  const ofItems = isObject(items) ? said(resolved(items)).map((item) => [item]) : [];
  const branches = [schema['anyOf'], schema['oneOf']].flatMap((list) =>
    Array.isArray(list) ? list.filter(isObject) : [],
  );
  return [...layers, ...branches].flatMap(said).concat(ofItems);
}

function said({ examples, default: usual, const: only }: Schema): readonly unknown[] {
  return [...(Array.isArray(examples) ? examples : []), usual, only].filter((value) => value !== undefined);
}

/** Files that hold the value at its place, and little more; several where one of several keys is required. */
function filesWith({ owner, name, parent }: Place, value: unknown): readonly unknown[] {
  const objects = objectsWith(owner, name, value);
  if (!parent) return objects;
  return objects.flatMap((object) => filesWith(parent, owner.isItem ? [object] : object));
}

function objectsWith({ schema }: Owner, name: string, value: unknown): readonly object[] {
  return requiredOf(schema)
    .flatMap((required) => {
      return withNeeded(schema, [...required, name]);
    })
    .map((needed) => {
      const others = needed
        .filter((other) => other !== name)
        .map((other) => [other, sampleOf(propertiesOf(schema)[other])]);
      return { ...Object.fromEntries(others), [name]: value };
    });
}

/** The names and those they ask to have beside them: one list for each way to have all. */
function withNeeded(schema: Schema, names: readonly string[]): readonly (readonly string[])[] {
  const needs = Object(schema['dependencies']) as Record<string, unknown>;
  const lists = names.reduce<readonly (readonly string[])[]>(
    (ways, name) => {
      const needed = needs[name];
      // One that already has what is asked for needs no more.
      return isObject(needed) ? ways.flatMap((way) => shortest(way, requiredOf(needed))) : ways;
    },
    [[...new Set(names)]],
  );
  return lists.flatMap((list) => (list.length > new Set(names).size ? withNeeded(schema, list) : [list]));
}

function shortest(way: readonly string[], choices: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const longer = choices.map((more) => [...new Set([...way, ...more])]);
  const satisfied = longer.find((list) => list.length === way.length);
  return satisfied ? [satisfied] : longer;
}

/** Which keys an object must have: one list for each way to be whole. */
function requiredOf(schema: Schema): readonly (readonly string[])[] {
  const choices = [schema['anyOf'], schema['oneOf']].filter((list) => Array.isArray(list));
  return choices.reduce<readonly (readonly string[])[]>(
    (lists, choice) =>
      lists.flatMap((list) => choice.map((branch: unknown) => [...list, ...namesIn(Object(branch).required)])),
    [namesIn(schema['required'])],
  );
}

const namesIn = (required: unknown): readonly string[] => (Array.isArray(required) ? required.map(String) : []);

function sampleOf(property: unknown): unknown {
  return isObject(property) ? said(resolved(property))[0] : undefined;
}

describe('docs/reference/settings', () => {
  const pages = generateDocuments();

  test.each([...pages])('%s is what `npm run generate` writes today', (file, text) => {
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  test('has two columns, so that no page cuts one, and no table without keys', () => {
    const rows = [...pages].flatMap(([file, text]) =>
      file.includes('/reference/settings/') ? text.split('\n').filter((line) => line.startsWith('| `')) : [],
    );
    expect(rows.length).toBeGreaterThan(300);
    expect(rows.filter((row) => !/^\| `[^`]+`<br>.+ \| .+ \|$/.test(row.replaceAll('\\|', '')))).toEqual([]);
    expect(rows.filter((row) => row.replaceAll('\\|', '').split('|').length !== 4)).toEqual([]);
    expect([...pages.values()].filter((text) => /^\| --- \| --- \|\n(?!\|)/m.test(text))).toEqual([]);
  });

  test('has an example for every key that is to be pasted as it stands, unless it is the default', () => {
    const rows = [...[...pages.values()].join('\n').matchAll(/^\| `([^`]+)`<br>.*<br>Example: `([^|]*)` \|$/gm)]
      .map(([, path, example]) => [path!, example!] as const)
      .filter(([, example]) => example.includes(': '));
    const isDefault = (place: (typeof places)[number]): boolean =>
      isDeepStrictEqual(
        exampleOf(place),
        place.layers.map((layer) => layer['default']).find((one) => one !== undefined),
      );
    const reported = places.filter((place) => !place.deprecated && !isDefault(place));
    expect(
      new Set(reported.map(({ name }) => name)).difference(new Set(rows.map(([path]) => path.split('.').at(-1)))),
    ).toEqual(new Set());
    for (const [path, example] of rows) {
      const name = path.split('.').at(-1)!;
      const value: unknown = parse(example);
      const possible = places.filter((place) => place.name === name).map((place) => ({ [name]: exampleOf(place) }));
      expect(possible, `${path}: ${example}`).toContainEqual(value);
    }
  });
});
