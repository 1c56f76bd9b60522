import type { ComponentChildren, JSX } from 'preact';

/** The value of a field: a signal, a member of one, or what reads and writes it otherwise. */
interface Field<Value> {
  value: Value;
}

export const fieldOf = (read: () => string, write: (text: string) => void): Field<string> => ({
  get value() {
    return read();
  },
  set value(text) {
    write(text);
  },
});

type Texts<Name extends string> = Readonly<Record<Name, string>>;

export const memberOf = <Name extends string>(of: { value: Texts<Name> }, name: Name): Field<string> =>
  fieldOf(
    () => of.value[name],
    (text) => void (of.value = { ...of.value, [name]: text }),
  );

interface FieldProps {
  readonly title: ComponentChildren;
  readonly of: Field<string>;
}

interface TextProps extends FieldProps {
  readonly placeholder?: string;
  readonly required?: boolean;
  readonly max?: number;
  readonly secret?: boolean;
  readonly problem?: string | undefined;
  /** Below the field. */
  readonly hint?: ComponentChildren;
  /** Behind the field. */
  readonly children?: ComponentChildren;
}

export const TextField = ({
  title,
  of,
  placeholder,
  required,
  max = 256,
  secret,
  problem,
  hint,
  children,
}: TextProps) => (
  <label class="field grow">
    <span>{title}</span>
    <span class="row">
      <input
        {...(secret && ({ type: 'password' } as const))}
        class="grow"
        placeholder={placeholder}
        required={required}
        value={of.value}
        maxLength={max}
        autocomplete="off"
        spellcheck={false}
        aria-invalid={problem !== undefined}
        onInput={(event) => void (of.value = event.currentTarget.value)}
      />
      {children}
    </span>
    {problem !== undefined && <span class="warning-text">{problem}</span>}
    {hint !== undefined && <span class="third">{hint}</span>}
  </label>
);

/** Text of several lines. */
export const TextArea = ({ title, of, ...more }: FieldProps & Omit<JSX.IntrinsicElements['textarea'], 'title'>) => (
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

interface ChoiceProps extends FieldProps {
  readonly options: readonly string[];
  /** Stands for no choice. */
  readonly none?: string;
  readonly hint?: ComponentChildren;
}

/** One of a few. */
export const Choice = ({ title, of, options, none, hint }: ChoiceProps) => (
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
    {hint !== undefined && <span class="third">{hint}</span>}
  </label>
);

interface CheckProps {
  readonly is: boolean;
  readonly title?: string;
  readonly disabled?: boolean;
  readonly onChange: (is: boolean) => void;
  readonly children: ComponentChildren;
}

export const Check = ({ is, title, disabled, onChange, children }: CheckProps) => (
  <label class="row" title={title}>
    <input
      type="checkbox"
      checked={is}
      disabled={disabled}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
    <span>{children}</span>
  </label>
);
