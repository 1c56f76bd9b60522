interface Page<Item> {
  readonly items: readonly Item[];
  readonly next?: string;
}

const LIMIT = 1000;
const MAX_PAGES = 10;

/** All items of a list, at most 10,000. */
export async function allOf<Item>(
  read: (query: { readonly limit: number; readonly cursor?: string }) => Promise<Page<Item>>,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const found = await read({ limit: LIMIT, ...(cursor !== undefined && { cursor }) });
    items.push(...found.items);
    cursor = found.next;
    if (cursor === undefined) break;
  }
  return items;
}
