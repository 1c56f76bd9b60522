import { signal } from '@preact/signals';
import { refusalOf, stream, type ApiRefusal } from '../../api/client.ts';
import { asRefusal } from '../../api/load.ts';
import { readEvents } from '../../api/sse.ts';
import type { ShownStep } from './entry.ts';

export type ShownRun = ReturnType<typeof createTestRun>;

/** A test of an entry, its steps as they come. */
export function createTestRun() {
  const steps = signal<readonly ShownStep[]>([]);
  const state = signal<'idle' | 'running' | 'good' | 'bad'>('idle');
  const error = signal<ApiRefusal | undefined>(undefined);
  let running: AbortController | undefined;
  const run = async (body: object, { signal: ending }: AbortController): Promise<void> => {
    const response = await stream('/providers:test', { body, signal: ending });
    if (!response.ok || !response.body) throw refusalOf(await response.json().catch(() => undefined), response.status);
    for await (const { event, data } of readEvents(response.body)) {
      if (event === 'step') steps.value = [...steps.value, JSON.parse(data) as ShownStep];
      if (event === 'done') state.value = (JSON.parse(data) as { ok: boolean }).ok ? 'good' : 'bad';
    }
  };
  return {
    steps,
    state,
    error,
    start(body: object): void {
      running?.abort();
      const own = (running = new AbortController());
      steps.value = [];
      error.value = undefined;
      state.value = 'running';
      run(body, own)
        .catch((reason: unknown) => {
          if (!own.signal.aborted) error.value = asRefusal(reason);
        })
        .finally(() => {
          if (!own.signal.aborted && state.value === 'running') state.value = 'bad';
        });
    },
    stop: () => running?.abort(),
  };
}
