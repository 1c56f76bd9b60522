import type { Boot, Counters } from './counters.ts';
import type { Entity, Version, Entities } from './entities.ts';
import type { ObjectReplica } from '../settings/source/stored-objects.ts';
import type { Audit } from './audit.ts';
import type { Boots } from './boots.ts';
import type { Claims } from './claims.ts';
import type { Fleet } from './fleet.ts';
import type { Outbox } from './outbox.ts';
import type { Idempotency } from './idempotency.ts';
import type { Ledger } from './ledger.ts';

/** A state store: all ports of one backend. */
export interface StateStore {
  readonly entities: Entities;
  readonly counters: Counters;
  readonly ledger: Ledger;
  readonly audit: Audit;
  readonly idempotency: Idempotency;
  readonly boots: Boots;
  readonly claims: Claims;
  readonly outbox: Outbox;
  /**
   * Copies the whole store to a folder that does not exist, consistent with one moment, while it is in use.
   * Rejects with `invalid` where the backend is copied with its own tools.
   */
  backup(folder: string): Promise<void>;
  /**
   * Ends what is under way and frees the store for another process. Methods reject with `unavailable` afterwards. May be called again,
   * and resolves within seconds, whatever hangs.
   */
  close(): Promise<void>;
}

/** The ports of a state store; without `state` in server.yaml, only the counters, in memory. */
export type CounterPorts = Pick<StateStore, 'counters'> &
  Partial<Pick<StateStore, 'ledger' | 'entities' | 'outbox' | 'claims'>>;

/** The state store of a process, over the times in which it does not answer. */
export interface OpenStore {
  /** Undefined while it does not answer. */
  readonly store: StateStore | undefined;
  /** Its objects as of its last answer: they are part of the settings. */
  readonly objects: ObjectReplica;
  /** The version whose objects these are. */
  readonly version: Version;
  /** Kinds of objects that it may hold. */
  readonly owns: readonly string[];
  /** The folder of what belongs to this gateway alone, such as its spool. Undefined: nothing of it outlives the process. */
  readonly dir: string | undefined;
  /** The store is behind what this gateway has seen of it: nothing may be written before an operator has accepted that. */
  readonly rolledBack: RolledBack | undefined;
  /** Reasons against readiness. */
  reasons(): readonly string[];
  /** Rejects with `StateFailure` while it does not answer. */
  latest(): Promise<{ readonly version: Version; readonly entities: ReadonlyMap<string, Entity> }>;
  close(): Promise<void>;
}

export interface RolledBack {
  /** The version that the store had when this was found. */
  readonly found: Version;
  /** The latest version that this gateway had seen. */
  readonly seen: Version;
  /** A sentence that names both versions, and the command that accepts. */
  readonly reason: string;
}

/** The usage of all processes of a gateway, where the primary or a single process counts. */
export interface SharedUsage {
  /** Undefined while the state store does not answer. */
  readonly ports: CounterPorts | undefined;
  /** A process has ended: what it had leased and not reported counts as spent, because it may have been. */
  ended(boot: Boot['id']): void;
  /** Writes what a process that has ended left on disk. */
  takeSpool(pid: number): void;
  readonly fleet: Fleet;
}
