import { bitsOf, refOfNode, type Alert } from '../../core/ports/alert.ts';

/**
 * The alert of a key that ends within some days.
 * @param days the least that it has reached @param all before the end of a key, descending
 */
export function expiryAlert(id: string, at: number, days: number, all: readonly number[]): Alert {
  const ref = refOfNode('key', id);
  const end = new Date(at).toISOString();
  return {
    kind: 'key_expiry',
    nodes: [ref],
    text: `The key ${id} expires at ${end}, within ${days} ${days === 1 ? 'day' : 'days'}.`,
    data: { key: id, expires_at: end, days },
    // The nearer end replaces the warnings of the days before.
    once: { counter: { node: `alert expiry ${ref}`, period: at }, bits: bitsOf(all).slice(0, all.indexOf(days) + 1) },
  };
}
