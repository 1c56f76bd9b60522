import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Doing } from '../api/index.ts';
import { Button } from './button.tsx';
import { Problem } from './states.tsx';

/** The browser's own dialog: it keeps the focus, and Esc closes it. */
export function Dialog({
  title,
  onClose,
  children,
  wide = false,
  fixed = false,
}: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly wide?: boolean;
  /** Esc does not close it. */
  readonly fixed?: boolean;
}) {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    box.current?.showModal();
    return () => box.current?.close();
  }, []);
  return (
    <dialog
      ref={box}
      class={wide ? 'wide' : undefined}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        if (!fixed) onClose();
      }}
    >
      <div onKeyDown={(event) => decides(event) && box.current?.querySelector<HTMLElement>('button.main')?.click()}>
        <h2>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

/** Enter in a field is the verb of the dialog, as in a form. */
const decides = ({ key, target, defaultPrevented }: KeyboardEvent): boolean =>
  key === 'Enter' && !defaultPrevented && target instanceof HTMLInputElement && target.type !== 'checkbox';

interface DecideProps {
  readonly verb: string;
  readonly doing: Doing;
  readonly needs?: string | undefined;
  readonly kind?: 'main' | 'danger';
  readonly onClose: () => void;
}

/** The end of a dialog: its verb, what the gateway refused, and a way out. */
export const Decide = ({ verb, doing, needs, kind = 'main', onClose }: DecideProps) => (
  <>
    {doing.error.value && <Problem error={doing.error.value} />}
    <p class="row">
      <Button label={verb} kind={kind} needs={needs} doing={doing} />
      <Button label="Cancel" onClick={onClose} />
    </p>
  </>
);
