import { GatewayError } from '../../../../plugin/index.ts';
import { isObject, type KeptResponse, Query } from '../../../../core/kernel/index.ts';

interface ItemPage {
  readonly limit: number;
  readonly order: 'asc' | 'desc';
  readonly after: string | undefined;
}

/** A page ends behind the item with which it reaches this length, because items with pictures have megabytes. */
const FULL_PAGE = 1024 * 1024;

/** Throws GatewayError. */
export function readPage(querystring: string): ItemPage {
  const query = new Query(querystring);
  const limit = query.number('limit', { byDefault: 20, max: 100 });
  return { limit, order: query.oneOf('order', ['asc', 'desc']) ?? 'desc', after: query.text('after') };
}

/** A page of the items that a response answers as JSON, the last ones first unless the query asks for the other order. Throws GatewayError. */
export function inputItems(
  { id, input }: Pick<KeptResponse, 'id' | 'input'>,
  { limit, order, after }: ItemPage,
): string {
  const items = (JSON.parse(input.toString('utf8')) as readonly unknown[]).flatMap((item, at) =>
    isObject(item) ? [{ item, id: typeof item['id'] === 'string' ? item['id'] : idOf(id, at) }] : [],
  );
  const ordered = order === 'asc' ? items : items.toReversed();
  const from = after === undefined ? 0 : placeBehind(ordered, after);
  const texts: string[] = [];
  let length = 0;
  for (const { item, id: itemId } of ordered.slice(from, from + limit)) {
    const text = JSON.stringify({ ...item, id: itemId });
    texts.push(text);
    if ((length += text.length) >= FULL_PAGE) break;
  }
  const end = from + texts.length;
  const idAt = (at: number): string => JSON.stringify((texts.length > 0 && ordered[at]?.id) || null);
  const ids = `"first_id":${idAt(from)},"last_id":${idAt(end - 1)}`;
  return `{"object":"list","data":[${texts.join(',')}],${ids},"has_more":${end < ordered.length}}`;
}

function placeBehind(items: readonly { readonly id: string }[], after: string): number {
  const at = items.findIndex(({ id }) => id === after);
  if (at >= 0) return at + 1;
  throw new GatewayError('invalid_value', `No item of the input has the id '${after.slice(0, 100)}'.`, {
    param: 'after',
  });
}

/** For items that the client sent without an id. The same in each page. */
const idOf = (response: string, at: number): string => `item_${response.replace(/^resp_/, '')}_${at}`;
