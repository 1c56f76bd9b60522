import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { ApiRefusal, ListPage } from './client.ts';
import { asRefusal, useLoad, type Loading } from './load.ts';

interface Read<Item> extends ListPage<Item> {
  /** The first page that it follows. */
  readonly of: ListPage<Item>;
  readonly error?: ApiRefusal;
}

interface Paged<Item> {
  readonly first: Loading<ListPage<Item>>;
  readonly items: readonly Item[];
  /** Why the next page is not there. */
  readonly error: ApiRefusal | undefined;
  /** Reads the next page, one at a time. */
  readonly more: () => void;
  /** Reads it again after an error. */
  readonly retry: () => void;
}

/** A list that is read page by page. */
export function usePaged<Item>(
  key: string | undefined,
  read: (query: { readonly cursor?: string }, signal?: AbortSignal) => Promise<ListPage<Item>>,
): Paged<Item> {
  const first = useLoad(key, (signal) => read({}, signal));
  const later = useSignal<Read<Item> | undefined>(undefined);
  const reading = useRef(false);
  const { data } = first.state.value;
  const all: Read<Item> | undefined = later.value?.of === data ? later.value : data && { ...data, of: data };
  const retry = (): void => {
    if (!all || all.next === undefined || reading.current) return;
    const { items, next, of } = all;
    reading.current = true;
    read({ cursor: next })
      .then(
        (page) => void (later.value = { ...page, items: [...items, ...page.items], of }),
        (error: unknown) => void (later.value = { items, next, of, error: asRefusal(error) }),
      )
      .finally(() => (reading.current = false));
  };
  const more = (): void => {
    if (!all?.error) retry();
  };
  return { first, items: all?.items ?? [], error: all?.error, more, retry };
}
