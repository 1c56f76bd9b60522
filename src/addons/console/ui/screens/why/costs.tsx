import { useSignal } from '@preact/signals';
import { api, ask } from '../../api/index.ts';
import type { ApiSchemas } from '../../api/shapes.ts';
import { TextField } from '../../parts/fields.tsx';
import { count, unpriced, usd } from '../../parts/format.ts';
import { Grid } from '../../parts/grid.tsx';
import { Load } from '../../parts/states.tsx';

const MOST = 40;

type Costs = ApiSchemas['request_costs'];
type Priced = Pick<Costs['models'][number], 'cost_usd' | 'unknown'>;

const text = ({ cost_usd: cost, unknown }: Priced): string =>
  cost === null ? `unknown: ${unpriced(unknown)}` : usd(cost);

/** `0.4 ×` */
const against = ({ cost_usd: cost }: Priced, paid: number | null): string =>
  cost === null || paid === null || paid === 0 ? '' : `${Number((cost / paid).toPrecision(2))} ×`;

/** The tokens of the request at the prices of other targets and models. */
export const Costs = ({ id }: { readonly id: string }) => (
  <Load of={id} read={(signal) => ask(api.GET('/requests/{id}/costs', { params: { path: { id } }, signal }))}>
    {(found) => <Found costs={found} />}
  </Load>
);

function Found({ costs: { tokens, cost_usd: paid, targets, models, left_out: more } }: { readonly costs: Costs }) {
  const words = useSignal('');
  const shown = models.filter(({ provider, model }) => `@${provider}/${model}`.includes(words.value.trim()));
  if (tokens === null) return <p class="card second">The request has no tokens that can be priced.</p>;
  return (
    <div class="card stack">
      <p>
        It cost {paid === null ? 'an unknown amount' : usd(paid)}. The same tokens would have cost, at the prices of its
        time:
      </p>
      {targets.length > 0 && (
        <Grid
          label="Cost at the targets"
          head={['Target', 'Model', 'Cost', 'Against it']}
          rows={targets.map((one) => [
            one.target_name ?? one.target,
            one.model === undefined ? 'unknown' : `@${one.provider}/${one.model}`,
            text(one),
            one.answered === true ? 'it answered' : against(one, paid),
          ])}
        />
      )}
      <TextField title="Models of the catalog" of={words} placeholder="a part of a name" />
      <Grid
        label="Cost at the models of the catalog"
        head={['Model', 'Cost', 'Against it']}
        rows={shown.slice(0, MOST).map((one) => [`@${one.provider}/${one.model}`, text(one), against(one, paid)])}
      />
      {shown.length + more > MOST && (
        <p class="third">{count(shown.length + more - MOST)} more: write a part of a name.</p>
      )}
    </div>
  );
}
