import { createHash } from 'node:crypto';
import type { CatalogEntry, GatewayFile, Target } from '../../../../../schemas/types.generated.ts';
import { isObject } from '../../../../core/kernel/index.ts';
import type { HealthReport, TargetPlace } from '../../../../core/memory/ports.ts';
import type { WrittenSettings } from '../../../../core/process/console-port.ts';
import type { PartAnswer } from '../../../../core/process/ask-parts.ts';
import { readSchema, type Schema } from '../../../../core/settings/schema/schema-files.ts';
import { Secret } from '../../../../plugin/index.ts';
import type { EntityDoc } from '../../../../core/ports/entities.ts';
import { storedName } from '../../../../core/settings/source/stored-objects.ts';
import type { Call, CallAnswer, Handler } from '../call.ts';
import { IN_STORE, type OwnedObject } from '../objects.ts';
import { pageOf } from '../pages.ts';
import { ApiProblem } from '../problems.ts';
import { byOperation } from '../routes.ts';
import { hiddenOf } from '../schemas.ts';
import { createObject, deleteObject, patchObject } from './objects.ts';
import { writtenOf } from './settings.ts';

/** The end of a shorter secret is too much of it. */
const SHOWN_SECRET = 20;
const MAX_TARGETS = 64;

type Reported = TargetPlace & HealthReport;

const listProviders: Handler = async (call) => {
  const page = pageOf(entriesOf(call), ({ slug }) => slug, call.query);
  return { body: { ...page, items: page.items.map(await shower(call)) } };
};

const getProvider: Handler = async (call) => {
  const entry = entriesOf(call).find(({ slug }) => slug === call.id);
  if (!entry) throw new ApiProblem('not_found', 'There is no entry of the catalog with this slug.');
  return answerOf(entry, call);
};

async function answerOf(entry: CatalogEntry, call: Call): Promise<CallAnswer> {
  return { body: (await shower(call))(entry), headers: { etag: etagOf(entry, call) } };
}

/** The entry that a write has made; a dry run made none. */
const answerWritten = async ({ id, spec }: OwnedObject, call: Call): Promise<CallAnswer> => {
  const now = { ...call, objects: await call.readObjects(), settings: call.sources.inForce().settings };
  const { spec: given = {} } = call.body as { readonly spec?: EntityDoc };
  return answerOf((!call.query.dryRun && entryIn(id, now)) || asEntry(id, { ...spec, ...given }), now);
};

export const PROVIDERS = byOperation<'providers', Handler>('providers', {
  list: listProviders,
  get: getProvider,
  create: createObject('providers', answerWritten),
  patch: patchObject('providers', answerWritten),
  delete: deleteObject('providers'),
});

const entryIn = (slug: string, { settings }: Call): CatalogEntry | undefined =>
  settings.catalog.providers.find((one) => one.slug === slug);

const asEntry = (slug: string, spec: EntityDoc): CatalogEntry =>
  Object.fromEntries([
    ...Object.entries(spec).map(([name, value]) =>
      typeof value === 'string' && hiddenOf('providers').includes(name) ? [name, new Secret(value)] : [name, value],
    ),
    ['slug', slug],
  ]);

/** Those in force, and those of the store that are not valid. */
function entriesOf(call: Call): readonly CatalogEntry[] {
  const others = call.objects
    .list('providers')
    .flatMap(({ id, spec, owner }) => (owner === IN_STORE && !entryIn(id, call) ? [asEntry(id, spec)] : []));
  return [...call.settings.catalog.providers, ...others].sort((one, other) => (one.slug < other.slug ? -1 : 1));
}

function problemOf(slug: string, call: Call): string | undefined {
  if (entryIn(slug, call)) return undefined;
  const own = `/${storedName({ kind: 'providers', id: slug })}`;
  return call.sources.inForce().warnings.find(({ file }) => file.endsWith(own))?.message ?? 'the entry is not in force';
}

async function shower(call: Call): Promise<(entry: CatalogEntry) => object> {
  const written = await writtenOf(call);
  const health = await call.sources.ask('console.health', undefined, 'all').catch((): readonly PartAnswer[] => []);
  // The answers of the console's own parts.
  const reports = health.flatMap(({ worker, answer }) =>
    (answer as readonly Reported[]).map((report) => ({ ...report, worker })),
  );
  return (entry) => {
    const place = written.entry(entry.slug);
    const { slug, provider, models = [] } = entry;
    const problem = problemOf(slug, call);
    return {
      slug,
      id: slug,
      provider,
      owner: place ? `${place.file}:${place.line}` : 'store',
      ...(place && { place }),
      ...(problem !== undefined && { problem }),
      etag: etagOf(entry, call),
      // The store's own names shared credentials, which are their values in the entry.
      spec: { ...Object(shownSpec(entry)), ...(!place && call.objects.find('providers', slug)?.spec) },
      ...('base_url' in entry && entry.base_url !== undefined && { base_url: entry.base_url }),
      credential: credentialOf(entry),
      models: [...models],
      targets: targetsOf(slug, call.settings.gateway, written)
        .slice(0, MAX_TARGETS)
        .map((target) => ({ ...target, health: healthOf(target, reports) })),
    };
  };
}

const etagOf = (entry: CatalogEntry, { objects }: Call): string =>
  objects.find('providers', entry.slug)?.etag ??
  `"file-${createHash('sha256').update(JSON.stringify(entry)).digest('hex').slice(0, 16)}"`;

/** A secret is the name of its source, or nothing. */
function shownSpec(value: unknown): unknown {
  if (value instanceof Secret) return refOf(value);
  if (Array.isArray(value)) return value.map(shownSpec);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) => {
      const shown = shownSpec(inner);
      return shown === undefined ? [] : [[name, shown]];
    }),
  );
}

