import { isObject } from '../../../core/kernel/index.ts';

/** Sets a value in nested objects and lists. A number in the path is an index where there is a list, else a name. */
export function setAt(into: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [name = '', ...inner] = path;
  // Assigning it would change the object itself.
  if (name === '__proto__') return;
  if (inner.length === 0) return void (into[name] = value);
  const before = into[name];
  const next: Record<string, unknown> = isObject(before) ? before : {};
  into[name] = next;
  setAt(next, inner, value);
}
