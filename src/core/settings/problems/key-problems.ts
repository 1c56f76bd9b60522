import type { ErrorObject } from 'ajv';
import { isObject, nearest } from '../../kernel/index.ts';
import type { Problem } from '../../kernel/report.ts';
import { absentAddOn } from './add-on-keys.ts';
import { adviceOnKey } from './foreign-words.ts';
import { toPointer, valueAt, type JsonPath } from '../schema/pointer.ts';
import { type Schema, propertiesOf, type SchemaTree } from '../schema/schema-files.ts';
import { packageSchemas } from '../schema/schemas.ts';
import { eitherKey, firstSentenceOf, shortList, showName } from '../values/show.ts';
import type { Values } from '../values/values.ts';

/** The context in which an ajv error is turned into a message. */
export interface ProblemContext {
  readonly path: JsonPath;
  readonly values: Pick<Values, 'json' | 'origins'>;
  readonly tree: SchemaTree;
  readonly root: readonly Schema[];
}

/** A problem that may be merged with another: a misspelt key also leaves the right key missing. */
export interface SchemaProblem extends Problem {
  readonly unknown?: string;
  /** The advice in the message on what to write instead. */
  readonly advice?: string;
  readonly missing?: readonly string[];
}

export function unknownKey(error: ErrorObject, place: ProblemContext): SchemaProblem {
  const key = String(error.params['additionalProperty']);
  const absent = absentAddOn(place.root, [...place.path, key]);
  if (absent !== undefined) return { path: [...place.path, key], on: 'key', message: absent };
  const properties = propertiesOf(error.parentSchema);
  const name = showName(key);
  const found: SchemaProblem = { path: [...place.path, key], on: 'key', message: `unknown key ${name}`, unknown: key };
  const advice = adviceOnKey(valueAt(error.parentSchema, ['title']), key);
  if (advice !== undefined) return { ...found, message: `unknown key ${name}: ${advice}`, advice };
  // A plugin's options are in a schema of its own, which is not a part of this one.
  const isPlugin = ['plugin', 'options'].every((name) => Object.hasOwn(properties, name));
  const home =
    (isPlugin ? 'under `options:`' : undefined) ??
    homeInside(key, properties, place) ??
    homeInBranch(key, place) ??
    homeAround(key, place) ??
    homeOfTargets(key, properties);
  if (home !== undefined) return { ...found, message: `unknown key ${name}: it belongs ${home}` };
  // A key that is already present cannot be the one intended.
  const free = Object.keys(properties).filter((property) => !Object.hasOwn(Object(error.data), property));
  const suggestion = nearest(key, free);
  return suggestion === undefined ? found : { ...found, suggestion };
}

/** The sibling keys whose object has this key: `attempts` belongs under `retry:`. */
function homeInside(key: string, properties: Schema, { tree }: ProblemContext): string | undefined {
  const inside = Object.entries(properties).filter(
    ([, property]) =>
      isObject(property) && tree.alternatives(property).some((schema) => Object.hasOwn(propertiesOf(schema), key)),
  );
  return inside.length === 0 ? undefined : `under ${eitherKey(inside.map(([name]) => `${name}:`))}`;
}

/** The tags of other branches of a union that have this key: `api_key` belongs to `provider: anthropic`. */
function homeInBranch(key: string, { path, ...place }: ProblemContext): string | undefined {
  const branches = schemasAt(path, place, { anyTag: true }).filter((schema) =>
    Object.hasOwn(propertiesOf(schema), key),
  );
  const tags = branches.flatMap((schema) =>
    Object.entries(propertiesOf(schema)).flatMap(([name, property]) => {
      const constant = valueAt(property, ['const']);
      return typeof constant === 'string' ? [`${name}: ${constant}`] : [];
    }),
  );
  return tags.length === 0 ? undefined : `to ${eitherKey(tags)}`;
}

/** The enclosing key whose siblings include this key. */
function homeAround(key: string, { path, ...place }: ProblemContext): string | undefined {
  for (let depth = path.length - 1; depth >= 0; depth -= 1) {
    if (schemasAt(path.slice(0, depth), place).some((schema) => Object.hasOwn(propertiesOf(schema), key)))
      return `beside \`${path[depth]}:\`, not under it`;
  }
  return undefined;
}

