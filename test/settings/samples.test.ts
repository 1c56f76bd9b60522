import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { keepOutput } from '../../src/core/commands/folder.testkit.ts';
import { samples } from '../../src/core/commands/samples.generated.ts';
import { schemaCommand } from '../../src/core/commands/schema.ts';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { checkSettings } from '../../src/core/dry-run/check-settings.ts';
import { describe as tell } from '../../src/core/settings/source/diagnostic.ts';
import { memoryFiles } from '../../src/core/settings/source/files.ts';
import { loadSettings } from '../../src/core/settings/read/load.ts';
import { readSchema, SCHEMA_NAMES, type SchemaName } from '../../src/core/settings/schema/schema-files.ts';
import { createAjv } from '../../src/core/settings/schema/schemas.ts';

const root = packageFile('configs');
const read = (name: string): string => readFileSync(join(root, name), 'utf8');

/** What the commented lines refer to. */
const ENV = {
  ANTHROPIC_API_KEY: 'an-api-key',
  OPENAI_API_KEY: 'another',
  AZURE_OPENAI_API_KEY: 'a-third',
  TEAM_SEARCH_KEY: 'a-key-for-search',
};
const SECRET_FILES = { '/run/secrets/vertex.json': '{}', '/run/secrets/vertex-service-account.json': '{}' };

const kindOf = (name: string): SchemaName =>
  name.endsWith('.test.yaml')
    ? 'test'
    : (SCHEMA_NAMES.find((kind) => name === `${kind}.yaml` || name.startsWith(`${kind}/`)) ?? 'server');

async function problemsOf(files: Readonly<Record<string, string>>): Promise<string[]> {
  const inFolder = Object.entries(files).map(([name, text]) => [`configs/${name}`, text]);
  const { diagnostics } = await loadSettings('configs', {
    env: ENV,
    files: memoryFiles({ ...SECRET_FILES, ...Object.fromEntries(inFolder) }),
  });
  return diagnostics.map(tell);
}

describe('the sample settings', () => {
  test('are valid with nothing set in the environment', async () => {
    const loaded = await loadSettings(root, { env: {} });
    await checkSettings(loaded, root);
    expect(loaded.diagnostics.map(tell)).toEqual([]);
    expect(loaded.ok).toBe(true);
  });

  test.each(Object.entries(samples))('are valid for a foreign validator: %s', (name, text) => {
    const { printed, ...output } = keepOutput();
    schemaCommand(kindOf(name), output);
    // It knows no other schema, and none of the gateway's own keywords.
    const ajv = new Ajv({ strict: false, allErrors: true });
    addFormats.default(ajv);
    const validate = ajv.compile(JSON.parse(printed.out));
    expect(validate(parse(text)), JSON.stringify(validate.errors)).toBe(true);
  });

  test('are valid with all that is commented out in them', async () => {
    const samples = globSync('**/*.yaml', { cwd: root }).map((name) => [name, uncommented(read(name))]);
    const text = Object.fromEntries(samples);
    // So that it is not only comments that were tested.
    for (const word of ['vertex-own-token', 'team-search', 'traces', 'chains'])
      expect(Object.values(text).join()).toMatch(new RegExp(`^[^#]*${word}`, 'm'));
    expect(await problemsOf(text)).toEqual([]);
  });
});

/** Comments that are settings: `# key: …` or `# - …`, where prose has a capital letter or no colon. */
function uncommented(text: string): string {
  return text
    .replaceAll(/^( *)# ( *(?:- )?[a-z_]+:(?: .*)?)$/gm, '$1$2')
    .replaceAll('sha256:…', `sha256:${'0'.repeat(64)}`);
}

/** Every schema within a schema, with its address. */
function within(schema: unknown, address: string): (readonly [string, Readonly<Record<string, unknown>>])[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const inner = Object.entries(schema).flatMap(([key, value]) =>
    key === 'examples' ? [] : within(value, `${address}/${key}`),
  );
  return Array.isArray(schema) ? inner : [[address, { ...schema }], ...inner];
}

describe('the schemas', () => {
  const ajv = createAjv();
  for (const name of SCHEMA_NAMES) ajv.addSchema(readSchema(name));
  const parts = SCHEMA_NAMES.flatMap((name) => within(readSchema(name), `https://gatehouse.dev/schemas/${name}.json#`));

  const examples = parts.flatMap(([address, { examples: given }]) =>
    Array.isArray(given) ? given.map((example) => [address, example] as const) : [],
  );
  test.each(examples)('%s has a valid example: %j', (address, example) => {
    const validate = ajv.compile({ $ref: address });
    expect(validate(example), JSON.stringify(validate.errors)).toBe(true);
  });

  const defaults = parts.flatMap(([address, { default: given }]) =>
    given === undefined || address.endsWith('/properties') ? [] : [[address, given] as const],
  );
  test.each(defaults)('%s has a valid default: %j', (address, given) => {
    expect(ajv.compile({ $ref: address })(given)).toBe(true);
  });

  test('show by an example what a pattern or a format wants: messages quote it', () => {
    const silent = parts.filter(
      ([, { pattern, format, examples: given }]) =>
        // A property may have the name of the keyword.
        typeof (pattern ?? format) === 'string' && given === undefined,
    );
    expect(silent.map(([address]) => address)).toEqual([]);
  });

  test('describe every key', () => {
    const keys = parts.filter(([address]) => /\/properties\/[^/]+$/.test(address));
    const unreported = keys.filter(
      ([, { description, $ref: ref }]) => description === undefined && typeof ref !== 'string',
    );
    expect(unreported.map(([address]) => address)).toEqual([]);
  });

  test('refuse unknown keys everywhere, but in options of plugins and guards, which have schemas of their own, and in a file that Google writes', () => {
    const open = parts.filter(
      ([, { type, properties, additionalProperties }]) =>
        type === 'object' && properties !== undefined && additionalProperties !== false,
    );
    expect(open.map(([address]) => address)).toEqual([
      'https://gatehouse.dev/schemas/server.json#/definitions/chain_changes/properties/options/additionalProperties',
      'https://gatehouse.dev/schemas/server.json#/definitions/added_item/properties/options',
      'https://gatehouse.dev/schemas/server.json#/definitions/chain_item/properties/options',
      'https://gatehouse.dev/schemas/server.json#/definitions/guard/properties/options',
      'https://gatehouse.dev/schemas/catalog.json#/definitions/service_account',
    ]);
  });
});
