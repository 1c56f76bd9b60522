import { computed, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { refusalOf, stream, type ApiRefusal } from './client.ts';
import { asRefusal } from './load.ts';
import { readEvents } from './sse.ts';

interface Heard {
  readonly event: string;
  readonly data: unknown;
}

export type Run<Events extends object = object> = ReturnType<typeof createRun<Events>>;

/** A call whose answer is server-sent events, the last of which is `done`. One at a time. */
export function createRun<Events extends object>(path: string) {
  const state = signal<'idle' | 'running' | 'done' | 'cut'>('idle');
  const error = signal<ApiRefusal | undefined>(undefined);
  const heard = signal<readonly Heard[]>([]);
  let running: AbortController | undefined;
  const run = async (body: object, signal: AbortSignal): Promise<void> => {
    const response = await stream(path, { body, signal });
    if (!response.ok || !response.body) throw refusalOf(await response.json().catch(() => undefined), response.status);
    for await (const { event, data } of readEvents(response.body)) {
      if (event === '' || signal.aborted) continue;
      heard.value = [...heard.value, { event, data: JSON.parse(data) as unknown }];
      if (event === 'done') state.value = 'done';
    }
  };
  return {
    state,
    error,
    busy: computed(() => state.value === 'running'),
    /** The events of a name, as they have come. They are the gateway's own. */
    of: <Name extends keyof Events & string>(name: Name): readonly Events[Name][] =>
      heard.value.flatMap(({ event, data }) => (event === name ? [data as Events[Name]] : [])),
    start(body: object): void {
      running?.abort();
      const { signal: own } = (running = new AbortController());
      error.value = undefined;
      heard.value = [];
      state.value = 'running';
      run(body, own)
        .catch((reason: unknown) => void (own.aborted || (error.value = asRefusal(reason))))
        .finally(() => void (!own.aborted && state.value === 'running' && (state.value = 'cut')));
    },
    stop(): void {
      running?.abort();
      if (state.value === 'running') state.value = 'idle';
    },
  };
}

/** A run that ends with the part of the page that shows it. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- callers know the events of their path
export function useRun<Events extends object>(path: string): Run<Events> {
  const run = useMemo(() => createRun<Events>(path), [path]);
  useEffect(() => run.stop, [run]);
  return run;
}
