import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compile, type JSONSchema } from 'json-schema-to-typescript';
import { completeSchemas, schemaJson } from './fragments.ts';

const FOLDER = import.meta.dirname;
const BASE = 'https://gatehouse.dev/schemas/';
export const TYPES_OUTPUT = join(FOLDER, 'types.generated.ts');

/** In a fixed order: a name taken twice gets a number, and that must not depend on the folder's listing. */
const FILES = ['server', 'catalog', 'keys', 'gateway', 'prompt', 'prices', 'teams', 'chat-completions', 'test'];
const TITLES: Readonly<Record<string, string>> = { 'chat-completions': 'ChatCompletionsRequest' };

const BANNER = `// Generated from schemas/*.json by \`node schemas/generate.ts\`. Do not edit: change the schemas and run it again.

import type { Secret } from '../src/plugin/index.ts';
`;

/** Documents that belong to one add-on. */
export const OF_ADD_ONS = ['prices', 'prompt', 'prompt-completions', 'test'];

/** The complete schemas by path. Undefined: no add-on of this build has the document. */
export function generateSchemas(): ReadonlyMap<string, string | undefined> {
  const complete = completeSchemas();
  const absent = OF_ADD_ONS.filter((name) => !complete.has(name)).map((name) => [name, undefined] as const);
  const written = [...complete].map(([name, schema]) => [name, schemaJson(schema)] as const);
  return new Map([...written, ...absent].map(([name, text]) => [fileOf(name), text]));
}

export const fileOf = (name: string): string => join(FOLDER, `${name}.json`);

/** Of the schemas as they are in their folder. */
export async function generateTypes(): Promise<string> {
  const files = FILES.filter((file) => existsSync(fileOf(file)));
  const roots: JSONSchema = {
    description: 'The JSON documents Gatehouse reads, by the name of their schema.',
    type: 'object',
    additionalProperties: false,
    required: files,
    properties: Object.fromEntries(files.map((file) => [file, { $ref: `${BASE}${file}.json` }])),
  };
  return compile(roots, 'SchemaDocuments', {
    bannerComment: BANNER,
    // Tuples for minItems would make every array literal an assertion.
    ignoreMinAndMaxItems: true,
    unknownAny: true,
    format: true,
    style: { singleQuote: true, printWidth: 120, bracketSpacing: true },
    $refOptions: { resolve: { http: false, local: localFiles } },
  });
}

/** The schemas refer to each other by their published addresses; this resolves them without the network. */
const localFiles = {
  order: 1,
  canRead: (file: { url: string }) => file.url.startsWith(BASE),
  read: async ({ url }: { url: string }): Promise<string> => {
    const name = url.slice(BASE.length).replace(/\.json.*$/, '');
    const schema: unknown = JSON.parse(await readFile(fileOf(name), 'utf8'));
    const title = TITLES[name];
    return JSON.stringify(forTypes(title ? { ...Object(schema), title } : schema));
  },
};

/** The part of a schema that types can express. */
function forTypes(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(forTypes);
  if (typeof schema !== 'object' || schema === null) return schema;
  // A description beside a $ref would make a type of its own (Duration1, Duration2 …) for every use.
  if ('$ref' in schema && typeof schema.$ref === 'string') return { $ref: schema.$ref };
  return Object.fromEntries(
    Object.entries(withFilled(schema))
      .filter(([keyword, value]) => !onlyRequires(keyword, value) && !isDeprecated(value))
      .map(([keyword, value]) => [keyword, forTypes(value)]),
  );
}

/** Keys that src/core/settings/read/fill-catalog.ts fills in: optional in the file, never absent in the type. */
function withFilled(schema: object): object {
  if (!('x-filled' in schema)) return schema;
  const { 'x-filled': filled, ...rest } = schema;
  return { ...rest, required: ['required' in rest ? rest.required : [], filled].flat() };
}

/** Types omit deprecated spellings: src/core/settings/read/spellings.ts translates them first. */
const isDeprecated = (value: unknown): boolean => Object(value).deprecated === true;

/** `anyOf: [{required: […]}, …]` becomes an index signature in TypeScript, which would end narrowing by `provider`. */
function onlyRequires(keyword: string, value: unknown): boolean {
  if ((keyword !== 'anyOf' && keyword !== 'oneOf') || !Array.isArray(value)) return false;
  return value.every((branch: unknown) => Object.keys(Object(branch)).join() === 'required');
}
