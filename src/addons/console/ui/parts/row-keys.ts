import { address, setQuery } from '../address.ts';
import { useKeys } from './shortcuts.ts';

/** `j` and `k` go through the rows of a list, `Esc` closes the drawer. @param name the member of the address that has the row */
export function useRowKeys(ids: readonly string[], name: string): void {
  const move = (by: 1 | -1) => (): void => {
    const at = ids.indexOf(address.value.query.get(name) ?? '') + by;
    setQuery({ [name]: ids[Math.max(0, Math.min(ids.length - 1, at))] });
  };
  useKeys({
    j: move(1),
    k: move(-1),
    Escape: () => setQuery({ [name]: undefined }),
    '/': () => document.getElementById('filter')?.focus(),
  });
}
