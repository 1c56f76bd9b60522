import { useSignal } from '@preact/signals';
import { Button } from '../../parts/button.tsx';
import { Check, Choice, fieldOf, TextField } from '../../parts/fields.tsx';
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
      <Check is={value === true} title={words} onChange={onChange}>
        <code>{name}</code> <span class="third">{words}</span>
      </Check>
    );
  const of = fieldOf(() => (typeof value === 'string' ? value : ''), onChange);
  const title = (
    <>
      <code>{name}</code>
      {required ? '' : ' (optional)'}
    </>
  );
  if (kind === 'choice')
    return (
      <Choice
        title={title}
        of={of}
        options={options}
        none="its own"
        hint="Credentials that entries of catalog.yaml share, in place of its own."
      />
    );
  const isSecret = kind === 'secret';
  return (
    <TextField
      title={title}
      of={of}
      max={4096}
      required={required}
      secret={isSecret}
      placeholder={isSecret ? 'the secret, or ${env:NAME}' : kind === 'list' ? 'a, b-*' : ''}
      hint={`${words}${options.length > 0 ? ` One of ${options.join(', ')}.` : ''}`}
    >
      {isSecret &&
        known.map(({ of: slug, ref }) => (
          <Button key={slug} label={`That of @${slug}`} title={ref} onClick={() => onChange(ref)} />
        ))}
    </TextField>
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
