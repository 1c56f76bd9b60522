import type * as File from '../../../../schemas/types.generated.ts';
import type { Secret } from '../../../plugin/index.ts';
import { valueAt } from '../schema/pointer.ts';
import { type ReadableMap, ShardedChanges, ShardedMap } from '../../tenants/sharded-map.ts';

// Objects of the state store join those of the files. This room does not import the store: the process that has it passes its objects
// beside the files.

/** The kinds of objects of which settings consist, in the order in which they refer to each other. */
export const STORED_KINDS = [
  'organizations',
  'teams',
  'budgets',
  'limits',
  'keys',
  'prices',
  'alerts',
  'providers',
  'prompts',
  'configs',
] as const;
/** Settings are compiled from these: each change of one is a reload. */
const COMPILED = ['providers', 'prompts', 'configs'] as const satisfies readonly StoredKind[];
export type CompiledKind = (typeof COMPILED)[number];
export const isCompiled = (kind: string): kind is CompiledKind => COMPILED.some((one) => one === kind);
export type StoredKind = (typeof STORED_KINDS)[number];

/** The value that a file has under a key of an add-on; in a build without the add-on, anything. */
type Under<Doc, Key extends string> = Doc extends { readonly [K in Key]?: infer Value } ? NonNullable<Value> : unknown;
type ItemOf<List> = List extends readonly (infer Item)[] ? Item : unknown;
type PriceRule = ItemOf<Under<Under<File.SchemaDocuments, 'prices'>, 'prices'>>;
export type AlertWebhook = ItemOf<Under<Under<File.ServerFile, 'alerts'>, 'webhooks'>>;

/** The webhooks of server.yaml, as far as code outside of their add-on knows them. */
export const webhooksIn = (
  server: File.ServerFile | undefined,
): readonly { readonly id: string; readonly url: Secret; readonly secret: Secret }[] =>
  // The schema of the add-on has been checked; in a build without it, the key is refused.
  (valueAt(server, ['alerts', 'webhooks']) ?? []) as ReturnType<typeof webhooksIn>;

interface Stored<Kind extends StoredKind, Value> {
  readonly kind: Kind;
  readonly id: string;
  readonly value: Value;
  /** Who has written it, and when in milliseconds since 1970. */
  readonly by: string;
  readonly at: number;
  /** The store's version when the object was written. */
  readonly version: number;
  /** Why the object is not valid; its value is empty then. */
  readonly problem?: string | undefined;
}

export type StoredKey = Stored<'keys', KeyValue>;
export type StoredBudget = Stored<'budgets', OfNode & ItemOf<Under<File.Team, 'budgets'>>>;
export type StoredLimits = Stored<'limits', OfNode & Under<File.Team, 'limits'>>;
export type StoredPrice = Stored<'prices', Omit<PriceRule, 'id'>>;
export type StoredAlert = Stored<'alerts', StoredWebhook>;
export type StoredProvider = Stored<'providers', StoredEntry>;
/** A file of gateway/ as its text. */
export type StoredConfig = Stored<'configs', { readonly text: string }>;
export type StoredObject =
  | Stored<'organizations', File.Organization>
  | Stored<'teams', File.Team>
  | StoredKey
  | StoredBudget
  | StoredLimits
  | StoredPrice
  | StoredAlert
  | StoredProvider
  | StoredPrompt
  | StoredConfig;

/** A file of `prompts/`, whose add-on reads it. */
export type StoredPrompt = Stored<'prompts', Readonly<Record<string, unknown>>>;

/** A webhook of server.yaml without its address and its secret, which the store seals. */
type StoredWebhook = Omit<AlertWebhook, (typeof SEALED_OF_ALERTS)[number] | 'id'>;
export const SEALED_OF_ALERTS = ['url', 'secret'] as const;

