import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { Doing } from '../api/index.ts';

interface ButtonProps {
  readonly label: ComponentChildren;
  /** Its classes: `main`, `danger`, `plain`. */
  readonly kind?: string | undefined;
  /** Its name, where the label is a sign. */
  readonly name?: string;
  readonly title?: string;
  readonly pressed?: boolean;
  /** Why it cannot be used: it stays visible, and says it beside itself to those who press it. */
  readonly needs?: string | undefined;
  readonly busy?: boolean;
  readonly onClick?: () => void;
  /** A call that it starts, one at a time. */
  readonly doing?: Pick<Doing, 'busy' | 'run'>;
}

export function Button({ label, kind, name, title, pressed, needs, busy, doing, onClick = doing?.run }: ButtonProps) {
  const told = useSignal(false);
  const isBusy = busy ?? doing?.busy.value ?? false;
  const press = (): void => {
    told.value = needs !== undefined;
    if (needs === undefined && !isBusy) onClick?.();
  };
  return (
    <>
      <button
        type="button"
        class={kind}
        aria-label={name}
        aria-pressed={pressed}
        aria-disabled={needs !== undefined || isBusy}
        title={needs ?? title}
        onClick={press}
      >
        {label}
        {needs !== undefined && <span class="hidden">{needs}</span>}
      </button>
      {told.value && needs !== undefined && <span class="warning-text">{needs}</span>}
    </>
  );
}

/** An address that looks like a button. */
export const ButtonLink = ({
  label,
  href,
  kind = '',
}: Pick<ButtonProps, 'label' | 'kind'> & { readonly href: string }) => (
  <a class={`button ${kind}`.trim()} href={href}>
    {label}
  </a>
);

interface OpensProps extends ButtonProps {
  readonly children: (close: () => void) => ComponentChildren;
}

/** A button, and the dialog that it opens. */
export function Opens({ children, ...button }: OpensProps) {
  const open = useSignal(false);
  return (
    <>
      <Button {...button} onClick={() => void (open.value = true)} />
      {open.value && children(() => void (open.value = false))}
    </>
  );
}
