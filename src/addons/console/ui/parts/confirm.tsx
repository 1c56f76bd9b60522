import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { Dialog } from './dialog.tsx';

/** A change that cannot be undone is confirmed by its id. */
export function Confirm({
  id,
  title,
  verb,
  busy,
  onClose,
  onConfirm,
  children,
}: {
  readonly id: string;
  readonly title: string;
  readonly verb: string;
  readonly busy: boolean;
  readonly onClose: () => void;
  readonly onConfirm: () => void;
  readonly children: ComponentChildren;
}) {
  const typed = useSignal('');
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      <label class="field">
        <span>
          Type <code>{id}</code> to go on
        </span>
        <input
          value={typed.value}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => void (typed.value = event.currentTarget.value)}
        />
      </label>
      <p class="row">
        <button type="button" class="danger" disabled={typed.value !== id || busy} onClick={onConfirm}>
          {verb}
        </button>
        <button type="button" onClick={onClose}>
          Leave it
        </button>
      </p>
    </Dialog>
  );
}
