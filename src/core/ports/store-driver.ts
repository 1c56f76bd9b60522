import type { Clock } from '../../plugin/index.ts';
import type { Report } from '../kernel/report.ts';
import type { Audit } from './audit.ts';
import type { Counters } from './counters.ts';
import type { Entities } from './entities.ts';
import type { Ledger } from './ledger.ts';
import type { MoveSource, MoveTarget } from './store-move.ts';
import type { StateStore } from './store.ts';

/** `state.store` of server.yaml. Each driver has the type of its own keys. */
export interface StoreEntry {
  readonly type: string;
}

export interface DriverTools {
  readonly clock: Clock;
  /** Text of `state.encryption_keys`; empty: the store takes no secrets. */
  readonly keys: string;
}

/** A backend of the state store: a row of a table that add-ons fill. Its code is loaded by the calls that need it. */
export interface StoreDriver {
  /** `state.store.type`. */
  readonly type: string;
  /** The other keys of `state.store` that it reads. */
  readonly keys: readonly string[];
  /** `process`: what it has ends with the process. `owned`: one gateway has it open at a time. `shared`: several gateways may. */
  readonly use: 'process' | 'owned' | 'shared';
  /** Names the store in messages, without credentials. */
  nameOf(entry: StoreEntry): string;
  /** The folder of its files, where `state.dir` is by default. Undefined: it has none. */
  folderOf(entry: StoreEntry): string | undefined;
  /** Reports keys that are missing or do not fit together, at their place in `state.store`. */
  check(entry: StoreEntry, report: Report): void;
  /**
   * Rejects with `StateFailure`; after `unavailable`, `read_only` or `damaged` it is called again. An open store heals itself: its calls
   * reject with `unavailable` until it answers again.
   */
  open(entry: StoreEntry, tools: DriverTools): Promise<StateStore>;
  /** Opens a store that another process may own, for reads only. Rejects with `not_found` where there is none. */
  read(entry: StoreEntry, tools: DriverTools): Promise<StoreForReading>;
  /** A text: the store is copied with tools of its own, which it names for operators. */
  readonly copies: StoreCopies | string;
  /** The store of a folder, for a move to another type. @param locks false: reads alone, while a gateway may have it open */
  moveFrom?(folder: string, tools: DriverTools, locks: boolean): Promise<MoveSource>;
  moveTo?(entry: StoreEntry, tools: DriverTools): Promise<MoveTarget>;
}

/** The reads of commands. */
export interface StoreForReading {
  readonly entities: Pick<Entities, 'load'>;
  readonly counters: Pick<Counters, 'all'>;
  readonly ledger: Pick<Ledger, 'rollups' | 'rows'>;
  readonly audit: Pick<Audit, 'verify'>;
  close(): Promise<void>;
}

export interface StoreCopies {
  /** Copies a store, which may be in use, to a folder that does not exist. Returns the entry of the copy. */
  copy(entry: StoreEntry, folder: string): Promise<StoreEntry>;
  /** Puts a copy where there is no store yet. */
  restore(folder: string, entry: StoreEntry): Promise<void>;
}

const drivers = new Map<string, StoreDriver>();

/** Called while an add-on is registered. */
export function addStoreDrivers(added: readonly StoreDriver[]): void {
  for (const driver of added) drivers.set(driver.type, driver);
}

export const storeDrivers: ReadonlyMap<string, StoreDriver> = drivers;

/** The driver of an entry that is valid by the schema, which names only those of this build. */
export function driverOf({ type }: StoreEntry): StoreDriver {
  const driver = drivers.get(type);
  if (!driver) throw new Error(`this build has no store of type ${type}`);
  return driver;
}
