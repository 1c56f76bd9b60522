import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { completeSchemas, readFragments, type Fragment } from '../../schemas/fragments.ts';
import { isObject } from '../../src/core/kernel/index.ts';
import { generateSchemas } from '../../schemas/types.ts';
import { validateCommand } from '../../src/core/commands/validate.ts';
import { describe as written } from '../../src/core/settings/source/diagnostic.ts';
import { ADD_ON_FILES, ADD_ON_KEYS } from '../../src/core/settings/problems/add-on-keys.ts';
import { loadSettings, type LoadResult } from '../../src/core/settings/read/load.ts';
import { absoluteRefs, type Schema, type SchemaName } from '../../src/core/settings/schema/schema-files.ts';
import { Schemas, createAjv } from '../../src/core/settings/schema/schemas.ts';
import { memoryFiles } from '../../src/core/settings/source/files.ts';

const fragments = readFragments();
const ADD_ONS = [...fragments.keys()];

/** The schemas of a build without some add-ons. */
const without = (...addOns: readonly string[]): ReadonlyMap<string, Schema> =>
  completeSchemas([...fragments].flatMap(([name, fragment]) => (addOns.includes(name) ? [] : [fragment])));

const isSettings = (name: string): name is SchemaName => name !== 'prompt-completions';

function settingsOf(files: ReadonlyMap<string, Schema>): Schemas {
  const read = (name: SchemaName) => absoluteRefs(files.get(name)!, `https://gatehouse.dev/schemas/${name}.json`);
  return new Schemas(read, [...files.keys()].filter(isSettings));
}

describe('the schemas of the settings', () => {
  it('are what `node schemas/generate.ts` writes from the part of the core and those of the add-ons', () => {
    for (const [file, text] of generateSchemas()) expect(readFileSync(file, 'utf8'), file).toBe(text);
  });

  it.each([...ADD_ONS.map((name) => [name]), ADD_ONS])('compile in all their parts without %s', (...addOns) => {
    const files = without(...addOns);
    const ajv = createAjv();
    for (const [name, schema] of files) ajv.addSchema(schema, name);
    for (const name of files.keys()) {
      expect(ajv.validateSchema(files.get(name)!), name).toBe(true);
      expect(() => ajv.getSchema(name), name).not.toThrow();
    }
  });

  it('have examples that are valid without any add-on', () => {
    const files = without(...ADD_ONS);
    const ajv = createAjv();
    for (const [name, schema] of files) ajv.addSchema(schema, name);
    for (const [name, { definitions }] of files)
      for (const [key, definition] of Object.entries(isObject(definitions) ? definitions : {}))
        for (const example of (isObject(definition) && (definition['examples'] as unknown[])) || [])
          expect([
            key,
            example,
            ajv.validate({ $ref: `${String(files.get(name)!['$id'])}#/definitions/${key}` }, example),
          ]).toEqual([key, example, true]);
  });
});

/** The keys of a file that are at a place without `$ref`s: those of its definitions are at the place of their users. */
const USERS: Readonly<Record<string, readonly string[]>> = {
  'catalog entry.*': ['providers.*'],
  'gateway cache': ['cache'],
  'keys key': ['keys.*'],
  'server admin': ['admin'],
  'server cache': ['cache'],
  'server state': ['state'],
  'server telemetry': ['telemetry'],
  'teams organization': ['organizations.*'],
  'teams team': ['teams.*'],
};

/** Paths of the keys that a fragment adds to objects of the core, or of another add-on. */
function addedKeys(own: string, fragment: Fragment): readonly string[] {
  const others = without(own);
  return Object.entries(fragment).flatMap(([file, { properties, definitions }]) => {
    const base = others.get(file);
    if (!base) return [];
    const fresh = (added: unknown, known: unknown): string[] =>
      Object.keys(Object(added)).filter((key) => !Object.hasOwn(Object(known), key));
    const inside = Object.entries(Object(definitions) as Record<string, Schema>).flatMap(([name, definition]) => {
      // `entry.*` is added to every kind of entry.
      const known = (base['definitions'] as Record<string, Schema>)[name.replace('.*', '')];
      const users = USERS[`${file} ${name}`] ?? [];
      return known
        ? fresh(definition['properties'], known['properties']).flatMap((key) => users.map((user) => `${user}.${key}`))
        : [];
    });
    // A driver adds keys to the store of the state, which another add-on has.
    const [state, known] = [definitions, base['definitions']].map((all) => Object(all).state);
    const stores = [state, known].map((one) => one?.properties?.store?.properties);
    const ofStore =
      file === 'server' && state && !state.type ? fresh(stores[0], stores[1]).map((key) => `state.store.${key}`) : [];
    return [...fresh(properties, base['properties']), ...inside, ...ofStore].map((path) => `${file} ${path}`);
  });
}

