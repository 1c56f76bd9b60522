import { useSignal } from '@preact/signals';
import { useAction } from '../../api/action.ts';
import { api, ask } from '../../api/client.ts';
import { needs, session } from '../../api/session.ts';
import type { ApiSchemas } from '../../api/shapes.ts';
import { setQuery } from '../../address.ts';
import { Chip, toneOf } from '../../parts/chip.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Drawer } from '../../parts/drawer.tsx';
import { Facts } from '../../parts/facts.tsx';
import { moment } from '../../parts/format.ts';
import { zone } from '../../parts/prefs.ts';
import { Action } from '../../parts/states.tsx';

interface TokenProps {
  readonly token: ApiSchemas['token'] & { readonly seen: string | undefined };
  readonly onChange: () => void;
}

/** A token: its rights, and its end. */
export function TokenDetail({ token, onChange }: TokenProps) {
  const { id, role, content, state, last4, networks, scopes, seen } = token;
  return (
    <Drawer label={`Token ${id}`} name="row" head={<h2>{id}</h2>}>
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
          ['Ends', moment(token.expires_at, zone.value)],
          ['Last call here', seen === undefined ? 'unknown' : moment(seen, zone.value)],
          ['Created by', token.updated_by ?? 'unknown'],
          ['Created', token.updated_at === null ? 'unknown' : moment(token.updated_at, zone.value)],
        ]}
      />
      <Revoke token={token} onChange={onChange} />
    </Drawer>
  );
}

function Revoke({ token: { id, etag, seen }, onChange }: TokenProps) {
  const open = useSignal(false);
  const close = (): void => void (open.value = false);
  const revoke = useAction(async () => {
    await ask(api.DELETE('/tokens/{id}', { params: { path: { id }, header: { 'If-Match': etag } } }));
    setQuery({ row: undefined });
    onChange();
  });
  const isOwn = session.value?.user === `token:${id}`;
  return (
    <p>
      <Action kind="danger" needs={needs('admin')} onClick={() => void (open.value = true)}>
        Revoke the token
      </Action>
      {open.value && (
        <Confirm id={id} verb="Revoke the token" doing={revoke} onClose={close}>
          <p>
            Calls with it get 401 at once, and its sessions end.
            {seen === undefined
              ? ' When it was last used here is unknown.'
              : ` Its last call here was at ${moment(seen, zone.value)}.`}
          </p>
          {isOwn && <p class="notice warning">This is your own token: you are signed out.</p>}
        </Confirm>
      )}
    </p>
  );
}
