import type { ShownTest } from '../api/shapes.ts';

/** Comparisons of conditions, with the values that the request had. */
export const Tests = ({ tests }: { readonly tests: readonly ShownTest[] }) => (
  <>
    {flatTests(tests).map(({ test, depth }, index) => (
      <p key={index} class="mono test" style={{ paddingLeft: `${depth * 16}px` }}>
        <span class={test.holds === false ? 'failed-text' : 'ok-text'}>
          {test.holds === undefined ? '?' : test.holds ? '✓' : '✗'}
        </span>{' '}
        {testText(test)}
      </p>
    ))}
  </>
);

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