/** @param anyTag include the branches of a tagged union that the tag in the file rules out */
const schemasAt = (
  path: JsonPath,
  { tree, root, values }: Omit<ProblemContext, 'path'>,
  { anyTag = false } = {},
): readonly Schema[] =>
  path.reduce<readonly Schema[]>((containers, key, depth) => {
    const tagOf = (property: string) => valueAt(values.json, [...path.slice(0, depth), property]);
    return tree.child(containers, key, anyTag ? undefined : tagOf);
  }, root);

/** Request fields that other gateways have beside `provider`. */
const REQUEST_FIELDS: ReadonlySet<string> = new Set([
  'labels',
  'max_completion_tokens',
  'max_tokens',
  'model',
  'reasoning_effort',
  'response_format',
  'seed',
  'stop',
  'stream',
  'temperature',
  'thinking',
  'tools',
  'top_k',
  'top_p',
]);

/** Request fields belong under `override_params`, settings of an upstream in catalog.yaml. */
function homeOfTargets(key: string, properties: Schema): string | undefined {
  if (!Object.hasOwn(properties, 'override_params')) return undefined;
  if (REQUEST_FIELDS.has(key)) return 'under `override_params:`';
  const schemas = packageSchemas();
  const { tree } = schemas;
  const entry = tree.child(tree.child(schemas.root('catalog'), 'providers'), 0);
  return tree.child(entry, key).length > 0 ? 'to an entry of catalog.yaml' : undefined;
}

export function missingKey(error: ErrorObject, { path, tree }: ProblemContext): SchemaProblem {
  const missing = String(error.params['missingProperty']);
  const branches = tree.alternatives(error.parentSchema ?? {});
  const tags = tagsOf(branches, missing);
  if (tags.length === 0)
    return { path, message: `\`${missing}\` is missing${reason(error, missing)}`, missing: [missing] };
  // Without its tag ajv validates no branch of a union, so an unknown key that may be the misspelt tag is not reported yet.
  const known = branches.flatMap((branch) => Object.keys(propertiesOf(branch)));
  const unknown = Object.keys(Object(error.data)).filter((key) => !known.includes(key));
  const misspelt = unknown.find((key) => nearest(key, [missing]) !== undefined);
  if (misspelt !== undefined) return misspeltKey([...path, misspelt], missing);
  return { path, message: `\`${missing}\` is missing (${shortList(tags)})`, missing: [missing] };
}

export function tagsOf(branches: readonly Schema[], tag: string): string[] {
  return branches
    .map((branch) => valueAt(branch, ['properties', tag, 'const']))
    .filter((value) => typeof value === 'string');
}

function reason(error: ErrorObject, missing: string): string {
  const first = firstSentenceOf(propertiesOf(error.parentSchema)[missing]);
  return first === undefined ? '' : ` (${first})`;
}

const misspeltKey = (path: JsonPath, meant: string): SchemaProblem => ({
  path,
  on: 'key',
  message: `unknown key ${showName(String(path.at(-1)))}, and \`${meant}\` is missing`,
  suggestion: meant,
});

/** One mistake, one message: an unknown key that is nearest to a missing one counts as its misspelling. */
export function mergeMisspelt(findings: readonly SchemaProblem[]): SchemaProblem[] {
  const explained = new Set<SchemaProblem>();
  const merged = findings.map((finding) => {
    if (finding.unknown === undefined) return finding;
    const parent = toPointer(finding.path.slice(0, -1));
    const open = findings.filter(({ path, missing }) => missing && toPointer(path) === parent);
    const meant = meantAmong(
      finding,
      open.flatMap(({ missing = [] }) => missing),
    );
    const partner = open.find(({ missing = [] }) => meant !== undefined && missing.includes(meant));
    if (meant === undefined || !partner || explained.has(partner)) return finding;
    explained.add(partner);
    return finding.advice === undefined ? misspeltKey(finding.path, meant) : finding;
  });
  return merged.filter((finding) => !explained.has(finding));
}

function meantAmong({ unknown = '', advice }: SchemaProblem, missing: readonly string[]): string | undefined {
  return advice === undefined ? nearest(unknown, missing) : missing.find((key) => advice.includes(`\`${key}\``));
}
