import type { ApiSchemas, ShownExplanation, ShownSource, ShownTarget } from '../../api/shapes.ts';
import { Chip } from '../../parts/chip.tsx';
import { Grid } from '../../parts/grid.tsx';
import type { WhyData } from './load.ts';
import { useSignal } from '@preact/signals';
import { api, ask } from '../../api/index.ts';
import { TextField } from '../../parts/fields.tsx';
import { count, unpriced, usd } from '../../parts/format.ts';
import { Load } from '../../parts/states.tsx';

export type TabName = 'path' | 'plugins' | 'sent' | 'losses' | 'costs';

export const TABS: readonly (readonly [TabName, string])[] = [
  ['path', 'Lines'],
  ['plugins', 'Plugins'],
  ['sent', 'What was sent'],
  ['losses', 'Losses'],
  ['costs', 'Cost elsewhere'],
];

export function TabPanel({ name, data }: { readonly name: TabName; readonly data: WhyData }) {
  const { explanation, request } = data;
  if (name === 'costs') return <Costs id={request.request_id} />;
  if (name === 'losses')
    return <Losses explanation={explanation} recorded={request.attempts.flatMap(({ losses = [] }) => losses)} />;
  if (!explanation) return <p class="card second">Only the body of a request tells this, and it is not kept.</p>;
  return name === 'plugins' ? <Plugins explanation={explanation} /> : <Sent explanation={explanation} />;
}

const shortFile = (file: string, folder: string | undefined): string =>
  folder === undefined ? file : file.replace(`${folder}/`, '');

function sourceText(source: ShownSource | undefined, folder: string | undefined): string {
  if (!source) return 'the translation';
  const place = source.at ?? source.on;
  const at = place ? `${shortFile(place.file, folder)}:${place.line}` : '';
  const texts: Readonly<Record<ShownSource['kind'], string>> = {
    client: `the client's ${source.path ?? 'body'}`,
    header: `the header ${source.name ?? ''}`,
    settings: at,
    plugin: `plugin ${source.plugin ?? ''} ${at}`.trim(),
    gateway: source.what ?? 'the gateway',
  };
  return texts[source.kind];
}

function Plugins({ explanation: { plugins = [], settings } }: { readonly explanation: ShownExplanation }) {
  const rows = plugins.map(({ chain, target = '', name, state, does, on }) => [
    `${chain} ${target}`,
    <span title={sourceText(on, settings.folder)}>{name}</span>,
    <span class={state === 'run' ? undefined : 'third'}>{state}</span>,
    does,
  ]);
  return <Grid label="Plugins" head={['Chain', 'Plugin', 'State', 'Work']} rows={rows} />;
}

function Sent({ explanation }: { readonly explanation: ShownExplanation }) {
  const { folder } = explanation.settings;
  return (
    <>
      {explanation.targets.map((target) => (
        <section key={target.number} class="card stack tight">
          <h2 class="small">
            {target.name ?? target.target}{' '}
            {target.provider && (
              <span class="second">
                @{target.provider.slug}/{target.provider.model}
              </span>
            )}
          </h2>
          {target.outbound ? (
            <Outbound target={target} folder={folder} />
          ) : (
            <p class="second">Nothing would be sent: {target.refused?.message ?? 'it is refused'}.</p>
          )}
        </section>
      ))}
    </>
  );
}

function Outbound({ target, folder }: { readonly target: ShownTarget; readonly folder: string | undefined }) {
  const { outbound } = target;
  if (!outbound) return null;
  const rows = [
    ...outbound.headers,
    ...(outbound.diff ?? []).map(({ path, sent = 'removed', source }) => ({ name: path, value: sent, source })),
  ].map(({ name, value, source }) => [
    <span class="mono">{name}</span>,
    <span class="mono">{value}</span>,
    sourceText(source, folder),
  ]);
  return (
    <>
      <p class="mono">
        {outbound.method} {outbound.url}
      </p>
      <Grid label={`What target ${target.number} gets`} head={['Field', 'Value', 'Source']} rows={rows} />
      <p class="third">All other fields of the body are the client's.</p>
    </>
  );
}

function Losses({
  explanation,
  recorded,
}: {
  readonly explanation: ShownExplanation | undefined;
  readonly recorded: readonly string[];
}) {
  const told =
    explanation?.targets.flatMap(({ name, target, losses = [] }) =>
      losses.map((loss) => ({ ...loss, target: name ?? target })),
    ) ?? [];
  if (told.length === 0 && recorded.length === 0)
    return <p class="card second">Every field of the request was sent on.</p>;
  if (told.length === 0) return <p class="card mono">{recorded.join(', ')}</p>;
  const rows = told.map(({ target, param, action, reason }) => [
    target,
    <span class="mono">{param}</span>,
    <Chip tone="warning">{action}</Chip>,
    reason,
  ]);
  return <Grid label="Losses" head={['Target', 'Field', 'Change', 'Reason']} rows={rows} />;
}

const MOST = 40;

type Costs = ApiSchemas['request_costs'];
type Priced = Pick<Costs['models'][number], 'cost_usd' | 'unknown'>;

const text = ({ cost_usd: cost, unknown }: Priced): string =>
  cost === null ? `unknown: ${unpriced(unknown)}` : usd(cost);

/** `0.4 ×` */
const against = ({ cost_usd: cost }: Priced, paid: number | null): string =>
  cost === null || paid === null || paid === 0 ? '' : `${Number((cost / paid).toPrecision(2))} ×`;

/** The tokens of the request at the prices of other targets and models. */
const Costs = ({ id }: { readonly id: string }) => (
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
