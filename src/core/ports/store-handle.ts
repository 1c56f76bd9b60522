import { StateFailure } from './failures.ts';
import type { StateStore } from './store.ts';

/** A state store that may stop answering, and come back. */
export interface StoreHandle {
  /** Undefined while it does not answer. */
  readonly store: StateStore | undefined;
}

export const storeUnavailable = (): StateFailure => new StateFailure('unavailable', 'the state store does not answer');

/** Throws `unavailable` while the store does not answer. */
export function requireStore({ store }: StoreHandle): StateStore {
  if (!store) throw storeUnavailable();
  return store;
}
