import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useAction } from '../api/action.ts';
import { needs } from '../api/session.ts';
import { Confirm } from './confirm.tsx';
import { Action } from './states.tsx';

interface RemoveProps {
  readonly id: string;
  readonly verb: string;
  readonly remove: () => Promise<void>;
  /** What becomes of those who use it. */
  readonly children: ComponentChildren;
}

/** The end of an object of the store, confirmed by its id. */
export function Remove({ id, verb, remove, children }: RemoveProps) {
  const open = useSignal(false);
  const doing = useAction(remove);
  return (
    <>
      <Action kind="danger" needs={needs('admin')} onClick={() => void (open.value = true)}>
        {verb}
      </Action>
      {open.value && (
        <Confirm id={id} verb={verb} doing={doing} onClose={() => void (open.value = false)}>
          {children}
        </Confirm>
      )}
    </>
  );
}
