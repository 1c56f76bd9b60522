import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { Decide, type DecideProps } from './decide.tsx';
import { Dialog } from './dialog.tsx';
import { TextField } from './fields.tsx';

interface ConfirmProps extends Pick<DecideProps, 'verb' | 'doing' | 'onClose'> {
  readonly id: string;
  readonly children: ComponentChildren;
}

/** A change that cannot be undone is confirmed by its id. */
export function Confirm({ id, verb, doing, onClose, children }: ConfirmProps) {
  const typed = useSignal('');
  const needs = typed.value === id ? undefined : 'The id is typed first.';
  return (
    <Dialog title={verb} onClose={onClose}>
      {children}
      <TextField title={`Type ${id} to go on`} of={typed} />
      <Decide kind="danger" verb={verb} doing={doing} needs={needs} onClose={onClose} />
    </Dialog>
  );
}
