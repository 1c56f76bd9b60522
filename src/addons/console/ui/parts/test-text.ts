import type { ShownTest } from '../api/shapes.ts';

/** `metadata.tier = "gold" wanted $eq "gold"` */
export function testText({ field, found, operator, wanted }: ShownTest): string {
  const value = (one: unknown): string => (one === undefined ? 'absent' : JSON.stringify(one));
  if (operator === undefined) return field;
  return `${field} = ${value(found)} wanted ${operator} ${value(wanted)}`;
}

/** The tests under `$and`, `$or` and `$not`, each with its depth. */
export const flatTests = (
  tests: readonly ShownTest[],
  depth = 0,
): readonly { readonly test: ShownTest; readonly depth: number }[] =>
  tests.flatMap((test) => [{ test, depth }, ...flatTests(test.inner ?? [], depth + 1)]);
