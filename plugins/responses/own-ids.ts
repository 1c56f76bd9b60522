import type { Exchange } from '../../src/plugin/index.ts';

/** The reply was made for an earlier request, or for another one at the same time. */
const isRepeated = ({ attempts }: Exchange): boolean => REPEATED.has(attempts.at(-1)?.cache);
const REPEATED: ReadonlySet<unknown> = new Set(['hit', 'semantic_hit', 'shared']);

/** A JSON string that is the id of an item: a prefix, what it has of the response's id, and four hex digits. */
const ITEM_ID = /(?<!\\)"([a-z]+_)([\w.-]+?)([0-9a-f]{4})"/g;
/** What an item's id has of the gateway's id of the response. */
const SHARED_DIGITS = 28;

/**
 * A reply of the cache with ids of its own. Otherwise the response of one request would take the place of another's, and its deletion
 * would remove both. The ids of items follow only where the gateway made them.
 * @param id of the response in `body`
 */
export function withOwnIds(body: Buffer, id: string, exchange: Exchange): Buffer {
  if (!isRepeated(exchange)) return body;
  const [old, own] = [id.replace(/^resp_/, ''), exchange.id.replaceAll('-', '')];
  const [oldItem, ownItem] = [old.slice(0, SHARED_DIGITS), own.slice(0, SHARED_DIGITS)];
  // Ids are ASCII: with one character for each byte, all other bytes stay as they are.
  const text = body
    .toString('latin1')
    .replaceAll(JSON.stringify(id), JSON.stringify(`resp_${own}`))
    .replace(ITEM_ID, (found, prefix: string, of: string, number: string) =>
      of === oldItem ? `"${prefix}${ownItem}${number}"` : found,
    );
  return Buffer.from(text, 'latin1');
}
