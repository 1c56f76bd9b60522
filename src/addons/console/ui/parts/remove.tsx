import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { type ConsoleRole, needs, useAction } from '../api/index.ts';
import { Opens } from './button.tsx';
import { Decide, Dialog } from './dialog.tsx';
import { TextField } from './fields.tsx';

interface RemoveProps {
  readonly id: string;
  readonly verb: string;
  readonly least?: ConsoleRole;
  readonly remove: () => Promise<unknown>;
  /** Called when it is gone. */
  readonly onDone: () => void;
  /** The effect on those who use it. */
  readonly children: ComponentChildren;
}

/** A change that cannot be undone, confirmed by the id. */
export const Remove = ({ least = 'admin', ...of }: RemoveProps) => (
  <Opens label={of.verb} kind="danger" needs={needs(least)}>
    {(close) => <Confirm {...of} onClose={close} />}
  </Opens>
);

function Confirm({ id, verb, remove, onDone, onClose, children }: RemoveProps & { readonly onClose: () => void }) {
  const typed = useSignal('');
  const doing = useAction(async () => {
    await remove();
    onClose();
    onDone();
  });
  return (
    <Dialog title={verb} onClose={onClose}>
      {children}
      <TextField title={`Type ${id} to go on`} of={typed} />
      <Decide
        kind="danger"
        verb={verb}
        doing={doing}
        needs={typed.value === id ? undefined : 'The id is typed first.'}
        onClose={onClose}
      />
    </Dialog>
  );
}

interface EndProps extends RemoveProps {
  readonly noun: string;
  readonly owner: string;
}

/** An object of the store can be removed here, one of a file there. */
export const End = ({ noun, owner, ...of }: EndProps) =>
  owner === 'store' ? (
    <p>
      <Remove {...of} />
    </p>
  ) : (
    <p class="second">
      The {noun} is in {owner}: change it there. The gateway reloads the file.
    </p>
  );
