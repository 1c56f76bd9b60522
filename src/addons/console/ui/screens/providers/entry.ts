import type { EntryKind } from '../../api/shapes.ts';

export interface EntryField {
  readonly name: string;
  readonly kind: 'secret' | 'file' | 'flag' | 'list' | 'choice' | 'text';
  readonly words: string;
  readonly required: boolean;
  /** Few entries need it. */
  readonly rare: boolean;
  readonly options: readonly string[];
}

/** Fields that a first entry may need, in the order of a form. Others are for the file. */
const SHOWN =
  'base_url project_id region service_account api_key credentials deployments api_version organization project allow_insecure models'.split(
    ' ',
  );

const RARE: ReadonlySet<string> = new Set(['api_version', 'organization', 'project', 'allow_insecure', 'deployments']);

interface PropertySchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly items?: unknown;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, PropertySchema>>;
  readonly oneOf?: readonly PropertySchema[];
  readonly anyOf?: readonly PropertySchema[];
  readonly required?: readonly string[];
  /** Fields that an entry has as a rule. */
  readonly 'x-filled'?: readonly string[];
  readonly definitions?: Readonly<Record<string, PropertySchema>>;
}

export interface OfferedKind extends EntryKind {
  /** In the address. */
  readonly name: string;
}

const COMPATIBLE = {
  name: 'openai-compatible',
  title: 'OpenAI-compatible',
  description: 'vLLM, Ollama, Groq and other servers with the API of OpenAI.',
};

/** Fields that are needed, and those that few need, where the schema has one way for several. */
const WAYS: Readonly<Record<string, readonly [readonly string[], readonly string[]]>> = {
  [COMPATIBLE.name]: [['base_url', 'allow_insecure'], []],
  openai: [['api_key'], ['base_url']],
};

/** `AzureOpenAi` → `Azure OpenAI` */
const titleOf = (title: string): string =>
  title
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll(/\bAi\b/g, 'AI')
    .replaceAll('Open AI', 'OpenAI');

/** The kinds of the gateway; other servers with OpenAI's API are one of their own here. */
export const offeredKinds = (kinds: readonly EntryKind[]): readonly OfferedKind[] =>
  kinds.flatMap((kind) => [
    { ...kind, name: kind.kind, title: titleOf(kind.title) },
    ...(kind.kind === 'openai' ? [{ ...kind, ...COMPATIBLE }] : []),
  ]);

/** The form of a kind of entries, from its schema: no kind is built in. */
export function fieldsOf({ schema, secrets, shared, kind, name: offered }: OfferedKind): readonly EntryField[] {
  const [basic, rare] = WAYS[offered] ?? [[], []];
  // A JSON Schema of the settings.
  const root = schema as PropertySchema;
  const resolve = (one: PropertySchema | undefined): PropertySchema => {
    const name = one?.$ref?.split('/').at(-1);
    return (
      (name === undefined
        ? one
        : { ...root.definitions?.[name], ...(one?.description !== undefined && { description: one.description }) }) ??
      {}
    );
  };
  const branches = [root, ...(root.oneOf ?? [])].map(resolve);
  const entry =
    branches.find(({ properties }) => resolve(properties?.['provider']).const === kind) ??
    branches.find(({ properties }) => properties) ??
    {};
  const isNeeded = (name: string): boolean =>
    [...(entry.required ?? []), ...(entry['x-filled'] ?? []), ...basic].includes(name);
  return SHOWN.flatMap((name) => {
    const property = entry.properties?.[name];
    if (!property || (name === 'credentials' && shared.length === 0)) return [];
    const found = resolve(property);
    return [
      {
        name,
        kind: kindOf(name, found, secrets),
        words: firstSentence(property.description ?? found.description ?? ''),
        required: isNeeded(name),
        rare: (RARE.has(name) || rare.includes(name)) && !isNeeded(name),
        options: name === 'credentials' ? shared : (found.enum ?? []).filter((one) => typeof one === 'string'),
      },
    ];
  });
}

function kindOf(name: string, { type }: PropertySchema, secrets: readonly string[]): EntryField['kind'] {
  if (name === 'service_account') return 'file';
  if (name === 'credentials') return 'choice';
  if (secrets.includes(name)) return 'secret';
  if (type === 'boolean') return 'flag';
  return name === 'models' || type === 'array' ? 'list' : 'text';
}

export const firstSentence = (text: string): string => /^.*?[.:](?=\s|$)/s.exec(text)?.[0].replace(/:$/, '.') ?? text;

export type FormValues = Readonly<Record<string, string | boolean>>;

/** The entry as the form has it; empty fields are left out. */
export function specOf(kind: string, fields: readonly EntryField[], values: FormValues): Record<string, unknown> {
  const given = fields.flatMap(({ name, kind: of }) => {
    const value = values[name];
    if (value === undefined || value === '' || value === false) return [];
    if (of === 'list')
      return [
        [
          name,
          String(value)
            .split(/[\s,]+/)
            .filter(Boolean),
        ],
      ];
    if (of === 'file') return [[name, JSON.parse(String(value)) as unknown]];
    return [[name, value]];
  });
  return { provider: kind, ...Object.fromEntries(given) };
}

/** The entry for a file: in the place of each secret stands where it comes from. */
export function withoutSecrets(
  id: string,
  spec: Readonly<Record<string, unknown>>,
  fields: readonly EntryField[],
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(spec).map(([name, value]) => {
      const kind = fields.find((field) => field.name === name)?.kind;
      if (kind === 'file') return [name, `\${file:/run/secrets/${id}-service-account.json}`];
      if (kind !== 'secret' || /^\$\{(?:env|file):/.test(String(value))) return [name, value];
      return [name, `\${env:${id.toUpperCase().replaceAll(/\W/g, '_')}_${name.toUpperCase()}}`];
    }),
  );
}

const SLUG = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Why a name cannot be; undefined: it can. */
export function slugProblem(slug: string, taken: readonly string[]): string | undefined {
  if (slug === '') return 'Configs name the entry by it: @name.';
  if (!SLUG.test(slug)) return 'Letters, digits, dots, _ and -, at most 64; the first is a letter or a digit.';
  return taken.includes(slug) ? 'An entry has this name.' : undefined;
}

const MAX_FILE = 64 * 1024;

export interface ServiceAccount {
  readonly email: string;
  readonly project: string;
  readonly keyId: string;
}

/** The part that may be shown of a service account's file. Throws what is wrong with it. */
export function readServiceAccount(text: string): ServiceAccount {
  if (text.length > MAX_FILE) throw new Error('The file has more than 64 KB: it is no service-account key.');
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    throw new Error('The file is not JSON.');
  }
  const {
    client_email: email,
    project_id: project,
    private_key_id: keyId,
    private_key: key,
  } = Object(found) as Record<string, unknown>;
  if (typeof email !== 'string' || typeof key !== 'string')
    throw new Error('The file has no client_email and private_key: it is no service-account key.');
  return {
    email,
    project: typeof project === 'string' ? project : 'unknown',
    keyId: typeof keyId === 'string' ? keyId : 'unknown',
  };
}
