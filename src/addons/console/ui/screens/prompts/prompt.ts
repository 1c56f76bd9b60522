import { curlOf } from '../../api/curl.ts';
import type { ApiSchemas } from '../../api/shapes.ts';

export type Prompt = ApiSchemas['prompt'];
type Json = Readonly<Record<string, unknown>>;

interface Variable {
  readonly description?: string;
  readonly schema?: Json;
  readonly media?: string;
  readonly default?: unknown;
  readonly example?: unknown;
}

interface PromptMessage extends Json {
  readonly role: string;
  readonly content?: unknown;
}

/** A version, as far as the page reads it: other fields stay as they are. */
export interface PromptVersion extends Json {
  readonly digest?: string;
  readonly text?: string;
  readonly messages?: readonly PromptMessage[];
  readonly variables?: Readonly<Record<string, Variable>>;
}

export interface Spec {
  readonly description?: string;
  readonly labels?: Readonly<Record<string, number>>;
  readonly versions: Readonly<Record<string, PromptVersion>>;
}

export const specOf = ({ spec }: Pick<Prompt, 'spec'>): Spec => spec as unknown as Spec;

/** The latest first. */
export const numbersOf = ({ versions }: Spec): readonly number[] =>
  Object.keys(versions)
    .map(Number)
    .toSorted((one, other) => other - one);

export const labelsOf = ({ labels = {} }: Spec, number: number): readonly string[] =>
  Object.entries(labels).flatMap(([label, of]) => (of === number ? [label] : []));

const textsOf = ({ text = '', messages = [] }: PromptVersion): readonly string[] =>
  [text, ...messages.map(({ content = '' }) => content)].map((one) =>
    typeof one === 'string' ? one : JSON.stringify(one),
  );

/** Whatever a person types as JSON: a variable that is no object has no schema. */
export const variablesOf = ({ variables }: PromptVersion): readonly (readonly [name: string, Variable])[] =>
  Object.entries(Object(variables) as Json).map(([name, one]) => {
    const { schema, ...variable } = Object(one) as Variable;
    return [name, { ...variable, schema: Object(schema) as Json }];
  });

