import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compile, type JSONSchema } from 'json-schema-to-typescript';
import { openApiDocument } from '../src/addons/admin/api/openapi.ts';

const OUTPUT = join(import.meta.dirname, '../src/addons/console/ui/api/types.generated.ts');

const BANNER = '// Generated from the table of routes by `node build/console-types.ts`. Do not edit.\n';
const WORDS: ReadonlySet<string> = new Set([
  'description',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'default',
]);

interface Operation {
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly schema: object;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: object }>> };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: object }>> }>
  >;
}

const object = (properties: object, required: readonly string[]): object => ({
  type: 'object',
  additionalProperties: false,
  required,
  properties,
});

const content = (media: Readonly<Record<string, { readonly schema: object }>> = {}): object =>
  object(Object.fromEntries(Object.entries(media).map(([type, { schema }]) => [type, schema])), Object.keys(media));

/** The members of the type `paths` that openapi-fetch reads. */
function callOf({ parameters, requestBody, responses }: Operation): object {
  const places = Object.groupBy(parameters, (parameter) => parameter.in);
  const ofPlaces = Object.entries(places).map(([place, list = []]) => [
    place,
    object(
      Object.fromEntries(list.map(({ name, schema }) => [name, schema])),
      list.filter(({ required }) => required === true).map(({ name }) => name),
    ),
  ]);
  const needed = Object.entries(places).filter(([, list = []]) => list.some(({ required }) => required === true));
  const success = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  const problem = { $ref: '#/components/schemas/problem' };
  return object(
    {
      parameters: object(
        Object.fromEntries(ofPlaces),
        needed.map(([place]) => place),
      ),
      ...(requestBody && { requestBody: object({ content: content(requestBody.content) }, ['content']) }),
      responses: object(
        {
          ...Object.fromEntries(
            success.map(([status, { content: media }]) => [status, object({ content: content(media) }, ['content'])]),
          ),
          default: object({ content: object({ 'application/problem+json': problem }, ['application/problem+json']) }, [
            'content',
          ]),
        },
        [...success.map(([status]) => status), 'default'],
      ),
    },
    ['parameters', ...(requestBody ? ['requestBody'] : []), 'responses'],
  );
}

/** The types of the admin API for the console, from the document that the gateway serves. */
export async function generateConsoleTypes(): Promise<string> {
  // The document is made from the table of routes: its shape is known.
  const { paths, components } = openApiDocument() as {
    paths: Record<string, Record<string, Operation>>;
    components: { schemas: Record<string, object> };
  };
  const calls = Object.entries(paths).map(([path, methods]) => [
    path,
    object(
      Object.fromEntries(Object.entries(methods).map(([method, operation]) => [method, callOf(operation)])),
      Object.keys(methods),
    ),
  ]);
  const names = Object.keys(components.schemas);
  const schema: JSONSchema = {
    ...object(
      {
        paths: object(Object.fromEntries(calls), Object.keys(paths)),
        schemas: object(
          Object.fromEntries(names.map((name) => [name, { $ref: `#/components/schemas/${name}` }])),
          names,
        ),
      },
      ['paths', 'schemas'],
    ),
    components: { schemas: withoutWords(components.schemas) },
  };
  const types = await compile(schema, 'Document', {
    bannerComment: '',
    ignoreMinAndMaxItems: true,
    unknownAny: true,
    additionalProperties: true,
    format: false,
  });
  // openapi-fetch reads statuses as numbers. A namespace: the names of these types are no others' concern.
  return `${BANNER}export declare namespace Api {${types.replaceAll(/^"(\d{3})":/gm, '$1:').replaceAll(/^(?=.)/gm, '  ')}}\n`;
}

/** Words and bounds of the document say nothing in a type. */
function withoutWords(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutWords);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, inner]) => !WORDS.has(name) || typeof inner === 'object')
      .map(([name, inner]) => [name, withoutWords(inner)]),
  );
}

if (import.meta.main) writeFileSync(OUTPUT, await generateConsoleTypes());
