import { useSignal } from '@preact/signals';
import { api, ask, needs, session, useAction } from '../../api/index.ts';
import type { BudgetObject } from '../../api/shapes.ts';
import { Opens } from '../../parts/button.tsx';
import { Decide, Dialog } from '../../parts/dialog.tsx';
import { BudgetBar } from '../../parts/budget-bar.tsx';
import { moment } from '../../parts/format.ts';
import { TextField } from '../../parts/fields.tsx';

interface BudgetProps {
  readonly budget: BudgetObject;
  readonly onChange: () => void;
}

/** A budget with what is left, and a change of what is spent. */
export function Budget({ budget, onChange }: BudgetProps) {
  const noStore = session.value?.features.store === true ? undefined : 'A budget is counted with a state store only.';
  return (
    <div class="row">
      <BudgetBar budget={budget} />
      <span class="third">{budget.period_end === null ? 'in all' : `until ${moment(budget.period_end)}`}</span>
      <span class="right">
        <Opens label="Adjust" needs={noStore ?? needs('operator')}>
          {(close) => <Adjust budget={budget} onClose={close} onChange={onChange} />}
        </Opens>
      </span>
    </div>
  );
}

function Adjust({ budget, onClose, onChange }: BudgetProps & { readonly onClose: () => void }) {
  const [by, reason] = [useSignal(''), useSignal('')];
  const adjust = useAction(async () => {
    const params = { path: { id: budget.id }, header: { 'If-Match': budget.etag } };
    await ask(api.POST('/budgets/{id}:adjust', { params, body: { by: by.value, reason: reason.value } }));
    onClose();
    onChange();
  });
  return (
    <Dialog title={`Adjust ${budget.name}`} onClose={onClose}>
      <p class="second">
        The amount is added to what is spent: a negative one gives room. An operator may change at most 10 % of the cap
        within 24 hours.
      </p>
      <TextField title="Amount" of={by} placeholder={budget.unit === 'tokens' ? '-20000 tokens' : '-5 USD'} max={40} />
      <TextField title="Reason, for the audit" of={reason} max={500} />
      <Decide
        verb="Adjust"
        doing={adjust}
        needs={by.value === '' || reason.value === '' ? 'It takes an amount and a reason.' : undefined}
        onClose={onClose}
      />
    </Dialog>
  );
}
