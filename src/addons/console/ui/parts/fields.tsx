import type { JSX } from 'preact';

/** A signal, or a member of one. */
interface Text {
  value: string;
}

export const memberOf = <Name extends string>(of: { value: Readonly<Record<Name, string>> }, name: Name): Text => ({
  get value() {
    return of.value[name];
  },
  set value(next) {
    of.value = { ...of.value, [name]: next };
  },
});

interface FieldProps {
  readonly title: string;
  readonly of: Text;
}

interface TextProps extends FieldProps {
  readonly placeholder?: string;
  readonly max?: number;
  readonly secret?: boolean;
  readonly problem?: string | undefined;
}

export const TextField = ({ title, of, placeholder, max = 256, secret = false, problem }: TextProps) => (
  <label class="field grow">
    <span>{title}</span>
    <input
      {...(secret ? ({ type: 'password' } as const) : {})}
      value={of.value}
      placeholder={placeholder}
      maxLength={max}
      autocomplete="off"
      aria-invalid={problem !== undefined}
      onInput={(event) => void (of.value = event.currentTarget.value)}
    />
    {problem !== undefined && <span class="warning-text">{problem}</span>}
  </label>
);

/** Text of several lines. */
export const TextArea = ({ title, of, ...more }: FieldProps & JSX.IntrinsicElements['textarea']) => (
  <label class="field">
    <span>{title}</span>
    <textarea
      spellcheck={false}
      {...more}
      value={of.value}
      onInput={(event) => void (of.value = event.currentTarget.value)}
    />
  </label>
);

/** One of a few; `none` stands for no choice. */
export const Choice = ({
  title,
  of,
  options,
  none,
}: FieldProps & { readonly options: readonly string[]; readonly none?: string }) => (
  <label class="field grow">
    <span>{title}</span>
    <select value={of.value} onChange={(event) => void (of.value = event.currentTarget.value)}>
      {none !== undefined && <option value="">{none}</option>}
      {options.map((one) => (
        <option key={one} selected={one === of.value}>
          {one}
        </option>
      ))}
    </select>
  </label>
);
