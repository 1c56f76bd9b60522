import type { FarReplies, HealthLink } from '../memory/ports.ts';
import type { Rate } from '../tenants/amounts.ts';

/** State that several gateways share in an engine beside them, and may lose. */
export interface FleetMemory {
  readonly limits: FleetLimits;
  readonly replies: FarReplies;
  readonly values: OwnedValues;
  readonly health: HealthLink;
}

export interface FleetLimits {
  /** Calls the listener when the number of processes that share the limits changes; the last one holds while the engine is away. */
  onMembers(listener: (members: number) => void): void;
  /** A rate that all processes share. @param name the same in all of them */
  rate(name: string, rate: Rate): SharedPart;
  /** Places that all processes share. @param taken by this process now */
  places(name: string, most: number, taken: () => number): SharedPart;
}

/** The part of one limit that this process may use without a question. */
export interface SharedPart {
  /** Milliseconds until `units` may be taken; 0: now. Undefined: the engine is away, and an equal part of the limit holds. */
  waitFor(units: number): number | undefined;
  /** @param units negative: gives them back @param estimated they replace an estimate, so that the limit owes one burst at most */
  take(units: number, estimated?: boolean): void;
  /** Asks for units that are missing. Undefined: none are, or the engine has none. Resolves within 100 ms, and never rejects. */
  fetch(units: number): Promise<void> | undefined;
  /** Units that all processes together may take now, as was last heard. */
  readonly level: number;
  change(limit: Rate | number): void;
}

/** Values within bounds of time and, for each owner, of bytes; the oldest leaves first. Each method rejects within 250 ms. */
export interface OwnedValues {
  /** Bytes of each value; 0: there is none. */
  sizes(owner: string, names: readonly string[]): Promise<readonly number[]>;
  find(owner: string, names: readonly string[]): Promise<readonly (Buffer | undefined)[]>;
  /** @param also short values that are written with it, by name, and are not counted */
  keep(owner: string, value: OwnedValue, also: ReadonlyMap<string, Buffer>): Promise<void>;
  /** False: there was none. */
  remove(owner: string, name: string): Promise<boolean>;
}

export interface OwnedValue {
  readonly name: string;
  readonly bytes: Buffer;
  readonly ttlMs: number;
  /** Of the owner. */
  readonly maxBytes: number;
}
