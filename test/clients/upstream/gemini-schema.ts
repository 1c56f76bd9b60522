import { refuse } from './ask.ts';
import { fields, isFields, list, words } from './strict.ts';

/** The keywords of JSON Schema that Gemini reads (docs/protocols/gemini.md#json-schema-form). */
const KEYWORDS = words(
  '$id $defs $ref $anchor type format title description enum items prefixItems minItems maxItems ' +
    'minimum maximum anyOf oneOf properties additionalProperties required propertyOrdering',
);

/** `$schema` stands at the top of the schemas that Google's own Gemini CLI sends to it. */
export function checkSchemaDocument(value: unknown, at: string): void {
  const { $schema: _, ...schema } = fields(value, at);
  checkJsonSchema(schema, at);
}

export function checkJsonSchema(value: unknown, at: string): void {
  const schema = fields(value, at);
  for (const key of Object.keys(schema)) if (!KEYWORDS.includes(key)) refuse(`${at}: ${key} is not supported.`);
  for (const [name, property] of Object.entries(fields(schema['properties'] ?? {}, `${at}.properties`)))
    checkJsonSchema(property, `${at}.properties.${name}`);
  if (isFields(schema['items'])) checkJsonSchema(schema['items'], `${at}.items`);
  for (const choice of list(schema['anyOf'] ?? [], `${at}.anyOf`)) checkJsonSchema(choice, `${at}.anyOf`);
}
