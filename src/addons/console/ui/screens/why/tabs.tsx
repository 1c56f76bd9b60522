import type { ShownExplanation, ShownSource, ShownTarget } from '../../api/shapes.ts';
import { Chip } from '../../parts/chip.tsx';
import { Grid } from '../../parts/grid.tsx';
import { Costs } from './costs.tsx';
import type { WhyData } from './load.ts';

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
