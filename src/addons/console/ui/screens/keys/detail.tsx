import { useSignal } from '@preact/signals';
import { api, ask } from '../../api/client.ts';
import { useAction } from '../../api/action.ts';
import { useLoad } from '../../api/load.ts';
import { needs } from '../../api/session.ts';
import type { BudgetObject, KeyObject } from '../../api/shapes.ts';
import { Chip, toneOf } from '../../parts/chip.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Decide } from '../../parts/decide.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Drawer } from '../../parts/drawer.tsx';
import { Facts } from '../../parts/facts.tsx';
import { count, moment, plural } from '../../parts/format.ts';
import { zone } from '../../parts/prefs.ts';
import { Action, Loads } from '../../parts/states.tsx';
import { TextField } from '../../parts/fields.tsx';
import { Budget } from './budget.tsx';
import { NewBudget } from './node.tsx';
import { NewSecret } from './create.tsx';
import { isInFile, limitText } from './tree.ts';

interface DetailProps {
  readonly id: string;
  readonly budgets: readonly BudgetObject[];
  readonly onChange: () => void;
}

const HOUR_MS = 3_600_000;

/** The requests of the last hour: what a change would touch. */
async function lastHour(id: string, signal: AbortSignal): Promise<number> {
  const query = { from: new Date(Date.now() - HOUR_MS).toISOString(), key: [id] };
  const { series } = await ask(api.GET('/stats', { params: { query }, signal }));
  return series.reduce((sum, one) => sum + one.requests.reduce((all, value) => all + value, 0), 0);
}

/** A key: what it may do, every limit above it, and its secrets. */
export function KeyDetail({ id, budgets, onChange }: DetailProps) {
  const load = useLoad(id, async (signal) => ask(api.GET('/keys/{id}', { params: { path: { id } }, signal })));
  const used = useLoad(id, (signal) => lastHour(id, signal));
  const changed = (): void => {
    load.reload();
    onChange();
  };
  return (
    <Drawer label={`Key ${id}`} name="key" head={<h2>{id}</h2>}>
      <Loads state={load.state.value} retry={load.reload}>
        {(found) => (
          <div class="stack">
            <KeyFacts found={found} hour={used.state.value.data} />
            <Effective found={found} budgets={budgets} onChange={changed} />
            <KeyActions found={found} hour={used.state.value.data} onChange={changed} />
          </div>
        )}
      </Loads>
    </Drawer>
  );
}

function KeyFacts({ found, hour }: { readonly found: KeyObject; readonly hour: number | undefined }) {
  const { spec, state, credentials, last_used: used, owner, updated_by: by } = found;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['Team', spec.team],
    ['Models', spec.models?.join(' ') ?? 'any'],
    ['Providers', spec.providers?.join(' ') ?? 'any'],
    ['Configs', spec.configs?.join(' ') ?? 'any'],
    ['Default config', spec.default_config],
    ['Expires', spec.expires_at === undefined ? 'never' : moment(spec.expires_at, zone.value)],
    ['Last use', used ? `${moment(used.at, zone.value)} from ${used.address}` : 'unknown'],
    ['Last hour', hour === undefined ? 'unknown' : plural(hour, 'request')],
    ['Written by', by ?? undefined],
    ['Where it is', isInFile(owner) ? `in ${owner}` : 'in the store'],
  ];
  return (
    <>
      <p class="row">
        <Chip tone={toneOf(state)}>{state}</Chip>
        {credentials.map(({ slot, last4, valid_to: end }) => (
          <span key={slot} class="mono second">
            …{last4} {end === null ? '' : `until ${moment(end, zone.value)}`}
          </span>
        ))}
        <a class="right" href={`#/requests?key=${encodeURIComponent(found.id)}`}>
          Its requests
        </a>
      </p>
      <Facts of={facts} />
    </>
  );
}

