import type { Signal } from '@preact/signals';

/** A labelled field over a signal. */
export const TextField = ({
  title,
  of,
  placeholder,
  max = 256,
}: {
  readonly title: string;
  readonly of: Signal<string>;
  readonly placeholder?: string;
  readonly max?: number;
}) => (
  <label class="field">
    <span>{title}</span>
    <input
      value={of.value}
      placeholder={placeholder}
      maxLength={max}
      autocomplete="off"
      onInput={(event) => void (of.value = event.currentTarget.value)}
    />
  </label>
);
