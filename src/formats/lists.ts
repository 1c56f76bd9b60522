/** `list.push(...items)` passes each item as an argument, and some hundred thousand arguments overflow the stack. */
export function append<T>(list: T[], items: Iterable<T>): void {
  for (const item of items) list.push(item);
}
