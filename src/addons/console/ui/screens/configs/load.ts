import { allOf, api, ApiRefusal, ask } from '../../api/index.ts';
import type { Known, SettingsNames } from '../../editor/completion.ts';
import type { SettingsSchema } from '../../editor/schema-tree.ts';

const STORE = 'store/configs/';

export const isStored = (path: string): boolean => path.startsWith(STORE);

/** The id of a gateway config by the name of its text. Undefined: it is another file. */
export const configOf = (path: string): string | undefined =>
  isStored(path) ? path.slice(STORE.length) : /^gateway\/(.+)\.yaml$/.exec(path)?.[1];

export const pathOfConfig = (id: string, inStore: boolean): string =>
  inStore ? `${STORE}${id}` : `gateway/${id}.yaml`;

/** A text as it was read. */
export interface OpenText {
  readonly path: string;
  readonly text: string;
  /** Of the settings that the text belongs to. */
  readonly base: string | undefined;
  /** Of an object of the store. */
  readonly etag: string | undefined;
  readonly isNew: boolean;
}

/** As the editor has them; a patch has those of the file. */
const withLineFeeds = (text: string): string => text.replaceAll(/\r\n?/g, '\n');

/** A file or a config of the store; empty, where there is none yet. */
export async function loadOpenFile(path: string, signal: AbortSignal): Promise<OpenText> {
  try {
    if (isStored(path)) {
      const params = { path: { id: configOf(path) ?? '' } };
      const { spec, etag } = await ask(api.GET('/configs/{id}', { params, signal }));
      return { path, text: withLineFeeds(spec.text ?? ''), base: undefined, etag, isNew: false };
    }
    const { text, hash } = await ask(api.GET('/settings/file', { params: { query: { path } }, signal }));
    return { path, text: withLineFeeds(text), base: hash, etag: undefined, isNew: false };
  } catch (error) {
    // Test files are not read here: only a config may be new.
    const mayBeNew = configOf(path) !== undefined && !path.endsWith('.test.yaml');
    if (!(error instanceof ApiRefusal) || error.status !== 404 || !mayBeNew) throw error;
    return { path, text: '', base: undefined, etag: undefined, isNew: true };
  }
}

const ID = 'https://gatehouse.dev/schemas/';

/** The name of the schema of a file. */
const schemaOf = (path: string): string =>
  configOf(path) === undefined ? (path.startsWith('prompts/') ? 'prompt' : path.replace(/\.yaml$/, '')) : 'gateway';

/** The knowledge of completion about a file: its schema with those that it refers to, and the names in force. */
export async function loadKnown(path: string, signal: AbortSignal): Promise<Known> {
  const [names, schemas] = await Promise.all([
    ask(api.GET('/settings/names', { params: {}, signal })),
    loadSchemas(schemaOf(path), signal),
  ]);
  return { root: `${ID}${schemaOf(path)}.json`, schemas, names: names satisfies SettingsNames };
}

async function loadSchemas(first: string, signal: AbortSignal): Promise<Known['schemas']> {
  const schemas = new Map<string, SettingsSchema>();
  const pending = [first];
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (schemas.has(`${ID}${name}.json`)) continue;
    // The document leaves a schema open.
    const schema = (await ask(api.GET('/schemas/{id}', { params: { path: { id: name } }, signal }))) as SettingsSchema;
    schemas.set(`${ID}${name}.json`, schema);
    for (const [, other = ''] of JSON.stringify(schema).matchAll(
      /"\$ref":"https:\/\/gatehouse\.dev\/schemas\/(\w+)\.json#/g,
    ))
      pending.push(other);
  }
  return schemas;
}

/** The worst state of each target of a config, by its place. */
export async function loadHealth(config: string, signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  const entries = await allOf((query) => ask(api.GET('/providers', { params: { query }, signal })));
  const states = ['open', 'half_open', 'closed'];
  return new Map(
    entries.flatMap(({ targets }) =>
      targets
        .filter((one) => one.config === config)
        .map(({ target, health }) => {
          const seen: readonly string[] = health.map(({ state }) => state);
          return [target, states.find((one) => seen.includes(one)) ?? 'no calls'] as const;
        }),
    ),
  );
}
