import { signal } from '@preact/signals';

/** The part of the address behind `#`: a path, and a query. Every state of the page is in it; a text or a secret never is. */
export interface PageAddress {
  readonly path: string;
  readonly query: URLSearchParams;
}

export function readAddress(hash: string): PageAddress {
  const [path = '', query = ''] = hash.replace(/^#/, '').split('?', 2);
  return { path: path === '' ? '/' : path, query: new URLSearchParams(query) };
}

export function writeAddress(path: string, query: URLSearchParams): string {
  const text = query.toString();
  return `#${path}${text === '' ? '' : `?${text}`}`;
}

export const address = signal<PageAddress>({ path: '/', query: new URLSearchParams() });

const read = (): void => {
  address.value = readAddress(location.hash);
};

export function followAddress(): void {
  read();
  addEventListener('hashchange', read);
  addEventListener('popstate', read);
}

export function go(to: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  history[replace ? 'replaceState' : 'pushState'](null, '', to.startsWith('#') ? to : `#${to}`);
  read();
}

type Changes = Readonly<Record<string, string | undefined>>;

/** Changes members of the query; undefined removes one. */
export const setQuery = (changes: Changes, replace = true): void => go(linkTo(changes), { replace });

/** The address with other members of the query. */
export function linkTo(changes: Changes): string {
  const { path, query } = address.value;
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') next.delete(name);
    else next.set(name, value);
  }
  return writeAddress(path, next);
}

/** A part of a path as it was before it was written there. One that nothing has written stays as it is. */
export function partOf(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
