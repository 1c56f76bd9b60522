import { type ReadonlySignal, useComputed, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { ApiRefusal } from './client.ts';

export interface LoadState<Data> {
  readonly data: Data | undefined;
  readonly error: ApiRefusal | undefined;
  /** A later answer is on its way. */
  readonly loading: boolean;
}

export interface Loading<Data> {
  readonly state: ReadonlySignal<LoadState<Data>>;
  reload(): void;
}

type Load<Data> = (signal: AbortSignal) => Promise<Data>;

/** Loads when `key` changes; anew, with the old data until then, when `news` grows. Undefined: nothing to load yet. */
export function useLoad<Data>(key: string | undefined, load: Load<Data>, news = 0): Loading<Data> {
  const state = useSignal<LoadState<Data>>({ data: undefined, error: undefined, loading: key !== undefined });
  const latest = useRef(load);
  latest.current = load;
  const turn = useSignal(0);
  const of = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (key === undefined) return;
    const aborting = new AbortController();
    const isSame = of.current === key;
    of.current = key;
    state.value = { data: isSame ? state.peek().data : undefined, error: undefined, loading: true };
    latest.current(aborting.signal).then(
      (data) => {
        if (!aborting.signal.aborted) state.value = { data, error: undefined, loading: false };
      },
      (error: unknown) => {
        if (aborting.signal.aborted) return;
        state.value = { data: state.peek().data, error: asRefusal(error), loading: false };
      },
    );
    return () => aborting.abort();
  }, [key, turn.value, news]);
  return { state: useComputed(() => state.value), reload: () => (turn.value += 1) };
}

export const asRefusal = (error: unknown): ApiRefusal =>
  error instanceof ApiRefusal
    ? error
    : new ApiRefusal({ status: 0, code: 'page', detail: error instanceof Error ? error.message : String(error) });

export interface Doing {
  readonly busy: ReadonlySignal<boolean>;
  readonly error: ReadonlySignal<ApiRefusal | undefined>;
  run(): void;
}

/** A call that a person starts: one at a time, with its refusal in place. */
export function useAction(work: () => Promise<unknown>): Doing {
  const busy = useSignal(false);
  const error = useSignal<ApiRefusal | undefined>(undefined);
  const run = (): void => {
    if (busy.value) return;
    busy.value = true;
    error.value = undefined;
    work()
      .catch((reason: unknown) => (error.value = asRefusal(reason)))
      .finally(() => (busy.value = false));
  };
  return { busy, error, run };
}
