import { useSignal } from '@preact/signals';
import { api, ask, needs, owns, useAction } from '../../api/index.ts';
import { Button, ButtonLink } from '../../parts/button.tsx';
import { Drawer } from '../../parts/drawer.tsx';
import { Command, Problem } from '../../parts/states.tsx';
import { Choice, TextField } from '../../parts/fields.tsx';
import { Budget } from './budget.tsx';
import type { KeyObjects } from './load.ts';
import { budgetLines, isInFile, limitText, PERIODS } from './tree.ts';

/** A team or an organization, by its name as a node: `team:search`. */
export function NodeDetail({
  node,
  objects,
  onChange,
}: {
  readonly node: string;
  readonly objects: KeyObjects;
  readonly onChange: () => void;
}) {
  const [kind = '', id = ''] = node.split(/:(.*)/s);
  const found = (kind === 'team' ? objects.teams : objects.organizations).find((one) => one.id === id);
  const budgets = objects.budgets.filter((budget) => budget.node === node);
  return (
    <Drawer
      label={node}
      name="node"
      head={
        <h2>
          {id} <span class="third">{kind}</span>
        </h2>
      }
    >
      {found ? (
        <p class="second">{isInFile(found.owner) ? `In ${found.owner}.` : 'In the store.'}</p>
      ) : (
        <p class="notice warning">
          There is no {kind} {id}.
        </p>
      )}
      {found && Object.keys(found.spec).length > 0 && <p class="mono second">{limitText(found.spec)}</p>}
      <section class="card stack tight" aria-label="Budgets">
        <h2 class="small">Budgets</h2>
        {budgets.length === 0 && <p class="second">It has no budget.</p>}
        {budgets.map((budget) => (
          <Budget key={budget.id} budget={budget} onChange={onChange} />
        ))}
        {found && <NewBudget node={node} onChange={onChange} />}
      </section>
      <p>
        <ButtonLink label="Its requests" href={`#/requests?${kind}=${encodeURIComponent(id)}`} />
      </p>
    </Drawer>
  );
}

/** In the store where it has budgets; else the lines for the file. */
export function NewBudget({ node, onChange }: { readonly node: string; readonly onChange: () => void }) {
  const cap = useSignal('');
  const period = useSignal('month');
  const create = useAction(async () => {
    const id = `${node.replaceAll(/[^\w-]/g, '-')}-${period.value}`;
    const every = PERIODS.find((one) => one === period.value) ?? 'month';
    await ask(api.POST('/budgets', { params: {}, body: { id, spec: { node, cap: cap.value, period: every } } }));
    cap.value = '';
    onChange();
  });
  const [kind = '', id = ''] = node.split(/:(.*)/s);
  const file = kind === 'key' ? 'keys.yaml' : 'teams.yaml';
  return (
    <div class="stack tight">
      <div class="row">
        <TextField title="Cap" of={cap} placeholder="500 USD, or 1000000 tokens" max={40} />
        <Choice title="Period" of={period} options={PERIODS} />
        {owns('budgets') && (
          <Button
            label="Create a budget"
            needs={cap.value === '' ? 'It takes a cap.' : needs('admin')}
            doing={create}
          />
        )}
      </div>
      {create.error.value && <Problem error={create.error.value} />}
      {!owns('budgets') && cap.value !== '' && (
        <>
          <p class="second">
            For {kind} {id} in {file}:
          </p>
          <Command text={budgetLines(cap.value, period.value)} label={`Lines of ${file}`} />
        </>
      )}
    </div>
  );
}
