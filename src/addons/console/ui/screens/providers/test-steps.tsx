import { ms } from '../../parts/format.ts';
import { Problem } from '../../parts/states.tsx';
import { STEP_WORDS } from './entry.ts';
import type { ShownRun } from './test-run.ts';

/** Each step with its time and, where it failed, the remedy. */
export function TestSteps({ run }: { readonly run: ShownRun }) {
  const state = run.state.value;
  if (state === 'idle') return null;
  return (
    <div class="stack tight" role="status" aria-label="The test">
      <ol class="test-steps">
        {run.steps.value.map(({ name, ok, ms: took, code, message, hint }) => (
          <li key={name}>
            <p class="row">
              <span class={ok === null ? 'third' : ok ? 'ok-text' : 'failed-text'}>
                {ok === null ? '–' : ok ? '✓' : '✗'}
              </span>
              <span class="grow">
                {STEP_WORDS[name] ?? name}
                {message !== undefined && <span class={ok === false ? 'failed-text' : 'third'}>: {message}</span>}
              </span>
              {code !== undefined && <code class="third">{code}</code>}
              <span class="num third">{ms(took)}</span>
            </p>
            {ok === false && hint !== undefined && <p class="notice warning">{hint}</p>}
          </li>
        ))}
      </ol>
      {state === 'running' && <p class="second">Testing…</p>}
      {state === 'good' &&
        (run.steps.value.some(({ unsure }) => unsure) ? (
          <p class="notice warning">No step failed, but the step with a dash could not tell: read what it says.</p>
        ) : (
          <p class="notice ok">The entry works.</p>
        ))}
      {state === 'bad' && run.error.value === undefined && (
        <p class="notice failed">The test ended at the step above.</p>
      )}
      {run.error.value && <Problem error={run.error.value} />}
    </div>
  );
}
