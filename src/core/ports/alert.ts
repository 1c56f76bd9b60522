import type { CounterRef } from './counters.ts';
import type { NodeKind } from '../tenants/tree.ts';
import type { AlertKind } from '../kernel/alert-kinds.ts';

/** `team:search` */
export const refOfNode = (kind: NodeKind, id: string): string => `${kind}:${id}`;

/** An alert as plain data, because workers send theirs to the primary. It has no secrets. */
export interface Alert {
  readonly kind: AlertKind;
  /** The nodes that it is about; empty: none. */
  readonly nodes: readonly string[];
  /** A sentence for people. */
  readonly text: string;
  readonly data: Readonly<Record<string, string | number | boolean | null | readonly string[]>>;
  /** Undefined: the alert may be repeated. */
  readonly once: AlertMark | undefined;
}

/** The process that sets the last of these bits of a counter raises the alert; the bits before it stand for alerts that it replaces. */
export interface AlertMark {
  readonly counter: CounterRef;
  readonly bits: readonly number[];
}

export interface AlertSink {
  raise(alert: Alert): void;
}

/** The delivery of an event to one webhook. */
export interface AlertDelivery {
  readonly webhook: string;
  /** waiting: it is tried again, by this gateway or by another one on its store. */
  readonly state: 'delivered' | 'waiting' | 'lost';
  /** Of this gateway. */
  readonly tries: number;
  /** Why the last try failed. */
  readonly problem?: string;
}

export interface FiredAlert extends Pick<Alert, 'nodes' | 'text'> {
  readonly id: string;
  readonly kind: string;
  readonly at: string;
  readonly deliveries: readonly AlertDelivery[];
}

/** Alerts as operators see them. */
export interface AlertDesk {
  /** Those of this process, the latest first. */
  fired(): readonly FiredAlert[];
  /** Sends an event of the type `test`, at most five a minute. */
  test(webhook: string): Promise<AlertDelivery> | 'unknown' | 'too_many';
}

/** Bits of `Counters.notify` for thresholds. */
const BITS = 31;
/** The bit of the first refusal of a budget in a period. */
export const EXHAUSTED_BIT = 31;

/**
 * The bits of ascending thresholds, which keep theirs when others are added or removed: the remainder by 31, and the
 * next free one where two have the same.
 */
export function bitsOf(thresholds: readonly number[]): readonly number[] {
  const taken = new Set<number>();
  return thresholds.map((threshold) => {
    let bit = threshold % BITS;
    while (taken.has(bit) && taken.size < BITS) bit = (bit + 1) % BITS;
    taken.add(bit);
    return bit;
  });
}