/** An entry of catalog.yaml. Every process needs its credentials, so it has them as they are; they are never shown. */
interface StoredEntry {
  /** Without what is sealed. */
  readonly doc: Readonly<Record<string, unknown>>;
  /** The JSON text of each sealed field. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Sealed fields, for a command that checks settings, sends nothing, and opens no secret. */
  readonly unread?: readonly string[];
}
/** Each field of an entry that is a secret, or has one in it. */
export const SEALED_OF_PROVIDERS = ['api_key', 'credentials_json', 'secret_headers', 'service_account'] as const;

const storedOf = <Kind extends StoredKind>(stored: StoredObjects | undefined, kind: Kind) =>
  [...(stored?.objects.values() ?? [])]
    .filter((one): one is Extract<StoredObject, { readonly kind: Kind }> => one.kind === kind)
    .toSorted((one, other) => (one.id < other.id ? -1 : 1));

/** The entries of a store in the order of their slugs. */
export const storedProviders = (stored: StoredObjects | undefined): readonly StoredProvider[] =>
  storedOf(stored, 'providers');

/** The gateway configs of a store in the order of their ids. */
export const storedConfigs = (stored: StoredObjects | undefined): readonly StoredConfig[] =>
  storedOf(stored, 'configs');

/** The name under which diagnostics show an object of the state store from which settings are compiled. */
export const storedName = ({ kind, id }: Pick<StoredObject, 'kind' | 'id'>): string => `store/${kind}/${id}`;

/** Budgets and limits of a node that are objects of their own. */
interface OfNode {
  /** `team:search`, `organization:acme`, `key:batch`. */
  readonly node: string;
}

interface KeyValue {
  /** As an entry of keys.yaml without a digest. */
  readonly entry: Omit<File.GatewayKey, 'digest' | 'key' | 'previous'>;
  readonly digests: readonly StoredDigest[];
}

export interface StoredDigest {
  /** 0: the key's own; 1: that of before its last rotation. */
  readonly slot: number;
  readonly digest: string;
  /** Milliseconds since 1970. */
  readonly validFrom: number;
  /** Milliseconds since 1970, excluded; undefined: no end. */
  readonly validTo: number | undefined;
}

/** The objects of the state store, as far as this process knows them. */
export interface StoredObjects {
  /** False: the store does not answer for too long. Its keys are refused then; what bounds other keys stays. */
  readonly known: boolean;
  /** By `nameOf`. */
  readonly objects: ReadableMap<StoredObject>;
}

export interface StoredChanges {
  readonly known: boolean;
  readonly changed: readonly StoredObject[];
  readonly gone: readonly string[];
}

export const nameOf = ({ kind, id }: Pick<StoredObject, 'kind' | 'id'>): string => `${kind}/${id}`;

/** The settings of the state store that keys, teams and organizations follow. */
interface StoreSettings {
  /** Kinds of objects that the store may hold. */
  readonly owns: readonly string[];
  /** The folder of what belongs to this gateway alone. Undefined: the store ends with the process. */
  readonly dir: string | undefined;
  /** Time zone of budgets that name none. */
  readonly timeZone: string;
  readonly peppers: Secret | undefined;
}

/** Undefined: the settings have no store. */
export type ReadStoreSettings = (server: File.ServerFile) => StoreSettings | undefined;

let ofStore: ReadStoreSettings = () => undefined;
export const storeSettings: ReadStoreSettings = (server) => ofStore(server);

/** Called while the add-on that has the store is registered. */
export const setStoreSettings = (read: ReadStoreSettings): void => void (ofStore = read);

/** The objects of an empty store, also for the load that finds out which store to open. */
export const NO_OBJECTS: StoredObjects = { known: true, objects: new Map() };

export function changesBetween(before: StoredObjects, now: StoredObjects): StoredChanges {
  const changed: StoredObject[] = [];
  const gone: string[] = [];
  // Without a list of all of them: nearly all are the same.
  for (const [name, object] of now.objects) if (before.objects.get(name) !== object) changed.push(object);
  for (const name of before.objects.keys()) if (!now.objects.has(name)) gone.push(name);
  return { known: now.known, changed, gone };
}

