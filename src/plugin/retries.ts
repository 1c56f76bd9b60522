import type { TryRecord } from './exchange.ts';

/**
 * How often something was asked again after a failure. The calls of a batch are no retries of each other, nor is a call that was
 * given up because of another one and is sent again with it.
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
