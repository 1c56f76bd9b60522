import type { ShownTest } from '../api/shapes.ts';
import { flatTests, testText } from './test-text.ts';

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
