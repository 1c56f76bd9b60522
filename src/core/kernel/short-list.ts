/**
 * An empty list that will hold one item in nearly all cases. The first `push` to `[]` makes room for 17 items (measured:
 * 184 bytes against 56); this list has room for one.
 */
export function shortList<T>(): T[] {
  const list: (T | undefined)[] = [undefined];
  list.pop();
  return list as T[];
}
