import { useSignal, type ReadonlySignal } from '@preact/signals';
import type { ApiRefusal } from './client.ts';
import { asRefusal } from './load.ts';

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
