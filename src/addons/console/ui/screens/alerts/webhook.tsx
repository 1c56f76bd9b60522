import { useSignal } from '@preact/signals';
import { api, ask, needs, session, useAction } from '../../api/index.ts';
import type { ApiSchemas } from '../../api/shapes.ts';
import { Button } from '../../parts/button.tsx';
import { closeDrawer, Drawer } from '../../parts/drawer.tsx';
import { Facts } from '../../parts/facts.tsx';
import { End } from '../../parts/remove.tsx';
import { Command, Problem } from '../../parts/states.tsx';
import { setQuery } from '../../address.ts';
import { Decide, Dialog } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/fields.tsx';

type Kinds = NonNullable<ApiSchemas['alert']['spec']['kinds']>;

interface DetailProps {
  readonly webhook: ApiSchemas['alert'];
  readonly onChange: () => void;
}

/** A webhook, a test of it, and its end. */
export const WebhookDetail = ({ webhook: { id, spec, owner, etag }, onChange }: DetailProps) => (
  <Drawer label={`Webhook ${id}`} name="row" title={id}>
    <Facts
      of={[
        ['Kinds', spec.kinds?.join(', ') ?? 'all'],
        ['Nodes', <span class="mono">{spec.nodes?.join(', ') ?? 'all'}</span>],
        ['Address', 'written, and never shown'],
        ['Where it is', owner === 'store' ? 'in the store' : `in ${owner}`],
      ]}
    />
    <Test id={id} />
    <End
      noun="webhook"
      owner={owner}
      id={id}
      verb="Delete the webhook"
      remove={() => ask(api.DELETE('/alerts/{id}', { params: { path: { id }, header: { 'If-Match': etag } } }))}
      onDone={closeDrawer('row', onChange)}
    >
      <p>It gets no alert any more. Alerts that wait for it are lost; the log has them.</p>
    </End>
  </Drawer>
);

function Test({ id }: { readonly id: string }) {
  const tested = useSignal<ApiSchemas['alert_delivery'] | undefined>(undefined);
  const test = useAction(async () => {
    tested.value = undefined;
    tested.value = await ask(api.POST('/alerts/{id}:test', { params: { path: { id } } }));
  });
  const { value } = tested;
  return (
    <>
      <p>
        <Button label="Test" needs={needs('operator')} doing={test} />
      </p>
      <div role="status">
        {value &&
          (value.state === 'delivered' ? (
            <p class="notice ok">The webhook has taken the test.</p>
          ) : (
            <p class="notice failed">The webhook has not taken the test: {value.problem ?? 'unknown'}</p>
          ))}
      </div>
      {test.error.value && <Problem error={test.error.value} />}
    </>
  );
}

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
    const words = kinds.value.split(/[\s,]+/).filter((word) => word !== '') as Kinds;
    const spec = { url: url.value, secret: secret.value, ...(words.length > 0 && { kinds: words }) };
    // The gateway checks the words: it has the list of kinds.
    await ask(api.POST('/alerts', { params: {}, body: { id: id.value, spec } }));
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
