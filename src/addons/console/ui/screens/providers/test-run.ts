import { computed, signal } from '@preact/signals';
import { createRun } from '../../api/run.ts';
import type { ShownStep } from './entry.ts';

export type ShownRun = ReturnType<typeof createTestRun>;

/** A test of an entry, its steps as they come. */
export function createTestRun() {
  const steps = signal<readonly ShownStep[]>([]);
  let passed = false;
  const run = createRun(
    '/providers:test',
    (event, data) => {
      if (event === 'step') steps.value = [...steps.value, data as ShownStep];
      if (event === 'done') passed = (data as { ok: boolean }).ok;
    },
    () => (steps.value = []),
  );
  const state = computed(() => {
    const now = run.state.value;
    if (now === 'idle' || now === 'running') return now;
    return now === 'done' && passed ? 'good' : 'bad';
  });
  return { ...run, steps, state };
}
