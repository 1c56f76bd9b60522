import { useSignal } from '@preact/signals';
import { api, ask, needs, useAction, useLoad } from '../../api/index.ts';
import type { BudgetObject, KeyObject } from '../../api/shapes.ts';
import { Opens } from '../../parts/button.tsx';
import { Chip, toneOf } from '../../parts/chip.tsx';
import { Decide, Dialog } from '../../parts/dialog.tsx';
import { Drawer } from '../../parts/drawer.tsx';
import { Facts } from '../../parts/facts.tsx';
import { moment, plural } from '../../parts/format.ts';
import { Remove } from '../../parts/remove.tsx';
import { Loads } from '../../parts/states.tsx';
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
  const used = useLoad(id, (signal) => lastHour(id, signal)).state.value.data;
  const hour = used === undefined ? 'an unknown number of requests' : plural(used, 'request');
  const changed = (): void => {
    load.reload();
    onChange();
  };
  return (
    <Drawer label={`Key ${id}`} name="key" title={id}>
      <Loads of={load}>
        {(found) => (
          <div class="stack">
            <KeyFacts found={found} hour={hour} />
            <Effective found={found} budgets={budgets} onChange={changed} />
            <KeyActions found={found} hour={hour} onChange={changed} />
          </div>
        )}
      </Loads>
    </Drawer>
  );
}

interface PartProps {
  readonly found: KeyObject;
  readonly hour: string;
  readonly onChange: () => void;
}

function KeyFacts({ found, hour }: Pick<PartProps, 'found' | 'hour'>) {
  const { spec, state, credentials, last_used: used, owner, updated_by: by } = found;
  return (
    <>
      <p class="row">
        <Chip tone={toneOf(state)}>{state}</Chip>
        {credentials.map(({ slot, last4, valid_to: end }) => (
          <span key={slot} class="mono second">
            …{last4} {end === null ? '' : `until ${moment(end)}`}
          </span>
        ))}
        <a class="right" href={`#/requests?key=${encodeURIComponent(found.id)}`}>
          Its requests
        </a>
      </p>
      <Facts
        of={[
          ['Team', spec.team],
          ['Models', spec.models?.join(' ') ?? 'any'],
          ['Providers', spec.providers?.join(' ') ?? 'any'],
          ['Configs', spec.configs?.join(' ') ?? 'any'],
          ['Default config', spec.default_config],
          ['Expires', spec.expires_at === undefined ? 'never' : moment(spec.expires_at)],
          ['Last use', used ? `${moment(used.at)} from ${used.address}` : 'unknown'],
          ['Last hour', hour],
          ['Written by', by ?? undefined],
          ['Where it is', isInFile(owner) ? `in ${owner}` : 'in the store'],
        ]}
      />
    </>
  );
}

/** Everything that holds for the key, its own first: a key without a budget may have one above it. */
function Effective({ found, budgets, onChange }: Omit<PartProps, 'hour'> & Pick<DetailProps, 'budgets'>) {
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

const KeyActions = ({ found: { id, etag, owner, last_used: used }, hour, onChange }: PartProps) =>
  isInFile(owner) ? (
    <p class="second">
      The key is in {owner}: change it there, and the gateway reloads the file. `gatehouse keys create` makes the digest
      of a new secret.
    </p>
  ) : (
    <p class="row">
      <Opens label="Rotate the key" needs={needs('operator')}>
        {(close) => (
          <Rotate id={id} etag={etag} onClose={close} onChange={onChange}>
            {used ? ` The last use was at ${moment(used.at)} from ${used.address}.` : ''}
          </Rotate>
        )}
      </Opens>
      <Remove
        id={id}
        verb="Revoke the key"
        least="operator"
        remove={() =>
          ask(
            api.POST('/keys/{id}:revoke', {
              params: { path: { id }, header: { 'If-Match': etag } },
              body: { which: 'all' },
            }),
          )
        }
        onDone={onChange}
      >
        <p>All secrets of the key end for ever. In the last hour it had {hour}.</p>
      </Remove>
    </p>
  );

interface RotateProps extends Pick<KeyObject, 'id' | 'etag'>, Pick<PartProps, 'onChange'> {
  readonly onClose: () => void;
  readonly children: string;
}

function Rotate({ id, etag, onClose, onChange, children }: RotateProps) {
  const overlap = useSignal('24h');
  const secret = useSignal<string | undefined>(undefined);
  const rotate = useAction(async () => {
    const params = { path: { id }, header: { 'If-Match': etag } };
    const answer = await ask(api.POST('/keys/{id}:rotate', { params, body: { overlap: overlap.value } }));
    secret.value = answer.key ?? undefined;
  });
  const close = (): void => {
    onClose();
    onChange();
  };
  if (secret.value !== undefined) return <NewSecret id={id} secret={secret.value} onClose={close} />;
  return (
    <Dialog title={`Rotate the key ${id}`} onClose={onClose}>
      <p>
        The key gets a new secret. The one before stays valid for the overlap; then clients that still use it get 401.
        {children}
      </p>
      <TextField title="Overlap, at most 90 days" of={overlap} max={16} />
      <Decide verb="Rotate the key" doing={rotate} onClose={onClose} />
    </Dialog>
  );
}