/** Everything that holds for the key, its own first: a key without a budget may have one above it. */
function Effective({
  found,
  budgets,
  onChange,
}: {
  readonly found: KeyObject;
  readonly budgets: readonly BudgetObject[];
  readonly onChange: () => void;
}) {
  const rows = found.effective ?? [];
  return (
    <section class="card stack tight" aria-label="What holds for it">
      <h2 class="small">What holds for it</h2>
      {rows.length === 0 && <p class="second">No budget, limit or rule holds for it.</p>}
      {rows.map(({ kind, node, owner, spec, budget: of }, index) => {
        const budget = budgets.find(({ id }) => id === of);
        return (
          <div key={index} class="effective">
            <p class="row">
              <span class="strong">{kind}</span>
              <span class="second">of {node}</span>
              <span class="mono third right">{owner}</span>
            </p>
            {budget ? <Budget budget={budget} onChange={onChange} /> : <p class="mono second">{limitText(spec)}</p>}
          </div>
        );
      })}
      <NewBudget node={`key:${found.id}`} onChange={onChange} />
    </section>
  );
}

function KeyActions({
  found,
  hour,
  onChange,
}: {
  readonly found: KeyObject;
  readonly hour: number | undefined;
  readonly onChange: () => void;
}) {
  const open = useSignal<'rotate' | 'revoke' | undefined>(undefined);
  if (isInFile(found.owner))
    return (
      <p class="second">
        The key is in {found.owner}: change it there, and the gateway reloads the file. `gatehouse keys create` makes
        the digest of a new secret.
      </p>
    );
  return (
    <p class="row">
      <Action needs={needs('operator')} onClick={() => void (open.value = 'rotate')}>
        Rotate the key
      </Action>
      <Action kind="danger" needs={needs('operator')} onClick={() => void (open.value = 'revoke')}>
        Revoke the key
      </Action>
      {open.value === 'rotate' && (
        <Rotate found={found} onClose={() => void (open.value = undefined)} onChange={onChange} />
      )}
      {open.value === 'revoke' && (
        <Revoke found={found} hour={hour} onClose={() => void (open.value = undefined)} onChange={onChange} />
      )}
    </p>
  );
}

interface ChangeProps {
  readonly found: KeyObject;
  readonly onClose: () => void;
  readonly onChange: () => void;
}

function Rotate({ found, onClose, onChange }: ChangeProps) {
  const overlap = useSignal('24h');
  const secret = useSignal<string | undefined>(undefined);
  const rotate = useAction(async () => {
    const params = { path: { id: found.id }, header: { 'If-Match': found.etag } };
    const answer = await ask(api.POST('/keys/{id}:rotate', { params, body: { overlap: overlap.value } }));
    secret.value = answer.key ?? undefined;
  });
  const close = (): void => {
    onClose();
    onChange();
  };
  if (secret.value !== undefined) return <NewSecret id={found.id} secret={secret.value} onClose={close} />;
  return (
    <Dialog title={`Rotate the key ${found.id}`} onClose={onClose}>
      <p>
        The key gets a new secret. The one before stays valid for the overlap; then clients that still use it get 401.
        {found.last_used &&
          ` The last use was at ${moment(found.last_used.at, zone.value)} from ${found.last_used.address}.`}
      </p>
      <TextField title="Overlap, at most 90 days" of={overlap} max={16} />
      <Decide verb="Rotate the key" doing={rotate} onClose={onClose} />
    </Dialog>
  );
}

function Revoke({ found, hour, onClose, onChange }: ChangeProps & { readonly hour: number | undefined }) {
  const revoke = useAction(async () => {
    await ask(
      api.POST('/keys/{id}:revoke', {
        params: { path: { id: found.id }, header: { 'If-Match': found.etag } },
        body: { which: 'all' },
      }),
    );
    onClose();
    onChange();
  });
  return (
    <Confirm id={found.id} verb="Revoke the key" doing={revoke} onClose={onClose}>
      <p>
        All secrets of the key end for ever. In the last hour it had{' '}
        {hour === undefined ? 'an unknown number of requests' : `${count(hour)} requests`}.
      </p>
    </Confirm>
  );
}
