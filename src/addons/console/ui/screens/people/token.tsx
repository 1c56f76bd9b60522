import { api, ask, session } from '../../api/index.ts';
import type { ApiSchemas } from '../../api/shapes.ts';
import { Chip, toneOf } from '../../parts/chip.tsx';
import { closeDrawer, Drawer } from '../../parts/drawer.tsx';
import { Facts } from '../../parts/facts.tsx';
import { moment } from '../../parts/format.ts';
import { Remove } from '../../parts/remove.tsx';

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