const refOf = ({ source }: Secret): string | undefined => (source?.includes(':') ? `\${${source}}` : undefined);

function credentialOf(entry: CatalogEntry): object {
  if ('service_account' in entry && entry.service_account) {
    if (entry.service_account instanceof Secret) return { kind: 'service_account', ref: refOf(entry.service_account) };
    const { client_email: email, project_id: project } = entry.service_account;
    return { kind: 'service_account', email, ...(project !== undefined && { project }) };
  }
  if ('credentials_json' in entry && entry.credentials_json)
    return { kind: 'service_account', ...ofSecret(entry.credentials_json) };
  if ('api_key' in entry && entry.api_key) return { kind: 'api_key', ...ofSecret(entry.api_key) };
  // Of the machine, or those that `credentials` of the catalog names.
  if ('credentials' in entry && entry.credentials) return { kind: 'default' };
  if ('region' in entry && entry.region) return { kind: 'caller_token' };
  if ('secret_headers' in entry && entry.secret_headers) return { kind: 'other' };
  return { kind: 'none' };
}

function ofSecret(secret: Secret): object {
  const [ref, text] = [refOf(secret), secret.reveal()];
  return { ...(ref !== undefined && { ref }), ...(text.length >= SHOWN_SECRET && { last4: text.slice(-4) }) };
}

interface ShownTarget {
  readonly config: string;
  readonly target: string;
}

const targetsOf = (
  slug: string,
  configs: ReadonlyMap<string, GatewayFile>,
  { places }: WrittenSettings,
): readonly ShownTarget[] =>
  [...configs].flatMap(([config, file]) =>
    namesIn(file, 'config')
      .filter(([, provider]) => provider === `@${slug}`)
      .map(([target]) => {
        const at = places(config)?.[target];
        return { config, target, ...(at && { at }) };
      }),
  );

function namesIn(node: GatewayFile | Target, name: string): readonly (readonly [target: string, provider: string])[] {
  const { provider, targets = [] } = node;
  const own = typeof provider === 'string' ? [[name, provider] as const] : [];
  return [...own, ...targets.flatMap((target, index) => namesIn(target, `${name}.targets[${index}]`))];
}

const healthOf = (
  { config, target }: ShownTarget,
  reports: readonly (Reported & { readonly worker: number | undefined })[],
): readonly object[] =>
  reports
    .filter((one) => one.config === config && one.target === target && one.model === undefined)
    .map(({ state, enforced, failures, requests, waitMs, lastError, worker }) => ({
      state,
      enforced,
      failed: failures,
      of: requests,
      ...(lastError && { last_error: lastError.code }),
      ...(state !== 'closed' && { retry_in_ms: Math.round(waitMs) }),
      ...(worker !== undefined && { worker }),
    }));

let kinds: readonly Kind[] | undefined;

export const listKinds: Handler = ({ settings }) => {
  const shared = Object.entries(settings.catalog.credentials ?? {});
  const items = (kinds ??= readKinds()).map((kind) => ({
    ...kind,
    shared: shared.flatMap(([name, fields]) => (takes(kind, fields) ? [name] : [])),
  }));
  return { body: { items } };
};

const takes = ({ schema: { properties } }: Kind, fields: object): boolean =>
  ['credentials', ...Object.keys(fields)].every((field) => Object.hasOwn(properties, field));

interface Kind {
  readonly kind: string;
  readonly title: string;
  readonly description: string;
  readonly schema: { readonly properties: Schema };
  readonly secrets: readonly string[];
}

/** Each kind with what its schema refers to, so that a form needs no other document. */
function readKinds(): readonly Kind[] {
  const { definitions } = readSchema('catalog');
  const all = isObject(definitions) ? definitions : {};
  const entry = all['entry'];
  return (isObject(entry) && Array.isArray(entry['oneOf']) ? entry['oneOf'] : []).flatMap((one: unknown) => {
    const schema = all[isObject(one) ? String(one['$ref']).split('/').at(-1)! : ''];
    if (!isObject(schema) || !isObject(schema['properties'])) return [];
    const { properties, title, description, ...rest } = schema;
    const kind = isObject(properties['provider']) ? properties['provider']['const'] : undefined;
    if (typeof kind !== 'string') return [];
    const shown = Object.fromEntries(Object.entries(properties).map(([field, own]) => [field, resolved(own, all)]));
    return {
      kind,
      title: String(title).replace(/Entry$/, ''),
      description: typeof description === 'string' ? description : '',
      schema: { ...rest, properties: shown },
      secrets: Object.entries(shown).flatMap(([field, own]) => (isSecret(own) ? [field] : [])),
    };
  });
}

const isSecret = (schema: unknown): boolean =>
  isObject(schema) &&
  (schema['x-secret'] === true ||
    (isObject(schema['additionalProperties']) && schema['additionalProperties']['x-secret'] === true));

/** A field with the definition that it refers to. A field that is more than one level of references stays open. */
function resolved(field: unknown, definitions: Schema): unknown {
  const ref = isObject(field) ? field['$ref'] : undefined;
  if (typeof ref !== 'string' || !isObject(field)) return field;
  const [file, pointer = ''] = ref.split('#');
  const isOwn = file === '' || file?.endsWith('/catalog.json');
  const definition = isOwn ? definitions[pointer.split('/').at(-1) ?? ''] : undefined;
  const { $ref: _, ...own } = field;
  return isObject(definition) ? { ...definition, ...own } : { type: 'object', ...own };
}
