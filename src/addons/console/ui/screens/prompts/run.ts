import { computed, signal } from '@preact/signals';
import { createRun } from '../../api/run.ts';

/** What came of one case with one version. */
export interface CaseOutcome {
  readonly case: number;
  readonly version: number;
  readonly ok: boolean | null;
  readonly status?: number;
  readonly ms?: number;
  readonly text?: string;
  readonly problem?: string;
  readonly tokens?: { readonly input?: number; readonly output?: number };
  readonly request_id?: string;
}

export interface PromptCase {
  readonly variables: Readonly<Record<string, unknown>>;
  readonly text: string;
  /** JSON. */
  readonly schema: string;
}

/** Cases with two versions of a prompt, their outcomes as they come. Its end ends the calls of the upstreams, too. */
export function createCaseRun(id: string) {
  const outcomes = signal<readonly CaseOutcome[]>([]);
  const run = createRun(
    `/prompts/${encodeURIComponent(id)}:run`,
    // The gateway's own events.
    (event, data) => void (event === 'case' && (outcomes.value = [...outcomes.value, data as CaseOutcome])),
    () => (outcomes.value = []),
  );
  return { ...run, outcomes, busy: computed(() => run.state.value === 'running') };
}
