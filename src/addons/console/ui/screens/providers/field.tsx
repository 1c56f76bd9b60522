import { useSignal } from '@preact/signals';
import type { TargetedEvent } from 'preact';
import { readServiceAccount, type EntryField, type ServiceAccount } from './entry.ts';

interface FieldProps {
  readonly field: EntryField;
  readonly value: string | boolean | undefined;
  /** Credentials of entries of this kind, as their files name them: none where the store keeps the entry, which takes no reference. */
  readonly known: readonly { readonly of: string; readonly ref: string }[];
  readonly onChange: (value: string | boolean) => void;
}

export function FieldInput({ field, value, known, onChange }: FieldProps) {
  const { name, kind, words, required, options } = field;
  if (kind === 'file') return <AccountFile words={words} onChange={onChange} />;
  if (kind === 'flag')
    return (
      <label class="row" title={words}>
        <input type="checkbox" checked={value === true} onChange={(event) => onChange(event.currentTarget.checked)} />
        <code>{name}</code> <span class="third grow">{words}</span>
      </label>
    );
  if (kind === 'choice')
    return (
      <label class="field">
        <span>
          <code>{name}</code> (optional)
        </span>
        <select value={String(value ?? '')} onChange={(event) => onChange(event.currentTarget.value)}>
          <option value="">its own</option>
          {options.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
        <span class="third">Credentials that entries of catalog.yaml share, in place of its own.</span>
      </label>
    );
  const input = {
    autocomplete: 'off',
    spellcheck: false,
    maxLength: 4096,
    required,
    value: typeof value === 'string' ? value : '',
    onInput: (event: TargetedEvent<HTMLInputElement>) => onChange(event.currentTarget.value),
  } as const;
  return (
    <label class="field">
      <span>
        <code>{name}</code>
        {required ? '' : ' (optional)'}
      </span>
      {kind === 'secret' ? (
        <span class="row">
          <input class="grow" type="password" placeholder="the secret, or ${env:NAME}" {...input} />
          {known.map(({ of, ref }) => (
            <button key={of} type="button" title={ref} onClick={() => onChange(ref)}>
              That of @{of}
            </button>
          ))}
        </span>
      ) : (
        <input placeholder={kind === 'list' ? 'a, b-*' : ''} {...input} />
      )}
      <span class="third">
        {words} {options.length > 0 && `One of ${options.join(', ')}.`}
      </span>
    </label>
  );
}

/** The file of a service account. Only who it is appears on the page. */
function AccountFile({ words, onChange }: { readonly words: string; readonly onChange: (value: string) => void }) {
  const account = useSignal<ServiceAccount | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  const over = useSignal(false);
  const take = async (file: File | undefined): Promise<void> => {
    if (!file) return;
    try {
      const text = await file.text();
      account.value = readServiceAccount(text);
      problem.value = undefined;
      onChange(text);
    } catch (error) {
      account.value = undefined;
      problem.value = error instanceof Error ? error.message : String(error);
      onChange('');
    }
  };
  return (
    <label
      class={`field drop${over.value ? ' over' : ''}`}
      onDragOver={(event) => {
        event.preventDefault();
        over.value = true;
      }}
      onDragLeave={() => void (over.value = false)}
      onDrop={(event) => {
        event.preventDefault();
        over.value = false;
        void take(event.dataTransfer?.files[0]);
      }}
    >
      <span>
        <code>service_account</code> (optional): drop the JSON file of its key, or choose it
      </span>
      <input
        type="file"
        accept="application/json,.json"
        onChange={(event) => void take(event.currentTarget.files?.[0])}
      />
      {problem.value !== undefined && <span class="failed-text">{problem.value}</span>}
      {account.value && (
        <span>
          {account.value.email}, project {account.value.project}, key <code>{account.value.keyId}</code>
        </span>
      )}
      <span class="third">
        {words} Without it, callers send their own token: then give project_id and region. Endpoints of your own need
        the file.
      </span>
    </label>
  );
}
