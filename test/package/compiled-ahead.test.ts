import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import * as fc from 'fast-check';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compiledAheadModules } from '../../build/compiled-ahead.ts';
import { builtinPlugins } from '../../plugins/index.ts';
import { BODY_CHECK } from '../../src/core/operations/body-schema.ts';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { defaultsOf, fillerOf, FILLING, namedSchema } from '../../src/core/settings/compile/plugin-options.ts';
import {
  absoluteRefs,
  readSchema,
  SCHEMA_NAMES,
  type Schema,
  SchemaTree,
} from '../../src/core/settings/schema/schema-files.ts';
import { Schemas, createAjv } from '../../src/core/settings/schema/schemas.ts';
import { anyValueOf, drawFrom } from '../support/any-value-of.ts';

/** The package has the schemas' validators as code; the sources compile them when they run. */
const folder = mkdtempSync(join(tmpdir(), 'gatehouse-ahead-'));
let ahead: ReadonlyMap<string, ValidateFunction>;

beforeAll(async () => {
  const modules = compiledAheadModules('main');
  const build = await rolldown({
    input: 'main',
    platform: 'node',
    plugins: [
      { name: 'modules', resolveId: (id) => (modules.has(id) ? id : undefined), load: (id) => modules.get(id) },
    ],
  });
  const file = join(folder, 'compiled-ahead.mjs');
  const { output } = await build.generate({ format: 'esm' });
  await build.close();
  writeFileSync(file, output[0].code);
  ({ compiledAhead: ahead } = (await import(pathToFileURL(file).href)) as { compiledAhead: typeof ahead });
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What becomes of an error in a message. */
const told = (errors: readonly ErrorObject[] | null | undefined) =>
  (errors ?? []).map(({ instancePath, keyword, params, message, schema, parentSchema, data }) => ({
    instancePath,
    keyword,
    params,
    message,
    schema,
    parentSchema,
    data,
  }));

/** Both answers to many values, of which some are valid and some are not. */
function compare(schema: Schema, tree: SchemaTree, answers: (value: unknown) => readonly [unknown, unknown]): void {
  const seen = { valid: 0, refused: 0 };
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const [one, other] = answers(anyValueOf(schema, tree, drawFrom(seed)));
      expect(one).toEqual(other);
      seen[Array.isArray(other) && other.length === 0 ? 'valid' : 'refused'] += 1;
    }),
    { numRuns: 600 },
  );
  expect(seen.refused).toBeGreaterThan(20);
  expect(seen.valid).toBeGreaterThan(5);
}

const errorsOf = (validate: ValidateFunction, value: unknown) => (validate(value) ? [] : told(validate.errors));

describe('the validators of the package', () => {
  const bodies = globSync('*.json', { cwd: packageFile('schemas') })
    .map((file) => file.replace('.json', ''))
    .filter((name) => !SCHEMA_NAMES.some((ofSettings) => ofSettings === name));
  const options = [...new Set(builtinPlugins.map((plugin) => JSON.stringify(plugin.options)))];

  it('are all that the gateway needs for its own schemas', () => {
    const ids = [...SCHEMA_NAMES, ...bodies].map((name) => `https://gatehouse.dev/schemas/${name}.json`);
    const fillers = options.filter((text) => defaultsOf(JSON.parse(text) as Schema).length > 0).map(fillerOf);
    expect([...ahead.keys()].toSorted()).toEqual([...ids, ...options, ...fillers].toSorted());
  });

  it.each(SCHEMA_NAMES)('report the same errors in settings as run-time compilation: %s', (name) => {
    const schemas = new Schemas();
    const validate = ahead.get(String(readSchema(name)['$id']))!;
    compare(readSchema(name), schemas.tree, (value) => [
      errorsOf(validate, value),
      told(schemas.validate(name, value)),
    ]);
  });

  it.each(bodies)('report the same errors in bodies as run-time compilation: %s', (name) => {
    const schema = JSON.parse(readFileSync(packageFile(`schemas/${name}.json`), 'utf8')) as Schema;
    const id = String(schema['$id']);
    const whole = absoluteRefs(schema, id);
    const [validate, atRunTime] = [ahead.get(id)!, new Ajv(BODY_CHECK).compile(schema)];
    compare(whole, new SchemaTree([whole]), (value) => [errorsOf(validate, value), errorsOf(atRunTime, value)]);
  });

  it.each(options)('report the same errors in options as run-time compilation, and fill in the same: %s', (text) => {
    const schema = namedSchema(JSON.parse(text) as object);
    const [validate, atRunTime] = [ahead.get(text)!, createAjv({ trusted: true }).compile(schema)];
    const filler = new Ajv(FILLING);
    addFormats.default(filler);
    const [fill, fillAtRunTime] = [ahead.get(fillerOf(text)), filler.compile(schema)];
    const filled = (by: ValidateFunction | undefined, value: unknown): unknown => {
      const copy = structuredClone(value);
      by?.(copy);
      return copy;
    };
    compare(schema, new SchemaTree([schema]), (value) => {
      expect(filled(fill, value)).toEqual(filled(fillAtRunTime, value));
      return [errorsOf(validate, value), errorsOf(atRunTime, value)];
    });
  });
});
