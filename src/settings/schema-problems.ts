import type { ErrorObject } from 'ajv';
import type { Problem } from '../plugin/index.ts';
import { nearest } from './nearest.ts';
import { fromPointer, nameOf, toPointer, valueAt, type Path } from './pointer.ts';
import type { Schema } from './schema-files.ts';
import { isSchema, type Schemas } from './schemas.ts';
import { showName, showValue } from './show.ts';
import { settleUnions } from './union-problems.ts';
import type { Values } from './values.ts';

/** What a mapping from an ajv error to a person's words has at hand. */
interface Place {
  readonly path: Path;
  readonly values: Values;
  readonly schemas: Schemas;
  readonly root: readonly Schema[];
}

/** A problem that may turn out to be half of another one: a misspelt key leaves the right one missing. */
interface Finding extends Problem {
  readonly unknown?: string;
  readonly missing?: string;
}

/** Validation errors as problems at their places: one for each mistake, in words people use. */
export function schemaProblems(
  errors: readonly ErrorObject[],
  values: Values,
  { schemas, root }: { schemas: Schemas; root: readonly Schema[] },
): Problem[] {
  const findings = settleUnions(errors).flatMap((error) => {
    const path = fromPointer(error.instancePath, values.json);
    return explain(error, { path, values, schemas, root });
  });
  return mergeMisspelt(findings).filter(({ path }) => !values.origins.get(toPointer(path))?.unresolved);
}

function explain(error: ErrorObject, place: Place): Finding[] {
  const { path } = place;
  const name = nameOf(path);
  const given = showValue(error.data, place.values.origins.get(toPointer(path)));
  switch (error.keyword) {
    case 'additionalProperties':
      return [unknownKey(error, place)];
    case 'required':
      return [missingKey(error, path)];
    case 'requireOneOf':
      return [{ path, message: `${either(error.params['names'])} is missing` }];
    case 'requireOnlyOne':
      return [{ path, message: `give either ${either(error.params['names'])}, not both` }];
    case 'enum':
    case 'const':
      return [notAllowed(error, place)];
    case 'discriminator':
      return wrongTag(error, place);
    case 'type':
      return [{ path, message: wrongType(error, name, given) }];
    case 'pattern':
    case 'format':
      return [{ path, message: `${name} must look like ${examples(error.parentSchema) ?? 'something else'}, not ${given}` }];
    case 'minimum':
      return [{ path, message: `${name} must be at least ${error.params['limit']}, not ${given}` }];
    case 'maximum':
      return [{ path, message: `${name} must be at most ${error.params['limit']}, not ${given}` }];
    case 'minLength':
      return [{ path, message: tooShort(name, Number(error.params['limit']), error.data) }];
    case 'minItems':
      return [{ path, message: `${name} must have at least ${items(error.params['limit'])}` }];
    case 'maxItems':
      return [{ path, message: `${name} must have at most ${items(error.params['limit'])}, not ${valueAt(error.data, ['length'])}` }];
    case 'uniqueItems':
      return [duplicate(error, place)];
    default:
      return [{ path, message: `${name} ${error.message ?? 'is not valid'}` }];
  }
}

function unknownKey(error: ErrorObject, { path, schemas, root, values }: Place): Finding {
  const key = String(error.params['additionalProperty']);
  const found: Finding = { path: [...path, key], on: 'key', message: `unknown key ${showName(key)}`, unknown: key };
  const properties = propertiesOf(error.parentSchema);
  const home = homeOf(key, properties, schemas) ?? outerHome(key, path, { schemas, root, values });
  if (home) return { ...found, message: `${found.message}: it belongs ${home}` };
  const suggestion = nearest(key, Object.keys(properties).filter((name) => !Object.hasOwn(Object(error.data), name)));
  return suggestion === undefined ? found : { ...found, suggestion };
}

/** The neighbour that has such a key inside: `attempts` is one of `retry:`. */
function homeOf(key: string, properties: Schema, schemas: Schemas): string | undefined {
  const inside = Object.entries(properties).find(([, property]) =>
    isSchema(property) && schemas.alternatives(property).some((schema) => Object.hasOwn(propertiesOf(schema), key)),
  );
  return inside && `under \`${inside[0]}:\``;
}

/** The key around this place beside which such a key may stand. */
function outerHome(key: string, path: Path, { schemas, root, values }: Omit<Place, 'path'>): string | undefined {
  for (let depth = path.length - 1; depth >= 0; depth -= 1) {
    const around = path.slice(0, depth);
    if (schemasAt(around, { schemas, root, values }).some((schema) => Object.hasOwn(propertiesOf(schema), key))) {
      return `beside \`${path[depth]}:\`, not under it`;
    }
  }
  return undefined;
}

function schemasAt(path: Path, { schemas, root, values }: Omit<Place, 'path'>): readonly Schema[] {
  return path.reduce<readonly Schema[]>(
    (containers, key, depth) =>
      schemas.child(containers, key, (property) => valueAt(values.json, [...path.slice(0, depth), property])),
    root,
  );
}

