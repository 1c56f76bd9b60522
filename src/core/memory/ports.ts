import type {
  CachedReply,
  Exchange,
  GatewayConfig,
  HealthDirectory,
  KeptNames,
  KeptResponse,
  KeptText,
  MaybePromise,
  NewResponse,
  Route,
  Target,
  TextPlace,
  TargetHealth,
} from '../kernel/index.ts';

// The parts of the state that other rooms use. `memory/` implements it in the memory of one process.

/** A short-lived access token from its issuer. */
export interface MintedToken {
  readonly value: string;
  readonly expiresInMs: number;
}

/** Access tokens by a hash of their credential. */
export interface TokenStore {
  /** The token, without a promise when a valid one is cached (the hot path). Rejects with the error of `mint`. */
  get(key: string, mint: () => Promise<MintedToken>): string | Promise<string>;
  /**
   * Drops a token that the upstream refused, whatever its age, so that the next caller gets a new one. False: the token is kept,
   * because its predecessor was dropped a moment ago for the same reason.
   */
  refuse(key: string, value: string): boolean;
  /** Drops all other tokens, whose credentials the settings no longer name. */
  retain(keys: ReadonlySet<string>): void;
}

export interface ReplyStoreLimits {
  readonly maxBytes: number;
  readonly maxEntryBytes: number;
}

export interface TextStoreLimits {
  readonly maxBytes: number;
  readonly scopeBytes: number;
  readonly scopeEntries: number;
}

/** Texts of requests with cached replies, and their vectors, within bounds. */
export interface TextStore {
  readonly size: ReplyStoreSize;
  /** Texts of a group, the least recently used first. Does not count as a use. */
  texts(place: TextPlace): readonly KeptText[];
  /** Stores a text, instead of an earlier one with the same key in its group. */
  add(place: TextPlace, text: StoredText, vector?: Float32Array): void;
  similarity(kept: KeptText, vector: Float32Array): number | undefined;
  vectorOf(kept: KeptText): Float32Array | undefined;
  keepVector(kept: KeptText, vector: Float32Array): void;
  use(kept: KeptText): void;
  remove(kept: KeptText): void;
}

export type StoredText = Pick<KeptText, 'key' | 'facts'> & { readonly text: string };

export interface ReplyStoreSize {
  readonly entries: number;
  readonly bytes: number;
}

/** Cached replies within bounds. */
export interface ReplyStore {
  readonly limits: ReplyStoreLimits;
  readonly size: ReplyStoreSize;
  find(key: string): CachedReply | undefined;
  /** Returns the reply without marking it as used. */
  peek(key: string): CachedReply | undefined;
  store(key: string, reply: CachedReply, maxAgeMs: number): void;
}

/** The reply store of the process. It is kept while the settings do not change its bounds. */
export interface ReplyStores {
  /**
   * Returns a store for settings that are being compiled: the current one if its bounds fit, otherwise a new one that
   * `use` puts in place.
   */
  prepare(limits: ReplyStoreLimits): ReplyStore;
  /** Called when the settings that `store` was prepared for take effect. */
  use(store: ReplyStore): void;
}

export interface ResponseLimits {
  /** 0: none is kept. */
  readonly maxBytes: number;
  readonly ttlMs: number;
}

/** Responses of the Responses API by key and id, and their output items by theirs, within bounds of bytes and time. */
export interface ResponseStore {
  /** Called when the settings with these limits take effect. */
  apply(limits: ResponseLimits): void;
  /** The most bytes that `find` and `findItems` copy for these names. */
  measure(owner: string, names: KeptNames): MaybePromise<number>;
  find(owner: string, id: string): MaybePromise<KeptResponse | undefined>;
  /** The texts of output items by their ids. Ids without an item are missing. */
  findItems(owner: string, ids: readonly string[]): MaybePromise<ReadonlyMap<string, string>>;
  keep(owner: string, kept: NewResponse): MaybePromise<void>;
  /** False: the key had none. */
  remove(owner: string, id: string): MaybePromise<boolean>;
}

/** Identifies a target of a stored config. */
export interface TargetPlace {
  readonly config: string;
  /** Path in the config. */
  readonly target: string;
  /** Empty: it has none. */
  readonly name: string;
  /** Slug of the catalog entry, or a provider's name; empty where the request names it. */
  readonly provider: string;
  /** The model whose breaker it is, where the request names it. Undefined: the target itself. */
  readonly model?: string;
  /** The target has a circuit breaker; otherwise its health is only reported. */
  readonly enforced: boolean;
}

/** A target's health for status output. */
export interface HealthReport {
  readonly state: TargetHealth['state'];
  /** A probe is running. */
  readonly probing: boolean;
  readonly failures: number;
  readonly requests: number;
  /** Milliseconds until the target may be tried; 0: it may be tried now. */
  readonly waitMs: number;
  readonly lastError: { readonly code: string; readonly agoMs: number } | undefined;
}

/** A state change of a target's health, with its causes. */
export interface HealthTransition {
  readonly from: TargetHealth['state'];
  readonly to: TargetHealth['state'];
  readonly failures: number;
  readonly requests: number;
  readonly errorCode: string | undefined;
  /** Time until the target may be tried again. */
  readonly waitMs: number;
}

/** The listener to the health of the targets of stored configs. */
export interface HealthListener {
  /** Called with the targets whose health is reported from now on. */
  onTargets(targets: readonly (TargetPlace & { readonly healthy: boolean })[]): void;
  /** @param healthy the target is well, and so is each model that has answered there */
  onTransition(place: TargetPlace, transition: HealthTransition, healthy: boolean): void;
}

/** The health directory of one snapshot's requests. */
export interface SnapshotHealth extends HealthDirectory {
  /** Sets the stored configs of the snapshot. */
  prepare(configs: readonly GatewayConfig[]): void;
  /** Called when the snapshot goes live. */
  use(): void;
}

/** The parts of an exchange that concern the caller's own token and the model. */
export type HealthSubject = Pick<Exchange, 'upstreamToken' | 'attempts' | 'request'>;

/** The health of all targets. */
export interface HealthStore {
  /** A directory for the requests of a new snapshot. */
  directory(): SnapshotHealth;
  /** The health of a target, if known, without creating an entry for it. @param exchange see `HealthDirectory` */
  peek(config: GatewayConfig, target: Target, exchange?: HealthSubject): TargetHealth | undefined;
  /** The health of the targets of stored configs, in order, each before the models that are not well there. */
  reports(): readonly (TargetPlace & HealthReport)[];
}

/** The targets of a route, in order: a health store has an entry for each. */
export function targetsOf(route: Route): readonly Target[] {
  return route.kind === 'target' ? [route] : route.members.flatMap(targetsOf);
}
