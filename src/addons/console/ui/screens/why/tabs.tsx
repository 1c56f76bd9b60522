import type { ComponentChildren } from 'preact';
import type { ShownExplanation, ShownSource, ShownTarget } from '../../api/shapes.ts';
import { Chip } from '../../parts/chip.tsx';
import type { WhyData } from './load.ts';

export type TabName = 'path' | 'plugins' | 'sent' | 'losses';

export const TABS: readonly { readonly name: TabName; readonly title: string }[] = [
  { name: 'path', title: 'Lines' },
  { name: 'plugins', title: 'Plugins' },
  { name: 'sent', title: 'What was sent' },
  { name: 'losses', title: 'Losses' },
];

export function TabPanel({ name, data }: { readonly name: TabName; readonly data: WhyData }) {
  const { explanation, request } = data;
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

const Rows = ({
  label,
  head,
  children,
}: {
  readonly label: string;
  readonly head: readonly string[];
  readonly children: ComponentChildren;
}) => (
  <div class="card scroll" tabIndex={0} role="region" aria-label={label}>
    <table>
      <thead>
        <tr>
          {head.map((title) => (
            <th key={title}>{title}</th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </div>
);

function Plugins({ explanation }: { readonly explanation: ShownExplanation }) {
  const { plugins = [], settings } = explanation;
  return (
    <Rows label="Plugins" head={['Chain', 'Plugin', 'State', 'Work']}>
      {plugins.map(({ chain, target, name, state, does, on }, index) => (
        <tr key={index} class={state === 'run' ? undefined : 'third'}>
          <td>
            {chain}
            {target === undefined ? '' : ` ${target}`}
          </td>
          <td title={sourceText(on, settings.folder)}>{name}</td>
          <td>{state}</td>
          <td>{does}</td>
        </tr>
      ))}
    </Rows>
  );
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

function Outbound({
  target: { outbound },
  folder,
}: {
  readonly target: ShownTarget;
  readonly folder: string | undefined;
}) {
  if (!outbound) return null;
  const rows = [
    ...outbound.headers.map(({ name, value, source }) => ({ name, value, source: sourceText(source, folder) })),
    ...(outbound.diff ?? []).map(({ path, sent = 'removed', source }) => ({
      name: path,
      value: sent,
      source: sourceText(source, folder),
    })),
  ];
  return (
    <>
      <p class="mono">
        {outbound.method} {outbound.url}
      </p>
      <table>
        <thead>
          <tr>
            <th>Field</th>
            <th>Value</th>
            <th>Source</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, value, source }, index) => (
            <tr key={index}>
              <td class="mono">{name}</td>
              <td class="mono">{value}</td>
              <td>{source}</td>
            </tr>
          ))}
        </tbody>
      </table>
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
  return (
    <Rows label="Losses" head={['Target', 'Field', 'Change', 'Reason']}>
      {told.map(({ target, param, action, reason }, index) => (
        <tr key={index}>
          <td>{target}</td>
          <td class="mono">{param}</td>
          <td>
            <Chip tone="warning">{action}</Chip>
          </td>
          <td>{reason}</td>
        </tr>
      ))}
    </Rows>
  );
}