function missingKey(error: ErrorObject, path: Path): Finding {
  const missing = String(error.params['missingProperty']);
  const description = valueAt(propertiesOf(error.parentSchema)[missing], ['description']);
  const why = typeof description === 'string' ? `: ${description.split(/(?<=\.)\s/)[0]!.replace(/\.$/, '')}` : '';
  return { path, message: `\`${missing}\` is missing${why}`, missing };
}

/** One mistake, one message: the unknown key that is nearest to a missing one is that one, misspelt. */
function mergeMisspelt(findings: readonly Finding[]): Problem[] {
  const explained = new Set<Finding>();
  const merged = findings.map((finding) => {
    if (finding.unknown === undefined) return finding;
    const parent = toPointer(finding.path.slice(0, -1));
    const candidates = findings.filter((other) => other.missing !== undefined && toPointer(other.path) === parent);
    const meant = nearest(finding.unknown, candidates.flatMap(({ missing }) => missing ?? []));
    const partner = candidates.find(({ missing }) => missing === meant && meant !== undefined);
    if (!partner || explained.has(partner)) return finding;
    explained.add(partner);
    return { ...finding, message: `unknown key ${showName(finding.unknown)}, and \`${meant}\` is missing`, suggestion: meant! };
  });
  return merged.filter((finding) => !explained.has(finding));
}

function notAllowed(error: ErrorObject, { path, values }: Place): Finding {
  const allowed: unknown[] = error.keyword === 'const' ? [error.params['allowedValue']] : error.params['allowedValues'];
  return mustBe(allowed.map(String), { path, data: error.data, values });
}

function wrongTag(error: ErrorObject, { path, values, schemas }: Place): Finding[] {
  const tag = String(error.params['tag']);
  const data = valueAt(error.data, [tag]);
  // `required` tells that one.
  if (data === undefined) return [];
  const branches = schemas.alternatives(error.parentSchema ?? {});
  const known = branches.map((branch) => valueAt(branch, ['properties', tag, 'const'])).filter((one) => typeof one === 'string');
  return [mustBe(known, { path: [...path, tag], data, values })];
}

const MOST_LISTED = 8;

function mustBe(allowed: readonly string[], { path, data, values }: { path: Path; data: unknown; values: Values }): Finding {
  const origin = values.origins.get(toPointer(path));
  const listed = allowed.length > MOST_LISTED ? [...allowed.slice(0, MOST_LISTED), '…'] : allowed;
  const suggestion = typeof data === 'string' ? nearest(data, allowed) : undefined;
  const message = `${nameOf(path)} must be ${alternatives(listed)}, not ${showValue(data, origin)}`;
  return { path, message, ...(suggestion === undefined ? {} : { suggestion }) };
}

const TYPES: Readonly<Record<string, string>> = {
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  string: 'text',
  array: 'a list',
  object: 'an object',
};

function wrongType(error: ErrorObject, name: string, given: string): string {
  const types: string[] = [error.params['type']].flat();
  if (error.data === null) return `${name} is empty; give it a value or remove it`;
  // Times and sizes take a number or text: an example says more than the two types.
  const example = types.length > 1 && !types.includes('object') ? examples(error.parentSchema) : undefined;
  const wanted = example ? `must look like ${example}` : `must be ${alternatives(types.map((type) => TYPES[type] ?? type))}`;
  return `${name} ${wanted}, not ${given}${quotesHint(types, error.data)}`;
}

function quotesHint(types: readonly string[], data: unknown): string {
  if (types.includes('string') && types.length === 1 && (typeof data === 'number' || typeof data === 'boolean')) {
    return ': put it in quotes';
  }
  if (typeof data !== 'string') return '';
  const unquoted = (types.includes('integer') && /^-?\d+$/.test(data)) || (types.includes('boolean') && /^(true|false)$/.test(data));
  return unquoted ? ': remove the quotes' : '';
}

function tooShort(name: string, limit: number, data: unknown): string {
  return data === '' || limit === 1 ? `${name} must not be empty` : `${name} must have at least ${limit} characters`;
}

function duplicate(error: ErrorObject, { path, values }: Place): Finding {
  const later = Math.max(Number(error.params['i']), Number(error.params['j']));
  const at = [...path, later];
  return { path: at, message: `${nameOf(path)} has ${showValue(valueAt(error.data, [later]), values.origins.get(toPointer(at)))} twice` };
}

function propertiesOf(schema: unknown): Schema {
  const properties = valueAt(schema, ['properties']);
  return isSchema(properties) ? properties : {};
}

function examples(schema: unknown): string | undefined {
  const given = valueAt(schema, ['examples']);
  if (!Array.isArray(given) || given.length === 0) return undefined;
  return alternatives(given.map((example) => (typeof example === 'string' ? JSON.stringify(example) : String(example))));
}

const items = (count: unknown): string => (count === 1 ? 'one item' : `${count} items`);

const either = (names: readonly string[]): string => alternatives(names.map((name) => `\`${name}\``));

function alternatives(words: readonly string[]): string {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