/** The entry of keys.yaml that a key of the store stands for. */
export function entryOf({ entry, digests }: KeyValue): File.GatewayKey {
  const [own, previous] = [0, 1].map((slot) => digests.find((digest) => digest.slot === slot));
  return {
    ...entry,
    digest: own?.digest ?? '',
    ...(previous?.validTo !== undefined && {
      previous: { digest: previous.digest, expires_at: new Date(previous.validTo).toISOString() },
    }),
    ...(own?.validTo !== undefined && { expires_at: new Date(own.validTo).toISOString() }),
  };
}

interface Files {
  readonly keys: File.KeysFile;
  readonly teams: File.TeamsFile;
}

/** The files with the store's objects among their own, for readers that ask for neither owner. */
export function withStored({ keys, teams }: Files, stored: StoredObjects | undefined): Files {
  if (!stored || stored.objects.size === 0) return { keys, teams };
  const of = Object.groupBy(stored.objects.values(), ({ kind }) => kind);
  const nodes = (kind: 'organizations' | 'teams') =>
    Object.fromEntries((of[kind] ?? []).map((one) => [one.id, one.value as File.Team]));
  const ownKeys = stored.known ? (of.keys ?? []) : [];
  const budgets = Map.groupBy((of.budgets ?? []) as StoredBudget[], ({ value }) => value.node);
  const limits = new Map(((of.limits ?? []) as StoredLimits[]).map(({ value }) => [value.node, value]));
  const attach = <Node extends object>(ref: string, node: Node): Node => {
    const own = budgets.get(ref)?.map(({ value: { node: _, ...budget } }) => budget);
    const { node: _, ...rates } = limits.get(ref) ?? { node: ref };
    const hasRates = limits.has(ref) && valueAt(node, ['limits']) === undefined;
    if (!own && !hasRates) return node;
    const written = valueAt(node, ['budgets']);
    const all = [...(Array.isArray(written) ? written : []), ...(own ?? [])];
    return { ...node, ...(own && { budgets: all }), ...(hasRates && { limits: rates }) };
  };
  const attached = <Node extends File.Team>(kind: string, all: Readonly<Record<string, Node>>): Record<string, Node> =>
    Object.fromEntries(Object.entries(all).map(([id, node]) => [id, attach(`${kind}:${id}`, node)]));
  return {
    keys: {
      ...keys,
      keys: [...keys.keys, ...ownKeys.map(({ value }) => entryOf(value as KeyValue))].map((key) =>
        attach(`key:${key.id}`, key),
      ),
    },
    teams: {
      organizations: attached('organization', { ...teams.organizations, ...nodes('organizations') }),
      teams: attached('team', { ...teams.teams, ...nodes('teams') }),
    },
  };
}

/** The objects of the state store as a process knows them. Each version of them is immutable. */
export class ObjectReplica {
  #objects = new ShardedMap<StoredObject>();
  #now: StoredObjects;
  readonly #listeners = new Set<(changes: StoredChanges) => void>();

  /** @param known false: nothing is known yet */
  constructor(known = true) {
    this.#now = { known, objects: this.#objects };
  }

  get now(): StoredObjects {
    return this.#now;
  }

  onChange(listener: (changes: StoredChanges) => void): void {
    this.#listeners.add(listener);
  }

  apply(changes: StoredChanges): void {
    const { known, changed, gone } = changes;
    if (known === this.#now.known && changed.length === 0 && gone.length === 0) return;
    const objects = new ShardedChanges(this.#objects);
    for (const name of gone) objects.delete(name);
    for (const object of changed) objects.set(nameOf(object), object);
    this.#objects = objects.done();
    this.#now = { known, objects: this.#objects };
    for (const listener of this.#listeners) listener(changes);
  }

  /** All objects as changes, for a process that has none yet. */
  all(): StoredChanges {
    return { known: this.#now.known, changed: [...this.#now.objects.values()], gone: [] };
  }
}
