import { useSignal } from '@preact/signals';
import { api, ask, needs, session, useAction } from '../../api/index.ts';
import { setQuery } from '../../address.ts';
import { Decide } from '../../parts/decide.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/fields.tsx';
import { Command } from '../../parts/states.tsx';

/** 32 random bytes, in the form of Standard Webhooks. */
function newSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return `whsec_${btoa(String.fromCharCode(...bytes))}`;
}

/** A webhook of the store, which seals its address and its secret. */
export function AddWebhook({ onDone }: { readonly onDone: () => void }) {
  const [id, url, kinds] = [useSignal(''), useSignal(''), useSignal('')];
  const secret = useSignal(newSecret());
  const close = (): void => setQuery({ add: undefined });
  const create = useAction(async () => {
    const words = kinds.value.split(/[\s,]+/).filter((word) => word !== '');
    const spec = { url: url.value, secret: secret.value, ...(words.length > 0 && { kinds: words }) };
    // The gateway checks the words: it has the list of kinds.
    await ask(api.POST('/alerts', { params: {}, body: { id: id.value, spec: spec as object } }));
    setQuery({ add: undefined, tab: 'webhooks', row: id.value });
    onDone();
  });
  const missing = id.value === '' || url.value === '' ? 'It takes an id and an address.' : undefined;
  const sealed = session.value?.features.seals === false ? 'The store has no `state.encryption_keys`.' : undefined;
  return (
    <Dialog title="Add a webhook" onClose={close}>
      <TextField title="Id" of={id} max={64} />
      <TextField title="Address" of={url} max={2048} placeholder="https://…" secret />
      <TextField title="Kinds, all if empty" of={kinds} placeholder="budget exhausted key_expiry" />
      <p class="second">The receiver checks the signature with this secret. It is not shown again:</p>
      <Command text={secret.value} label="Secret" />
      <Decide verb="Save the webhook" doing={create} needs={needs('admin') ?? sealed ?? missing} onClose={close} />
    </Dialog>
  );
}