const TAG = /\{\{\s*([#^/]?)\s*([A-Za-z_][\w-]{0,63})[\w.-]*\s*\}\}/g;

/** The variables that the templates name. What a list or an object has in it is no variable. */
export function namesIn(version: PromptVersion): readonly string[] {
  const known = new Map(variablesOf(version));
  const isNested = (name: string): boolean => kindOf(known.get(name) ?? {}) === 'json';
  const names = new Set<string>();
  for (const text of textsOf(version)) {
    let inside: string | undefined;
    for (const [, sign, name = ''] of text.matchAll(TAG)) {
      if (sign === '/') inside = inside === name ? undefined : inside;
      else if (inside === undefined) {
        names.add(name);
        if (sign === '#' && isNested(name)) inside = name;
      }
    }
  }
  return [...names];
}

type FieldKind = 'choice' | 'flag' | 'number' | 'text' | 'json';

export function kindOf({ schema = {}, media }: Variable): FieldKind {
  if (Array.isArray(schema['enum'])) return 'choice';
  const kinds: Readonly<Record<string, FieldKind>> = {
    boolean: 'flag',
    number: 'number',
    integer: 'number',
    array: 'json',
    object: 'json',
  };
  return media === undefined ? (kinds[String(schema['type'])] ?? 'text') : 'text';
}

export const optionsOf = (variable: Variable): readonly string[] =>
  kindOf(variable) === 'flag' ? ['true', 'false'] : ((variable.schema?.['enum'] ?? []) as unknown[]).map(String);

/** The first value of a field of the form: the example, else the default. */
export const startOf = ({ example, default: value }: Variable): string => {
  const start = example ?? value ?? '';
  return typeof start === 'string' ? start : JSON.stringify(start);
};

/** The values of the form. An empty field stands for the default. Throws for a text that is no JSON. */
export function valuesOf(version: PromptVersion, texts: Readonly<Record<string, string>>): Json {
  const values = variablesOf(version).flatMap(([name, variable]) => {
    const text = texts[name] ?? startOf(variable);
    const isLeft = text === '' && (variable.default !== undefined || kindOf(variable) !== 'text');
    return isLeft ? [] : [[name, valueOf(name, variable, text)] as const];
  });
  return Object.fromEntries(values);
}

function valueOf(name: string, variable: Variable, text: string): unknown {
  const kind = kindOf(variable);
  if (kind === 'text') return text;
  if (kind === 'choice') return ((variable.schema?.['enum'] ?? []) as unknown[]).find((one) => String(one) === text);
  return parse(text, name);
}

export function parse(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${name} is not JSON.`);
  }
}

/** A version as a person edits it. `parts`: the text is JSON of a list of parts. */
export interface EditedVersion {
  readonly model: string;
  readonly note: string;
  readonly messages: readonly { readonly of: PromptMessage; readonly text: string; readonly parts: boolean }[];
  readonly variables: string;
  /** JSON of the other fields. */
  readonly rest: string;
}

const shownJson = (value: unknown): string => (value === undefined ? '' : JSON.stringify(value, null, 2));

export function edited({ digest: _, model, note, text, messages, variables, ...rest }: PromptVersion): EditedVersion {
  const all = messages ?? [{ role: 'user', content: text ?? '' }];
  return {
    model: typeof model === 'string' ? model : '',
    note: typeof note === 'string' ? note : '',
    messages: all.map((of) => {
      const parts = of.content !== undefined && typeof of.content !== 'string';
      return { of, text: parts ? shownJson(of.content) : (of.content ?? ''), parts };
    }),
    variables: shownJson(variables),
    rest: Object.keys(rest).length === 0 ? '' : shownJson(rest),
  };
}

/** Throws for a text that is no JSON. */
export function versionOf({ model, note, messages, variables, rest }: EditedVersion): PromptVersion {
  return {
    ...(note !== '' && { note }),
    ...(model !== '' && { model }),
    ...(rest !== '' && Object(parse(rest, 'The text of other fields'))),
    ...(variables !== '' && {
      variables: parse(variables, 'The text of the variables') as PromptVersion['variables'] & {},
    }),
    messages: messages.map(({ of: { content: _, ...of }, text, parts }) => ({
      ...of,
      ...((text !== '' || of['tool_calls'] === undefined) && {
        content: parts ? parse(text, 'A list of parts') : text,
      }),
    })),
  } as PromptVersion;
}

/** A version as lines, texts as they are written: for a diff. */
export function linesOfVersion({ digest: _, text, messages, ...rest }: PromptVersion): readonly string[] {
  const all = messages ?? [{ role: 'user', content: text ?? '' }];
  return [
    ...all.flatMap(({ role, content, ...more }) => [
      `${role}:`,
      ...(typeof content === 'string' ? content : shownJson(content)).split('\n').map((line) => `  ${line}`),
      ...(Object.keys(more).length === 0 ? [] : shownJson(more).split('\n')),
    ]),
    ...Object.entries(rest).flatMap(([name, value]) => `${name}: ${shownJson(value)}`.split('\n')),
  ];
}

/** The merge patch (RFC 7396) that makes one value of another. */
export function mergePatch(before: Json, after: Json): Json {
  const isMap = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
  const old = new Map(Object.entries(before));
  const gone = [...old.keys()].filter((name) => !Object.hasOwn(after, name)).map((name) => [name, null] as const);
  const set = Object.entries(after).flatMap(([name, value]) => {
    const was = old.get(name);
    if (JSON.stringify(was) === JSON.stringify(value)) return [];
    return [[name, isMap(value) && isMap(was) ? mergePatch(was, value) : value] as const];
  });
  return Object.fromEntries([...gone, ...set]);
}

/** Calls of an application. The key comes from its environment. */
export function codeOf(url: string, name: string, variables: Json): readonly (readonly [string, string])[] {
  const path = `/v1/prompts/${name}/completions`;
  const json = JSON.stringify(variables);
  return [
    ['curl', curlOf({ url, path, body: { variables } })],
    [
      'portkey-ai',
      `import Portkey from 'portkey-ai';\n\nconst client = new Portkey({ baseURL: '${url}/v1', apiKey: process.env.GATEWAY_KEY });\nconst reply = await client.prompts.completions.create({ promptID: ${JSON.stringify(name)}, variables: ${json} });`,
    ],
    [
      'OpenAI SDK',
      `import OpenAI from 'openai';\n\nconst client = new OpenAI({ baseURL: '${url}/v1', apiKey: process.env.GATEWAY_KEY });\nconst reply = await client.post('/prompts/${name}/completions', { body: { variables: ${json} } });`,
    ],
  ];
}
