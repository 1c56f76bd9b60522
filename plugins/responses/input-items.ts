import { isObject, type KeptResponse } from '../../src/plugin/index.ts';
import { Query } from '../files/query.ts';

/** A page of the items that a response answers, the last ones first unless the query asks for the other order. */
export function inputItems({ id, input }: Pick<KeptResponse, 'id' | 'input'>, querystring: string): object {
  const query = new Query(querystring);
  const limit = query.number('limit', { byDefault: 20, max: 100 });
  const order = query.oneOf('order', ['asc', 'desc']) ?? 'desc';
  const after = query.text('after');
  const items = (JSON.parse(input) as readonly unknown[]).flatMap((item, at) =>
    isObject(item) ? [{ ...item, id: typeof item['id'] === 'string' ? item['id'] : idOf(id, at) }] : [],
  );
  const ordered = order === 'asc' ? items : items.toReversed();
  const from = after === undefined ? 0 : ordered.findIndex((item) => item.id === after) + 1;
  const data = ordered.slice(from, from + limit);
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: from + limit < ordered.length,
  };
}

/** For items that the client sent without an id. The same in each page. */
const idOf = (response: string, at: number): string => `item_${response.replace(/^resp_/, '')}_${at}`;
