import type {
  CachedReply,
  Exchange,
  GatewayConfig,
  HealthDirectory,
  KeptNames,
  KeptResponse,
  MaybePromise,
  NewResponse,
  ReplyCache,
  Route,
  Target,
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
  /** Drops a refused token, whatever its age. False: kept, because its predecessor was dropped a moment ago. */
  refuse(key: string, value: string): boolean;
  /** Drops all other tokens, whose credentials the settings no longer name. */
  retain(keys: ReadonlySet<string>): void;
}

export interface ReplyStoreLimits {
  readonly maxBytes: number;
  readonly maxEntryBytes: number;
}

export interface ReplyStoreSize {
  readonly entries: number;
  readonly bytes: number;
}

export interface ReplyStore extends Pick<ReplyCache, 'find' | 'findFar' | 'peek' | 'store'> {
  readonly limits: ReplyStoreLimits;
  readonly size: ReplyStoreSize;
}

/** Kept replies that several gateways share, behind the memory of each. */
export interface FarReplies {
  /** Never rejects. Undefined: there is none, or none was found within 20 ms. */
  find(key: string): MaybePromise<{ readonly reply: CachedReply; readonly maxAgeMs: number } | undefined>;
  /** Returns before it is written. */
  store(key: string, reply: CachedReply, maxAgeMs: number): void;
}

/** The reply store of the process. It is kept while the settings do not change its bounds. */
export interface ReplyStores {
  /** Returns a store for settings that are being compiled: the current one if its bounds fit, otherwise a new one. */
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

export interface TargetPlace {
  readonly config: string;
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
  onTargets(targets: readonly (TargetPlace & { readonly healthy: boolean })[]): void;
  /** @param healthy the target is well, and so is each model that has answered there */
  onTransition(place: TargetPlace, transition: HealthTransition, healthy: boolean): void;
}

/** A target that a gateway has stopped to use. */
export interface OpenedTarget {
  /** The identity of the target in all gateways with its settings. */
  readonly target: string;
  readonly waitMs: number;
  readonly errorCode: string;
  /** The upstream itself has asked for a longer wait; the breaker was open before. */
  readonly longer: boolean;
}

/** Tells other gateways which targets fail, and hears of theirs. */
export interface HealthLink {
  tell(opened: OpenedTarget): void;
  onTold(listener: (opened: OpenedTarget) => void): void;
}

export interface SnapshotHealth extends HealthDirectory {
  prepare(configs: readonly GatewayConfig[]): void;
  use(): void;
}

/** The parts of an exchange that concern the caller's own token and the model. */
export type HealthSubject = Pick<Exchange, 'upstreamToken' | 'attempts' | 'request'>;

export interface HealthStore {
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
