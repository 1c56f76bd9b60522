import type { TryRecord } from './exchange.ts';

/** How often something was asked again: the calls of a batch are no retries of each other. */
export const retriesOf = (tries: readonly Pick<TryRecord, 'call'>[]): number =>
  tries.length - new Set(tries.map(({ call }) => call)).size;