describe('the table of the settings of add-ons', () => {
  const table = Object.entries(ADD_ON_KEYS).flatMap(([file, keys]) =>
    Object.entries(keys).map(([path, addOn]) => [`${file} ${path}`, addOn] as const),
  );

  it.each(ADD_ONS)('has the keys of %s', (addOn) => {
    const listed = table.filter(([path, name]) => name === addOn && !path.includes('='));
    const added = new Set(addedKeys(addOn, fragments.get(addOn)!));
    // The listener of operators is a definition of its own, to which `explain` adds a key.
    expect(listed.map(([path]) => path).toSorted()).toEqual([...added].toSorted());
  });

  it('has the files of add-ons', () => {
    const own = ADD_ONS.flatMap((addOn) =>
      Object.entries(fragments.get(addOn)!).flatMap(([file, schema]) =>
        schema['$id'] !== undefined && isSettings(file) ? [[file, addOn]] : [],
      ),
    );
    expect(Object.entries(ADD_ON_FILES).toSorted()).toEqual(own.toSorted());
  });
});

const CATALOG = 'providers:\n  - provider: vertex-ai\n    api_key: x\n';
const KEYS = 'keys:\n  - id: a\n    key: gatehouse-test-key-0123456789\n';

function load(addOn: string, texts: Readonly<Record<string, string>>): Promise<LoadResult> {
  const all = Object.entries({ 'catalog.yaml': CATALOG, 'keys.yaml': KEYS, ...texts });
  const files = memoryFiles(Object.fromEntries(all.map(([name, text]) => [`configs/${name}`, text])));
  return loadSettings('configs', { env: {}, files, schemas: settingsOf(without(addOn)) });
}

async function problems(addOn: string, texts: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const { diagnostics } = await load(addOn, texts);
  return diagnostics.filter(({ severity }) => severity === 'error').map(written);
}

describe('a build without an add-on', () => {
  it.each([
    ['budgets', 'server.yaml', 'state: { store: { type: memory } }\n', '1:1'],
    ['admin', 'server.yaml', 'deadline: 1m\nadmin:\n  port: 1\n', '2:1'],
    ['explain', 'server.yaml', 'admin:\n  explain: all\n', '2:3'],
    ['alerts', 'server.yaml', 'alerts: { key_expiry: [1] }\n', '1:1'],
    ['files', 'server.yaml', 'files: { dir: /tmp/x }\n', '1:1'],
    ['responses', 'server.yaml', 'websockets: { turns: 3 }\n', '1:1'],
    ['semantic-cache', 'server.yaml', 'cache: { semantic: { scope_entries: 2 } }\n', '1:10'],
    ['otlp', 'server.yaml', 'telemetry:\n  traces: { protocol: grpc }\n', '2:3'],
    ['budgets', 'keys.yaml', `${KEYS}    limits: { requests: 1/s }\n`, '4:5'],
    ['files', 'keys.yaml', `${KEYS}    files: { max_files: 1 }\n`, '4:5'],
    ['prompts', 'keys.yaml', `${KEYS}    prompts: [a]\n`, '4:5'],
    ['budgets', 'teams.yaml', 'teams:\n  a:\n    budgets: [{ cap: 1 USD, period: day }]\n', '3:5'],
    ['budgets', 'catalog.yaml', `${CATALOG}    limits: { requests: 1/s }\n`, '4:5'],
    ['simulator', 'catalog.yaml', 'providers:\n  - provider: simulator\n', '2:15'],
    ['budgets', 'prices.yaml', 'prices: []\n', '1:1'],
    ['prompts', 'prompts/partials/a.txt', 'text', '1:1'],
    ['prompts', 'prompts/a.yaml', 'versions: { 1: { text: x } }\n', '1:1'],
    ['prompts', 'gateway/a.yaml', 'prompts: { a: 1 }\n', '1:1'],
    ['explain', 'gateway/a.yaml', 'reply_headers: [server_timing, explain_id]\n', '1:32'],
    [
      'semantic-cache',
      'gateway/a.yaml',
      'strategy: { mode: fallback }\ntargets:\n  - cache: { mode: semantic }\n',
      '3:20',
    ],
  ])('without %s names it at the place in %s: %s', async (addOn, file, text, place) => {
    expect(await problems(addOn, { [file]: text })).toEqual([
      `configs/${file}:${place}: this build has no add-on ${addOn}`,
    ]);
  });

  it('names the add-on of a table of prices', async () => {
    const text = readFileSync('data/models.json', 'utf8');
    expect(await problems('budgets', { 'price-table.json': text })).toEqual([
      'configs/price-table.json:1:1: this build has no add-on budgets',
    ]);
  });

  it('still suggests a key for one that no add-on has', async () => {
    expect(await problems('budgets', { 'server.yaml': 'stat: {}\n' })).toEqual([
      'configs/server.yaml:1:1: unknown key `stat`; did you mean "status"?',
    ]);
  });

  it('says so in `gatehouse validate`, with the exit code of an error', async () => {
    let text = '';
    const server = { 'server.yaml': 'deadline: 1m\nstate: { store: { type: memory } }\n' };
    const code = await validateCommand({
      dir: 'configs',
      format: 'pretty',
      env: {},
      out: (more) => (text += more),
      load: () => load('budgets', server),
    });
    expect(text).toContain('configs/server.yaml:2:1: this build has no add-on budgets\n');
    expect(code).toBe(1);
  });
});
