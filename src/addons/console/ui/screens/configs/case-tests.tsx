import { computed, signal } from '@preact/signals';
import { createRun } from '../../api/run.ts';
import { needs } from '../../api/session.ts';
import { plural } from '../../parts/format.ts';
import { Action, Problem } from '../../parts/states.tsx';
import type { ShownPlace } from '../../api/shapes.ts';

interface Case extends ShownPlace {
  readonly name: string;
  readonly ok: boolean;
  readonly differences?: readonly Difference[];
}

interface Difference {
  readonly what: string;
  readonly expected?: string;
  readonly got?: string;
}

export type TestRun = ReturnType<typeof createTests>;

/** The cases of the test files, run against texts that are not saved. */
export function createTests() {
  const cases = signal<readonly Case[]>([]);
  const problems = signal<readonly string[]>([]);
  const run = createRun(
    '/settings/tests',
    (event, data) => {
      // The gateway's own events.
      if (event === 'case') cases.value = [...cases.value, data as Case];
      if (event === 'done') problems.value = (data as { problems?: readonly string[] }).problems ?? [];
    },
    () => {
      cases.value = [];
      problems.value = [];
    },
  );
  const failed = computed(() => cases.value.filter(({ ok }) => !ok).length);
  return { cases, failed, problems, run };
}

const differenceText = ({ what, expected, got }: Difference): string =>
  [what, expected === undefined ? [] : `expected ${expected}`, got === undefined ? [] : `got ${got}`].flat().join(', ');

interface CaseTestsProps {
  readonly tests: TestRun;
  readonly onRun: () => void;
}

export function CaseTests({ tests: { cases, failed, problems, run }, onRun }: CaseTestsProps) {
  const state = run.state.value;
  const total = cases.value.length;
  return (
    <div class="stack">
      <p>
        <Action kind="main" needs={needs('operator')} busy={state === 'running'} onClick={onRun}>
          Run the tests
        </Action>
      </p>
      <div role="status" aria-label="The tests">
        {state === 'running' && <p class="second">{plural(total, 'case')} so far</p>}
        {state === 'cut' && !run.error.value && (
          <p class="notice failed">The answer ended before the tests did: try again.</p>
        )}
        {state === 'done' && total === 0 && problems.value.length === 0 && (
          <p class="notice">
            There are no cases yet. A file NAME.test.yaml beside the settings has them; a record makes one.
          </p>
        )}
        {state === 'done' && total > 0 && (
          <p class={`notice ${failed.value > 0 ? 'failed' : 'ok'}`}>
            {failed.value > 0
              ? `${failed.value} of ${plural(total, 'case')} failed.`
              : `All of ${plural(total, 'case')} passed.`}
          </p>
        )}
      </div>
      {problems.value.map((problem) => (
        <p key={problem} class="notice failed">
          {problem}
        </p>
      ))}
      {run.error.value && <Problem error={run.error.value} />}
      <ol class="stack tight">
        {cases.value
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
