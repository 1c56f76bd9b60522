import { isObject } from '../../kernel/index.ts';
import { Secret } from '../../../plugin/index.ts';
import { ADD_ON_FILES, withoutAddOn } from '../problems/add-on-keys.ts';
import { createConceal, secretsIn, type Conceal } from '../problems/conceal.ts';
import { aboutFile, type Diagnostic } from '../source/diagnostic.ts';
import type { SettingsFiles } from '../source/files.ts';
import type { FoundFile, FoundFiles } from '../source/find-files.ts';
import { toPointer, type JsonPath } from '../schema/pointer.ts';
import { PLAIN_TEXT, prepareReferences, type Environment, type ReferenceLookup } from '../values/references.ts';
import { schemaProblems } from '../problems/schema-problems.ts';
import type { Schemas } from '../schema/schemas.ts';
import { Fakes } from '../values/fakes.ts';
import { shareCredentials } from '../values/shared-credentials.ts';
import { readValues, type Values } from '../values/values.ts';
import { YamlFile } from '../source/yaml-file.ts';

/** One settings file, read as far as possible. */
export interface ReadFile {
  readonly found: FoundFile;
  readonly yaml: YamlFile | undefined;
  /** Undefined when it breaks its schema. */
  readonly value: unknown;
  readonly diagnostics: readonly Diagnostic[];
  /** For messages of later passes about this file. */
  readonly conceal: Conceal;
  /** The secrets in clear, for code that removes them from output. */
  readonly secrets: readonly string[];
  /** The file and the files that it refers to. */
  readonly paths: readonly string[];
  /** References of missing secrets that were faked: `env:NAME`, `file:PATH`. */
  readonly fakedNames: readonly string[];
}

interface ReadSetup {
  readonly env: Environment;
  readonly files: SettingsFiles;
  readonly schemas: Schemas;
  readonly fakeMissing?: boolean;
  /** Default: that of the kind. */
  readonly lookup?: ReferenceLookup;
  /** Shared credentials that entries of the state store name. */
  readonly usedElsewhere?: readonly unknown[];
}

/** Text → syntax tree → values with references resolved → validated → secrets wrapped. */
export async function readSettingsFile(found: FoundFile, setup: ReadSetup): Promise<ReadFile> {
  if (!setup.schemas.has(found.kind)) return unread(found, [withoutReader(found.kind, found.path)]);
  const content = await setup.files.read(found.path);
  if (!('text' in content)) {
    const message = 'missing' in content ? 'this file is missing' : `this file ${content.problem}`;
    return unread(found, [aboutFile(found.path, message)]);
  }
  const yaml = YamlFile.parse(found.path, content.text);
  if (yaml.syntaxErrors.length > 0) return unread(found, yaml.syntaxErrors, yaml);

  // A test file and a prompt are taken literally: their text is exactly what is sent and expected.
  const lookup =
    setup.lookup ??
    (found.kind === 'test' || found.kind === 'prompt'
      ? PLAIN_TEXT
      : await prepareReferences(yaml, setup.env, setup.files));
  const { tree } = setup.schemas;
  const fakeMissing = setup.fakeMissing ? new Fakes() : undefined;
  const root = setup.schemas.root(found.kind);
  const written = readValues(yaml, root, { tree, lookup, fakeMissing });
  // An empty file, or one with comments only, is an object without keys.
  const read = written.json === null ? { ...written, json: {} } : written;
  const sharing = { root, tree, usedElsewhere: setup.usedElsewhere };
  const shared = found.kind === 'catalog' ? shareCredentials(read, sharing) : { values: read, problems: [] };
  const { values } = shared;
  const problems = [
    ...shared.problems,
    ...schemaProblems(setup.schemas.validate(found.kind, values.json), values, { tree, root }),
  ];
  const diagnostics = [...values.diagnostics, ...problems.map((problem) => yaml.diagnose(problem))];
  const sound = diagnostics.every(({ severity }) => severity === 'warning');
  return {
    found,
    yaml,
    value: sound ? seal(values) : undefined,
    diagnostics,
    conceal: createConceal(values),
    secrets: secretsIn(values),
    paths: [found.path, ...lookup.paths],
    fakedNames: fakeMissing?.names ?? [],
  };
}

const withoutReader = (kind: FoundFile['kind'], file: string): Diagnostic =>
  aboutFile(file, withoutAddOn(ADD_ON_FILES[kind] ?? kind));

/** Files without a schema of their own that only an add-on reads, which this build lacks. */
export const filesWithoutReader = ({ priceTable, partials }: FoundFiles, schemas: Schemas): readonly Diagnostic[] => [
  ...(priceTable === undefined || schemas.has('prices') ? [] : [withoutReader('prices', priceTable)]),
  ...(schemas.has('prompt') ? [] : partials.map(({ path }) => withoutReader('prompt', path))),
];

/** A file that could not be read: its values are unknown, so only the shapes of secrets are concealed. */
const unread = (found: FoundFile, diagnostics: readonly Diagnostic[], yaml?: YamlFile): ReadFile => ({
  found,
  yaml,
  value: undefined,
  diagnostics,
  conceal: concealShapes,
  secrets: [],
  paths: [found.path],
  fakedNames: [],
});

const concealShapes: Conceal = createConceal({ json: null, origins: new Map() });

/** The values with every secret wrapped, so that none can be printed by mistake. */
function seal({ json, origins }: Values): unknown {
  const sealAt = (value: unknown, path: JsonPath): unknown => {
    if (Array.isArray(value)) return value.map((item, index) => sealAt(item, [...path, index]));
    if (isObject(value))
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, sealAt(inner, [...path, key])]));
    const origin = origins.get(toPointer(path));
    return origin?.secret && typeof value === 'string'
      ? new Secret(value, origin.sources.join(', ') || undefined)
      : value;
  };
  return sealAt(json, []);
}
