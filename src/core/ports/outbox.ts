/**
 * Events that leave the gateways: a row stays until its receiver has it, and one gateway at a time sends it.
 *
 * Every method rejects with `StateFailure`: `unavailable`, `invalid`, `full`.
 */
export interface Outbox {
  /** Adds events. One that is there already (`id`, `to`) is ignored. */
  add(events: readonly OutboxEvent[]): Promise<void>;
  /**
   * Takes events that are due, the oldest first, for `ms` by the store's clock: no other call returns them meanwhile.
   * @param to receivers that the caller can send to @param most at most 100
   */
  take(to: readonly string[], most: number, ms: number): Promise<readonly TakenEvent[]>;
  /** The receivers have them, or will not get them: the rows are gone. */
  done(events: readonly OutboxRef[]): Promise<void>;
  /** The event is due again after `ms`. */
  again(event: OutboxRef, ms: number): Promise<void>;
  /** Events that wait, by receiver. */
  waiting(): Promise<ReadonlyMap<string, number>>;
}

/** Most events of a store. */
export const MAX_EVENTS = 20_000;
/** Longest body of an event, in characters. */
export const MAX_EVENT_LENGTH = 64 * 1024;

export interface OutboxRef {
  /** 1 to 128 characters. */
  readonly id: string;
  /** Name of the receiver, 1 to 128 characters. */
  readonly to: string;
}

export interface OutboxEvent extends OutboxRef {
  readonly body: string;
}

export interface TakenEvent extends OutboxEvent {
  /** How often it was taken, this time included. */
  readonly tries: number;
}
