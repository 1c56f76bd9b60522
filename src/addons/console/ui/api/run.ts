import { signal, type ReadonlySignal } from '@preact/signals';
import { refusalOf, stream, type ApiRefusal } from './client.ts';
import { asRefusal } from './load.ts';
import { readEvents } from './sse.ts';

export type RunState = 'idle' | 'running' | 'done' | 'cut';

export interface Run {
  readonly state: ReadonlySignal<RunState>;
  readonly error: ReadonlySignal<ApiRefusal | undefined>;
  /** One at a time: a run that goes on is left. */
  start(body: object): void;
  stop(): void;
}

/** A call whose answer is server-sent events, the last of which is `done`. */
export function createRun(path: string, take: (event: string, data: unknown) => void, begin: () => void): Run {
  const state = signal<RunState>('idle');
  const error = signal<ApiRefusal | undefined>(undefined);
  let running: AbortController | undefined;
  const run = async (body: object, { signal: ending }: AbortController): Promise<void> => {
    const response = await stream(path, { body, signal: ending });
    if (!response.ok || !response.body) throw refusalOf(await response.json().catch(() => undefined), response.status);
    for await (const { event, data } of readEvents(response.body)) {
      if (event === '') continue;
      take(event, JSON.parse(data));
      if (event === 'done') state.value = 'done';
    }
  };
  return {
    state,
    error,
    start(body) {
      running?.abort();
      const own = (running = new AbortController());
      error.value = undefined;
      state.value = 'running';
      begin();
      run(body, own)
        .catch((reason: unknown) => {
          if (!own.signal.aborted) error.value = asRefusal(reason);
        })
        .finally(() => {
          if (!own.signal.aborted && state.value === 'running') state.value = 'cut';
        });
    },
    stop() {
      running?.abort();
      if (state.value === 'running') state.value = 'idle';
    },
  };
}
