import { api, ask, type ConsoleRole, needs, session, useAction } from '../../api/index.ts';
import type { ApiSchemas } from '../../api/shapes.ts';
import { Chip, toneOf } from '../../parts/chip.tsx';
import { closeDrawer, Drawer } from '../../parts/drawer.tsx';
import { Facts } from '../../parts/facts.tsx';
import { moment } from '../../parts/format.ts';
import { Remove } from '../../parts/remove.tsx';
import { useSignal } from '@preact/signals';
import { setQuery } from '../../address.ts';
import { Decide, Dialog } from '../../parts/dialog.tsx';
import { Check, Choice, TextField } from '../../parts/fields.tsx';
import { SecretDialog } from '../../parts/secret.tsx';

interface TokenProps {
  readonly token: ApiSchemas['token'] & { readonly seen: string | undefined };
  readonly onChange: () => void;
}

/** A token: its rights, and its end. */
export function TokenDetail({ token, onChange }: TokenProps) {
  const { id, role, content, state, last4, networks, scopes, seen, etag } = token;
  return (
    <Drawer label={`Token ${id}`} name="row" title={id}>
      <p class="row">
        <Chip tone={toneOf(state)}>{state}</Chip>
        <span class="mono second">…{last4}</span>
        <a class="right" href="#/audit?kind=tokens">
          The audit of tokens
        </a>
      </p>
      <Facts
        of={[
          ['Role', role],
          ['Texts', content ? 'may be read' : 'may not be read'],
          ['Scopes', <span class="mono">{scopes?.join(' ') ?? 'all'}</span>],
          ['Networks', <span class="mono">{networks?.join(' ') ?? 'any'}</span>],
          ['Ends', moment(token.expires_at)],
          ['Last call here', seen === undefined ? 'unknown' : moment(seen)],
          ['Created by', token.updated_by ?? 'unknown'],
          ['Created', token.updated_at === null ? 'unknown' : moment(token.updated_at)],
        ]}
      />
      <p>
        <Remove
          id={id}
          verb="Revoke the token"
          remove={() => ask(api.DELETE('/tokens/{id}', { params: { path: { id }, header: { 'If-Match': etag } } }))}
          onDone={closeDrawer('row', onChange)}
        >
          <p>Calls with it get 401 at once, and its sessions end.</p>
          {session.value?.user === `token:${id}` && (
            <p class="notice warning">This is your own token: you are signed out.</p>
          )}
        </Remove>
      </p>
    </Drawer>
  );
}

const DAY_MS = 86_400_000;
const DAYS = ['1 day', '7 days', '30 days', '90 days'] as const;

/** A token of the API. It is shown once. */
export function CreateToken({ onDone }: { readonly onDone: () => void }) {
  const [id, role, days] = [useSignal(''), useSignal<string>('viewer'), useSignal<string>(DAYS[2])];
  const content = useSignal(false);
  const made = useSignal<string | undefined>(undefined);
  const close = (): void => {
    setQuery({ add: undefined });
    if (made.value !== undefined) onDone();
  };
  const create = useAction(async () => {
    // A minute less: the gateway counts 90 days from its own clock.
    const end = new Date(Date.now() + parseInt(days.value, 10) * DAY_MS - 60_000).toISOString();
    const body = { id: id.value, role: role.value as ConsoleRole, expires_at: end, content: content.value };
    made.value = (await ask(api.POST('/tokens', { params: {}, body }))).token ?? undefined;
  });
  const noStore = session.value?.features.store === false ? 'Tokens are kept in a state store.' : undefined;
  if (made.value !== undefined)
    return (
      <SecretDialog title={`The token ${id.value}`} secret={made.value} onClose={close}>
        <p>Every caller with this token has its rights.</p>
      </SecretDialog>
    );
  return (
    <Dialog title="Create a token" onClose={close}>
      <TextField title="Id" of={id} max={64} placeholder="ann-laptop" />
      <div class="row">
        <Choice title="Role" of={role} options={['viewer', 'operator', 'admin']} />
        <Choice title="Ends in" of={days} options={DAYS} />
      </div>
      <Check is={content.value} onChange={(is) => void (content.value = is)}>
        It may read the texts of requests
      </Check>
      <p class="second">A token has at most the rights and the time of the one that creates it.</p>
      <Decide
        verb="Create the token"
        doing={create}
        needs={needs('admin') ?? noStore ?? (id.value === '' ? 'It takes an id.' : undefined)}
        onClose={close}
      />
    </Dialog>
  );
}
