import type { TryRecord } from './attempt.ts';

/**
 * The number of retries among an attempt's tries. Calls of one batch are not retries of each other. Neither is a call
 * that was cancelled because another call failed and is sent again with it.
 */
export function retriesOf(tries: readonly Pick<TryRecord, 'call' | 'error'>[]): number {
  if (tries.length < 2) return 0;
  const before = new Map<number, Pick<TryRecord, 'error'>>();
  let retries = 0;
  for (const record of tries) {
    const last = before.get(record.call);
    if (last && last.error?.code !== 'client_closed') retries += 1;
    before.set(record.call, record);
  }
  return retries;
}
