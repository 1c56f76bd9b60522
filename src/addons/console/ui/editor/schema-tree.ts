/** JSON Schemas of settings files by their `$id`; references in them are absolute. */
export type SettingsSchema = Readonly<Record<string, unknown>>;
export type Schemas = ReadonlyMap<string, SettingsSchema>;

const isSchema = (value: unknown): value is SettingsSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const textIn = (schema: SettingsSchema, name: string): string | undefined =>
  typeof schema[name] === 'string' ? schema[name] : undefined;

/** A schema without its indirections. A reference to a schema that is not loaded is nothing. */
export function alternativesOf(schema: unknown, schemas: Schemas, depth = 8): readonly SettingsSchema[] {
  if (!isSchema(schema) || depth === 0) return [];
  const { $ref: ref } = schema;
  if (typeof ref === 'string') {
    const { $ref: _, ...own } = schema;
    const found = alternativesOf(resolve(ref, schemas), schemas, depth - 1);
    // Members beside a reference are about this use of it.
    return found.map((one, index) => (index === 0 ? { ...one, ...own } : one));
  }
  const branches = ['oneOf', 'anyOf', 'allOf'].flatMap((name) => (Array.isArray(schema[name]) ? schema[name] : []));
  return [schema, ...branches.flatMap((one) => alternativesOf(one, schemas, depth - 1))];
}

function resolve(ref: string, schemas: Schemas): unknown {
  const [id = '', fragment = ''] = ref.split('#');
  return fragment
    .split('/')
    .slice(1)
    .reduce<unknown>((at, step) => (isSchema(at) ? at[step] : undefined), schemas.get(id));
}

/** The text that a file has for a property which tells the branches of a union apart: the `provider` of an entry. */
type TagOf = (property: string) => string | undefined;

/** The schemas of the map itself: those of other branches are left out. */
export function fitting(containers: readonly SettingsSchema[], tagOf: TagOf): readonly SettingsSchema[] {
  const fit = containers.filter((one) =>
    Object.entries(propertiesOf(one)).every(([name, property]) => {
      const wanted = isSchema(property) ? property['const'] : undefined;
      const given = tagOf(name);
      return wanted === undefined || given === undefined || given === wanted;
    }),
  );
  return fit.some((one) => isSchema(one['properties'])) ? fit : containers;
}

export const propertiesOf = (schema: SettingsSchema): SettingsSchema =>
  isSchema(schema['properties']) ? schema['properties'] : {};

/** The schemas of a member. */
export function childOf(
  containers: readonly SettingsSchema[],
  step: string | number,
  schemas: Schemas,
): readonly SettingsSchema[] {
  return containers.flatMap((one) => {
    if (typeof step === 'number') return alternativesOf(one['items'], schemas);
    const member = propertiesOf(one)[step] ?? one['additionalProperties'];
    return alternativesOf(member, schemas);
  });
}

/** The values that a schema names, in the order of the schemas. */
export function valuesOf(alternatives: readonly SettingsSchema[]): readonly string[] {
  const named = alternatives.flatMap(({ enum: listed, const: only, type }) => {
    if (Array.isArray(listed)) return listed;
    if (only !== undefined) return [only];
    return type === 'boolean' ? [true, false] : [];
  });
  return [...new Set(named.filter((one) => ['string', 'number', 'boolean'].includes(typeof one)).map(String))];
}

/** A description with its type, and its default or an example: for people. */
export function aboutSchema(alternatives: readonly SettingsSchema[]): {
  readonly text: string;
  readonly type: string;
  readonly more: string;
} {
  const text = alternatives.flatMap((one) => textIn(one, 'description') ?? [])[0] ?? '';
  const types = alternatives
    .flatMap(({ type }) => (Array.isArray(type) ? type : [type]))
    .filter((one) => typeof one === 'string');
  const withDefault = alternatives.find((one) => one['default'] !== undefined);
  const example = alternatives.flatMap(({ examples }) => (Array.isArray(examples) ? examples : []))[0] as unknown;
  const more =
    withDefault === undefined
      ? example === undefined
        ? ''
        : `For example ${JSON.stringify(example)}`
      : `Default: ${JSON.stringify(withDefault['default'])}`;
  return { text, type: [...new Set(types)].join(' or '), more };
}
