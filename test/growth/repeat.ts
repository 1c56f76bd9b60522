/** A JSON body. */
export type Json = Readonly<Record<string, unknown>>;

/** Items until they have about so many bytes as JSON. */
export function repeat<T>(bytes: number, item: (index: number) => T): T[] {
  const items: T[] = [];
  for (let left = bytes; left > 0;) {
    const next = item(items.length);
    left -= JSON.stringify(next).length + 1;
    items.push(next);
  }
  return items;
}

/** Members of an object until they have about so many bytes as JSON. */
export function members(bytes: number, member: (index: number) => readonly [string, unknown]): Json {
  return Object.fromEntries(repeat(bytes, (index) => member(index)).map(([key, value]) => [key, value] as const));
}

/** A text of so many bytes. */
export const text = (bytes: number, unit = 'lorem ipsum '): string =>
  unit.repeat(Math.ceil(bytes / unit.length)).slice(0, Math.max(1, bytes));

/** A value inside so many levels. */
export function nest(levels: number, wrap: (inner: unknown) => unknown, core: unknown): unknown {
  let value = core;
  for (let level = 0; level < levels; level += 1) value = wrap(value);
  return value;
}
