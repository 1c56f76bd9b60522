import type { ComponentChildren } from 'preact';
import type { Run } from '../api/index.ts';
import { Problem } from './states.tsx';

interface RunStatusProps {
  readonly run: Pick<Run, 'state' | 'error'>;
  /** The work, as in `The tests`. */
  readonly label: string;
  /** While it goes on. */
  readonly so: string;
  /** Its result. */
  readonly children?: ComponentChildren;
}

/** How far a run is, and what ended it before its end. */
export const RunStatus = ({ run: { state, error }, label, so, children }: RunStatusProps) => (
  <>
    <div role="status" aria-label={label} class="stack tight">
      {state.value === 'running' && <p class="second">{so}</p>}
      {state.value === 'cut' && !error.value && (
        <p class="notice failed">The answer ended before its last event: try again.</p>
      )}
      {children}
    </div>
    {error.value && <Problem error={error.value} />}
  </>
);
