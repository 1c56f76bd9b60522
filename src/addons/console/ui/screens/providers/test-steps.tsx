import type { Run } from '../../api/index.ts';
import { ms } from '../../parts/format.ts';
import { RunStatus } from '../../parts/run-status.tsx';

export interface TestEvents {
  readonly step: {
    readonly name: string;
    /** Null: there was nothing to check, or the check could not tell (`unsure`). */
    readonly ok: boolean | null;
    readonly unsure?: true;
    readonly ms?: number;
    readonly code?: string;
    readonly message?: string;
    readonly hint?: string;
  };
  readonly done: { readonly ok: boolean };
}

const STEP_WORDS: Readonly<Record<string, string>> = {
  settings: 'The settings are valid',
  address: 'The address is allowed',
  dns: 'The name is found',
  connect: 'The server is reached',
  clock: 'The clocks agree',
  token: 'A token is given',
  permission: 'The permission is there',
  call: 'A small call is answered',
};

/** Each step with its time and, where it failed, the remedy. */
export function TestSteps({ run }: { readonly run: Run<TestEvents> }) {
  if (run.state.value === 'idle') return null;
  const steps = run.of('step');
  const [done] = run.of('done');
  return (
    <div class="stack tight">
      <ol class="test-steps">
        {steps.map(({ name, ok, ms: took, code, message, hint }) => (
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
      <RunStatus run={run} label="The test" so="Testing…">
        {done?.ok === true &&
          (steps.some(({ unsure }) => unsure) ? (
            <p class="notice warning">No step failed, but the step with a dash could not tell: read what it says.</p>
          ) : (
            <p class="notice ok">The entry works.</p>
          ))}
        {done?.ok === false && <p class="notice failed">The test ended at the step above.</p>}
      </RunStatus>
    </div>
  );
}
