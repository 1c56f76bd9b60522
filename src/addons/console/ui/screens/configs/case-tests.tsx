import { needs, type Run } from '../../api/index.ts';
import type { ShownPlace } from '../../api/shapes.ts';
import { Button } from '../../parts/button.tsx';
import { plural } from '../../parts/format.ts';
import { RunStatus } from '../../parts/run-status.tsx';

interface Difference {
  readonly what: string;
  readonly expected?: string;
  readonly got?: string;
}

/** The cases of the test files, run against texts that are not saved. */
export interface CaseEvents {
  readonly case: ShownPlace & {
    readonly name: string;
    readonly ok: boolean;
    readonly differences?: readonly Difference[];
  };
  readonly done: { readonly problems?: readonly string[] };
}

const differenceText = ({ what, expected, got }: Difference): string =>
  [what, expected === undefined ? [] : `expected ${expected}`, got === undefined ? [] : `got ${got}`].flat().join(', ');

interface CaseTestsProps {
  readonly run: Run<CaseEvents>;
  readonly onRun: () => void;
}

export function CaseTests({ run, onRun }: CaseTestsProps) {
  const cases = run.of('case');
  const [done] = run.of('done');
  const problems = done?.problems ?? [];
  const failed = cases.filter(({ ok }) => !ok).length;
  const all = plural(cases.length, 'case');
  return (
    <div class="stack">
      <p>
        <Button label="Run the tests" kind="main" needs={needs('operator')} busy={run.busy.value} onClick={onRun} />
      </p>
      <RunStatus run={run} label="The tests" so={`${all} so far`}>
        {done && cases.length === 0 && problems.length === 0 && (
          <p class="notice">
            There are no cases yet. A file NAME.test.yaml beside the settings has them; a record makes one.
          </p>
        )}
        {done && cases.length > 0 && (
          <p class={`notice ${failed > 0 ? 'failed' : 'ok'}`}>
            {failed > 0 ? `${failed} of ${all} failed.` : `All of ${all} passed.`}
          </p>
        )}
      </RunStatus>
      {problems.map((problem) => (
        <p key={problem} class="notice failed">
          {problem}
        </p>
      ))}
      <ol class="stack tight">
        {cases
          .toSorted((one, other) => Number(one.ok) - Number(other.ok))
          .map(({ file, line, name, ok, differences = [] }) => (
            <li key={`${file} ${line} ${name}`} class="stack tight">
              <p class="row">
                <span class={ok ? 'ok-text' : 'failed-text'}>{ok ? '✓ passed' : '✗ failed'}</span>
                <span class="grow">{name}</span>
                <span class="mono third">
                  {file}:{line}
                </span>
              </p>
              {differences.map((one, index) => (
                <p key={index} class="notice failed mono pre">
                  {differenceText(one)}
                </p>
              ))}
            </li>
          ))}
      </ol>
    </div>
  );
}
