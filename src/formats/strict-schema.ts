import { isObject } from './json/object.ts';
import { shownText } from './json/shown.ts';
import type { LossReport } from './losses/losses.ts';
import type { JsonObject } from './conversation.ts';

/** OpenAI's rules for schemas of strict tools and answers (docs/protocols/openai-chat.md#strict-schemas). */
const REFUSED: ReadonlySet<string> = new Set(
  (
    'allOf oneOf not if then else dependentRequired dependentSchemas patternProperties propertyNames minProperties maxProperties ' +
    'unevaluatedProperties unevaluatedItems contains minContains maxContains prefixItems uniqueItems minLength maxLength'
  ).split(' '),
);
const FORMATS: ReadonlySet<unknown> = new Set('date-time time date duration email hostname ipv4 ipv6 uuid'.split(' '));
const TYPES: ReadonlySet<unknown> = new Set('string number boolean integer object array null'.split(' '));

const MOST_LEVELS = 10;
const MOST_PROPERTIES = 5000;
const MOST_CHARACTERS = 120_000;
const MOST_VALUES = 1000;
/** A longer list of strings has at most `MOST_LIST_CHARACTERS`. */
const LONG_LIST = 250;
const MOST_LIST_CHARACTERS = 15_000;

/** `strict` as OpenAI takes it with this schema. */
export function strictFor(
  { schema, strict }: { readonly schema?: JsonObject | undefined; readonly strict?: boolean | undefined },
  path: string,
  losses: LossReport,
): boolean | undefined {
  const fault = strict ? strictFault(schema) : undefined;
  if (fault === undefined) return strict;
  losses.downgraded(path, `sent as not strict: OpenAI's strict schemas ${fault}`);
  return false;
}

/** The first rule that a schema breaks. */
export function strictFault(schema: JsonObject | undefined): string | undefined {
  if (schema?.type !== 'object') return 'are objects';
  if (schema.anyOf !== undefined) return 'have no `anyOf` at the root';
  const reader = new Reader();
  return reader.fault(schema, 0) ?? reader.limit();
}

class Reader {
  #properties = 0;
  #characters = 0;
  #values = 0;

  /** @param level the objects around the schema */
  fault(schema: unknown, level: number): string | undefined {
    if (!isObject(schema)) return 'take no `true`, `false` and other values in place of a schema';
    const refused = Object.keys(schema).find((keyword) => REFUSED.has(keyword));
    if (refused !== undefined) return `have no \`${refused}\``;
    if (typeof schema.$ref === 'string' && hasOther(schema)) return 'have nothing beside `$ref`';
    return (
      typeFault(schema) ??
      this.#list(schema) ??
      (isOf(schema, 'object') ? this.#object(schema, level + 1) : undefined) ??
      this.#children(schema, level)
    );
  }

  limit(): string | undefined {
    if (this.#properties > MOST_PROPERTIES) return `have at most ${MOST_PROPERTIES} properties`;
    if (this.#values > MOST_VALUES) return `list at most ${MOST_VALUES} values`;
    return this.#characters > MOST_CHARACTERS
      ? `have at most ${MOST_CHARACTERS} characters in names and values`
      : undefined;
  }

  #object({ properties = {}, required = [], additionalProperties }: JsonObject, level: number): string | undefined {
    if (level > MOST_LEVELS) return `nest at most ${MOST_LEVELS} levels`;
    if (additionalProperties !== false) return 'have `additionalProperties: false` on every object';
    const names = isObject(properties) ? Object.keys(properties) : [];
    const demanded = new Set<unknown>(Array.isArray(required) ? required : []);
    const optional = names.find((name) => !demanded.has(name));
    if (optional !== undefined) return `require every property, and \`${shownText(optional)}\` is optional`;
    if (demanded.size > names.length) return 'require no property that is not defined';
    this.#properties += names.length;
    this.#count(names);
    return undefined;
  }

  #list({ enum: listed, const: only }: JsonObject): string | undefined {
    if (only !== undefined) this.#count([only]);
    if (!Array.isArray(listed)) return undefined;
    this.#values += listed.length;
    const characters = this.#count(listed);
    const isLong = listed.length > LONG_LIST && characters > MOST_LIST_CHARACTERS;
    return isLong ? `list at most ${MOST_LIST_CHARACTERS} characters in more than ${LONG_LIST} values` : undefined;
  }

  #count(texts: readonly unknown[]): number {
    let characters = 0;
    for (const text of texts) if (typeof text === 'string') characters += text.length;
    this.#characters += characters;
    return characters;
  }

  #children(schema: JsonObject, level: number): string | undefined {
    const inside = isOf(schema, 'object') ? level + 1 : level;
    for (const named of [schema.properties, schema.$defs, schema.definitions]) {
      if (!isObject(named)) continue;
      if (named !== schema.properties) this.#count(Object.keys(named));
      const fault = this.#first(Object.values(named), named === schema.properties ? inside : 0);
      if (fault !== undefined) return fault;
    }
    const others = [schema.items, ...(Array.isArray(schema.anyOf) ? schema.anyOf : [])];
    return this.#first(
      others.filter((child) => child !== undefined),
      level,
    );
  }

  #first(schemas: readonly unknown[], level: number): string | undefined {
    for (const schema of schemas) {
      const fault = this.fault(schema, level);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }
}

const hasOther = (schema: JsonObject): boolean =>
  Object.keys(schema).some((keyword) => keyword !== '$ref' && keyword !== '$defs' && keyword !== 'definitions');

const isOf = ({ type, properties }: JsonObject, name: string): boolean =>
  [type].flat().includes(name) || (name === 'object' && properties !== undefined);

function typeFault(schema: JsonObject): string | undefined {
  const { type, items, format, anyOf, $ref } = schema;
  if (type === undefined) return anyOf === undefined && $ref === undefined ? 'have a `type` everywhere' : undefined;
  const unknown = [type].flat().find((name) => !TYPES.has(name));
  if (unknown !== undefined) return `have no type \`${shownText(JSON.stringify(unknown))}\``;
  if (isOf(schema, 'array') && items === undefined) return 'describe the items of every array';
  return format === undefined || FORMATS.has(format)
    ? undefined
    : `have no format \`${shownText(JSON.stringify(format))}\``;
}
