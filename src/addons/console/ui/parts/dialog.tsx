import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

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
