import { globSync, readFileSync } from 'node:fs';
import { Ajv, type Options } from 'ajv';
import addFormats from 'ajv-formats';
import standalone from 'ajv/dist/standalone/index.js';
import { builtinPlugins } from '../plugins/index.ts';
import { addOns } from '../src/addons/index.ts';
import { registerAddOns } from '../src/core/commands/add-on.ts';
import { BODY_CHECK } from '../src/core/operations/body-schema.ts';
import { packageFile } from '../src/core/kernel/package-root.ts';
import { defaultsOf, fillerOf, FILLING, namedSchema } from '../src/core/settings/compile/plugin-options.ts';
import { readSchema, SCHEMA_NAMES, type Schema } from '../src/core/settings/schema/schema-files.ts';
import { OWN_KEYWORDS, SETTINGS_CHECK } from '../src/core/settings/schema/schemas.ts';

/** Schemas that may refer to each other, by the names of their validators in `compiledAhead`. */
interface Group {
  readonly options: Options;
  readonly schemas: ReadonlyMap<string, Schema>;
}

/**
 * The code of `src/core/kernel/compiled-ahead.ts` in the package, and of the modules that it imports.
 * @param name the name of the first
 */
export function compiledAheadModules(name: string): ReadonlyMap<string, string> {
  const groups = [settingsSchemas(), bodySchemas(), ...optionSchemas()];
  const parts = groups.map((group, index) => [`\0compiled-ahead-${index}`, codeOf(group)] as const);
  const imports = parts.map(([part], index) => `import * as part${index} from ${JSON.stringify(part)};\n`);
  const entries = groups.flatMap(({ schemas }, index) =>
    [...schemas.keys()].map((key, at) => `  [${JSON.stringify(key)}, part${index}.check${at}],\n`),
  );
  return new Map([
    ...parts,
    [name, `${imports.join('')}export const compiledAhead = new Map([\n${entries.join('')}]);\n`],
  ]);
}

function codeOf({ options, schemas }: Group): string {
  // Tests check the schemas against draft-07.
  const ajv = new Ajv({
    ...options,
    validateSchema: false,
    meta: false,
    code: { source: true, esm: true, lines: true },
  });
  addFormats.default(ajv);
  ajv.addVocabulary(OWN_KEYWORDS);
  ajv.addSchema([...schemas.values()]);
  return standalone.default(
    ajv,
    Object.fromEntries([...schemas.values()].map((schema, at) => [`check${at}`, String(schema['$id'])])),
  );
}

const byId = (schemas: readonly Schema[]): ReadonlyMap<string, Schema> =>
  new Map(schemas.map((schema) => [String(schema['$id']), schema]));

const settingsSchemas = (): Group => ({
  // A function for each part: V8 compiles those that a folder of settings needs.
  options: { ...SETTINGS_CHECK, inlineRefs: false },
  schemas: byId(SCHEMA_NAMES.map(readSchema)),
});

await registerAddOns(addOns);

function bodySchemas(): Group {
  const ofSettings = SCHEMA_NAMES.map((name) => `${name}.json`);
  const files = globSync('*.json', { cwd: packageFile('schemas') }).filter((file) => !ofSettings.includes(file));
  const read = (file: string): Schema => JSON.parse(readFileSync(packageFile(`schemas/${file}`), 'utf8')) as Schema;
  return { options: BODY_CHECK, schemas: byId(files.toSorted().map(read)) };
}

/** For each different schema of a built-in plugin's options: a validator, and what fills in its defaults. */
function optionSchemas(): readonly Group[] {
  const texts = [...new Set(builtinPlugins.map(({ options }) => JSON.stringify(options)))];
  return texts.flatMap((text) => {
    const schema = namedSchema(JSON.parse(text) as object);
    const check = { options: SETTINGS_CHECK, schemas: new Map([[text, schema]]) };
    const fill = { options: FILLING, schemas: new Map([[fillerOf(text), schema]]) };
    return defaultsOf(schema).length > 0 ? [check, fill] : [check];
  });
}
