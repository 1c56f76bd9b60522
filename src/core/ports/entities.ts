/**
 * The objects that operators manage: keys, teams, budgets and the like. A document describes an object; the port reads none of
 * its fields. Counting is elsewhere (`counters.ts`): a spend never touches a row of settings.
 *
 * Every method rejects with `StateFailure`.
 */
export interface Entities {
  /**
   * The changes after `since`; 0 loads everything. The truth of the store: `watch` is only a hint.
   * An object that was deleted and never loaded is in `gone` too.
   */
  load(since: Version): Promise<Loaded>;
  /**
   * Applies all changes or none, with an audit row for each, in one transaction, and returns the store's new version.
   * Rejects with `conflict`, `not_found`, `id_gone`, `digest_taken`, `invalid`, `full` or `sealed`.
   */
  write(changes: readonly EntityChange[], by: Actor): Promise<Version>;
  /** Begins an epoch, with an audit row. */
  begin(epoch: { readonly accepted: boolean; readonly reason: string }, by: Actor): Promise<Epoch>;
  /** The plain text of a sealed field; the caller writes its audit row. Rejects with `not_found` or `sealed`. */
  unseal(ref: EntityRef, field: string): Promise<string>;
  /** Calls `hint` after writes, of this process or another, soon and perhaps several at once. Returns a function that ends it. */
  watch(hint: (version: Version) => void): () => void;
  /** Records the last uses of keys. A later use wins; replay is harmless. At most 10,000 a call. */
  seen(uses: readonly KeyUse[]): Promise<void>;
  lastUses(keyIds: readonly string[]): Promise<readonly KeyUse[]>;
}

/** One number for the whole store. It grows by one with each write that succeeds. 0: nothing was ever written. */
export type Version = number;

/**
 * One history of a store's versions. A store gets a new one when it is created, when it is found to have lost writes, and when an operator
 * accepts that.
 */
export interface Epoch {
  /** Random. */
  readonly id: string;
  /** Grows with each epoch: milliseconds since 1970, of the store. */
  readonly at: number;
  /** False: nothing may be written before an operator has accepted the history. A created store has an accepted one. */
  readonly accepted: boolean;
}

/** Kinds that `state.owns` gives to the store. */
export const OWNED_KINDS = [
  'keys',
  'teams',
  'users',
  'organizations',
  'budgets',
  'limits',
  'alerts',
  'prices',
  'providers',
  'prompts',
  'configs',
] as const;
/** Kinds that only a store holds. */
const STORE_KINDS = ['admins', 'tokens', 'roles'] as const;
export const ENTITY_KINDS = [...OWNED_KINDS, ...STORE_KINDS] as const;

/** Kinds whose objects callers present as a secret, of which the store has digests. */
export const DIGEST_KINDS = ['keys', 'tokens'] as const satisfies readonly EntityKind[];
export type DigestKind = (typeof DIGEST_KINDS)[number];

export const hasDigests = (kind: EntityKind): kind is DigestKind => DIGEST_KINDS.some((one) => one === kind);

export type EntityKind = (typeof ENTITY_KINDS)[number];

export interface EntityRef {
  readonly kind: EntityKind;
  /** 1 to 128 characters of `[A-Za-z0-9._:@/-]`. Unique in its kind, for ever: a deleted id is not given again. */
  readonly id: string;
}

type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [name: string]: JsonValue };
export type EntityDoc = { readonly [name: string]: JsonValue };

/** Largest document, in bytes of its JSON text. */
export const MAX_DOC_BYTES = 64 * 1024;
/** Most changes of one write. */
export const MAX_CHANGES = 1_000;
/** Most objects of one kind, the deleted ones included. */
export const MAX_ENTITIES = 100_000;

export interface Entity extends EntityRef {
  /** The store's version when it was written. */
  readonly version: Version;
  /** Without secrets. */
  readonly doc: EntityDoc;
  /** Names of the fields whose values are sealed (`Entities.unseal`), sorted. */
  readonly sealed: readonly string[];
  /** Digests of a key or token, by slot; empty for other kinds. */
  readonly digests: readonly KeyDigest[];
  /** `Actor.id`. */
  readonly updatedBy: string;
  /** Milliseconds since 1970. */
  readonly updatedAt: number;
}

/** The digests that the store keeps of the secret of a key or token. Two slots while a key is rotated; both are one key for counting. */
export interface KeyDigest {
  /** 0 or 1. */
  readonly slot: number;
  /** `sha256:<64 hex>` as in keys.yaml, or `hmac:<id of the pepper>:<64 hex>`. Unique among the keys, or tokens. */
  readonly digest: string;
  /** The last characters of the key, for people; empty if unknown. */
  readonly last4: string;
  /** Milliseconds since 1970. */
  readonly validFrom: number;
  /** Milliseconds since 1970, excluded; undefined: no end. */
  readonly validTo: number | undefined;
}

export interface Loaded {
  readonly version: Version;
  readonly epoch: Epoch;
  /** The time of the store, in milliseconds since 1970. */
  readonly at: number;
  /** In the order of their kinds and ids. */
  readonly changed: readonly Entity[];
  readonly gone: readonly EntityRef[];
}

/** One change of one object. An object appears once in a write. */
export type EntityChange = PutChange | DeleteChange;

interface ChangeOf extends EntityRef {
  /** The version that the caller has seen; 0: the object must not exist. Absent: whatever is there. */
  readonly ifVersion?: Version | undefined;
  /** For the audit row. */
  readonly reason?: string | undefined;
}

export interface PutChange extends ChangeOf {
  readonly op: 'put';
  /** The whole document, in place of an earlier one. */
  readonly doc: EntityDoc;
  /** All digests of a key or token, in place of the earlier ones. Absent: they stay. */
  readonly digests?: readonly KeyDigest[] | undefined;
  /** Values to seal, by field; undefined removes a field. Fields that are not named stay. */
  readonly secrets?: Readonly<Record<string, string | undefined>> | undefined;
}

/** Deletes the object with its digests and sealed fields. */
interface DeleteChange extends ChangeOf {
  readonly op: 'delete';
}

/** The person or program behind a write, for the audit. */
export interface Actor {
  readonly id: string;
  readonly role: string;
  /** Address of the client; undefined for the gateway itself and its command line. */
  readonly address?: string | undefined;
}

export interface KeyUse {
  readonly keyId: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly address: string;
}
