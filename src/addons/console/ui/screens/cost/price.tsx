import { useSignal } from '@preact/signals';
import { api, ask, needs, owns, useAction } from '../../api/index.ts';
import type { ProposedPatch } from '../../api/shapes.ts';
import { Decide, Dialog } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/fields.tsx';
import { PatchDialog } from '../../parts/patch.tsx';
import { priceId } from './figures.ts';

const NUMBER = /^\d{1,7}(?:\.\d{1,6})?$/;
const KINDS = ['input', 'output', 'cached'] as const;

interface PriceProps {
  readonly provider: string;
  readonly model: string;
  readonly onClose: () => void;
  /** It is in force. */
  readonly onDone: () => void;
}

/** The price of a model: in the store, or as a patch of prices.yaml. */
export function AddPrice({ provider, model, onClose, onDone }: PriceProps) {
  const fields = { input: useSignal(''), output: useSignal(''), cached: useSignal('') };
  const draft = useSignal<ProposedPatch | undefined>(undefined);
  const inStore = owns('prices');
  const given = KINDS.filter((kind) => fields[kind].value !== '');
  const wrong = given.find((kind) => !NUMBER.test(fields[kind].value));
  const add = useAction(async () => {
    const usd = Object.fromEntries(given.map((kind) => [kind, Number(fields[kind].value)]));
    const body = {
      id: priceId(provider, model),
      spec: { model, ...(provider !== '' && { entry: `@${provider}` }), usd },
    };
    if (!inStore) draft.value = await ask(api.POST('/prices:draft', { params: {}, body }));
    else {
      await ask(api.POST('/prices', { params: {}, body }));
      onDone();
    }
  });
  const title = `The price of ${model}`;
  if (draft.value)
    return (
      <PatchDialog title={title} draft={draft.value} onClose={onClose}>
        <p>Prices are in {draft.value.file}: the gateway takes them when the file has changed.</p>
      </PatchDialog>
    );
  const problem = wrong && `The price of ${wrong} must be a number with at most six decimals.`;
  return (
    <Dialog title={title} onClose={onClose}>
      <p class="second">
        In USD per million tokens, for requests to {provider === '' ? 'any entry' : `@${provider}`} from now on: what is
        in the ledger stays.
      </p>
      <TextField title="Input" of={fields.input} placeholder="3" max={16} />
      <TextField title="Output" of={fields.output} placeholder="15" max={16} />
      <TextField title="Input from a cache (optional)" of={fields.cached} placeholder="0.3" max={16} />
      <Decide
        verb={inStore ? 'Add the price' : 'Propose a patch'}
        doing={add}
        needs={problem ?? (given.length === 0 ? 'It takes a price.' : needs(inStore ? 'admin' : 'operator'))}
        onClose={onClose}
      />
    </Dialog>
  );
}
