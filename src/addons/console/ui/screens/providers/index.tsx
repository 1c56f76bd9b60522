import { allOf, api, ask, needs, settingsTurn, useLoad, useRun } from '../../api/index.ts';
import type { ShownEntry } from '../../api/shapes.ts';
import { address, linkTo, setQuery } from '../../address.ts';
import { Button, ButtonLink } from '../../parts/button.tsx';
import { Chip, type Tone } from '../../parts/chip.tsx';
import { closeDrawer, Drawer } from '../../parts/drawer.tsx';
import { Facts } from '../../parts/facts.tsx';
import { duration, plural } from '../../parts/format.ts';
import { Head } from '../../parts/head.tsx';
import { End } from '../../parts/remove.tsx';
import { Rows } from '../../parts/rows.tsx';
import { Load, Loads } from '../../parts/states.tsx';
import { nameColumn, OWNER, stateColumn, textColumn, type Column } from '../../parts/columns.tsx';
import { AddProvider } from './add.tsx';
import { TestSteps, type TestEvents } from './test-steps.tsx';

/** The entries of the catalog, how their targets do, and a new one. */
export function Providers() {
  const adding = address.value.query.has('add');
  const read = (signal: AbortSignal) =>
    allOf((page) => ask(api.GET('/providers', { params: { query: page }, signal })));
  const list = useLoad('providers', read, settingsTurn.value);
  if (!adding)
    return (
      <>
        <Head
          title="Providers"
          find="Find an entry, a kind or a model"
          actions={
            <Button
              label="Add a provider"
              kind="main"
              onClick={() => setQuery({ add: '1', entry: undefined }, false)}
            />
          }
        />
        <Loads of={list}>{(entries) => <Entries entries={entries} onChange={list.reload} />}</Loads>
      </>
    );
  return (
    <>
      <Head
        title="Add a provider"
        ruled
        actions={<Button label="Back to the list" onClick={() => setQuery({ add: undefined, kind: undefined })} />}
      />
      <div class="body">
        <Loads of={list}>
          {(entries) => (
            <Load
              of="kinds"
              read={async (signal) => (await ask(api.GET('/providers/kinds', { params: {}, signal }))).items}
            >
              {(kinds) => <AddProvider kinds={kinds} entries={entries} />}
            </Load>
          )}
        </Loads>
      </div>
    </>
  );
}

/** The worst comes first. The breaker of a target counts the calls of one config to it. */
const HEALTH = ['failing', 'trying again', 'some failed', 'healthy', 'no calls'] as const;
type Health = (typeof HEALTH)[number];
const HEALTH_TONES: Readonly<Record<Health, Tone>> = {
  failing: 'failed',
  'trying again': 'warning',
  'some failed': 'warning',
  healthy: 'ok',
  'no calls': 'plain',
};
const OF_STATE: Readonly<Record<string, Health>> = { open: 'failing', half_open: 'trying again' };

type TargetHealth = ShownEntry['targets'][number]['health'][number];

const healthOf = ({ state, failed = 0, of = 0 }: TargetHealth): Health =>
  OF_STATE[state] ?? (failed > 0 ? 'some failed' : of > 0 ? 'healthy' : 'no calls');

function entryHealth({ targets }: ShownEntry): Health {
  const all = targets.flatMap(({ health }) => health.map(healthOf));
  return HEALTH.find((one) => all.includes(one)) ?? 'no calls';
}

const toneOfHealth = (health: string): Tone => HEALTH_TONES[health as Health];
const HealthChip = ({ of }: { readonly of: Health }) => <Chip tone={HEALTH_TONES[of]}>{of}</Chip>;

const CREDENTIALS: Readonly<Record<string, string>> = {
  api_key: 'key',
  service_account: 'service account',
  caller_token: "the caller's token",
  default: 'of the machine',
};

function credentialText({ credential: { kind, ref, email, last4 } }: ShownEntry): string {
  const more = email ?? ref ?? (last4 === undefined ? undefined : `…${last4}`);
  return `${CREDENTIALS[kind] ?? kind}${more === undefined ? '' : ` ${more}`}`;
}

const byHealth = (one: ShownEntry, other: ShownEntry): number =>
  HEALTH.indexOf(entryHealth(one)) - HEALTH.indexOf(entryHealth(other));

const COLUMNS: readonly Column<ShownEntry>[] = [
  nameColumn(
    'Name',
    [100, 1.2],
    ({ slug }) => `@${slug}`,
    ({ slug }) => linkTo({ entry: slug }),
  ),
  textColumn('Kind', [90, 1], ({ provider }) => provider, 'beside'),
  textColumn('Credential', [120, 2], credentialText, 'narrow'),
  stateColumn('Calls of configs', 110, entryHealth, toneOfHealth),
  OWNER,
];

interface EntriesProps {
  readonly entries: readonly ShownEntry[];
  readonly onChange: () => void;
}

const Entries = ({ entries, onChange }: EntriesProps) => (
  <Rows
    label="Providers"
    columns={COLUMNS}
    rows={entries.toSorted(byHealth)}
    idOf={({ slug }) => slug}
    at="entry"
    found={{
      noun: 'provider',
      wordsOf: ({ slug, provider, models }) => [slug, provider, ...models].join(' '),
      add: ['Add a provider', '#/providers?add=1'],
      about: 'Requests go to entries of the catalog.',
    }}
    detail={(entry) => <EntryDetail key={entry.slug} entry={entry} onChange={onChange} />}
  />
);

function EntryDetail({ entry, onChange }: { readonly entry: ShownEntry } & Pick<EntriesProps, 'onChange'>) {
  const run = useRun<TestEvents>('/providers:test');
  const { id, slug, etag, credential, owner, models, targets } = entry;
  const test = (label: string, call: boolean) => (
    <Button label={label} needs={needs('operator')} busy={run.busy.value} onClick={() => run.start({ slug, call })} />
  );
  return (
    <Drawer label={`Entry ${slug}`} name="entry" title={`@${slug}`}>
      <Facts
        of={[
          ['Kind', entry.provider],
          ['Address', <span class="mono">{entry.base_url ?? "the vendor's own"}</span>],
          [
            'Credential',
            [credentialText(entry), credential.project && `project ${credential.project}`].filter(Boolean).join(', '),
          ],
          ['Models', <span class="mono">{models.join(' ') || 'any'}</span>],
          ['Where it is', <span class="mono">{owner}</span>],
        ]}
      />
      <Targets entry={entry} />
      <p class="row">
        {test('Test', false)}
        {test('Test with a small call (it costs)', true)}
        <ButtonLink label="Its requests" href={`#/requests?provider=${encodeURIComponent(slug)}`} />
      </p>
      <TestSteps run={run} />
      <End
        noun="entry"
        owner={owner}
        id={id}
        verb="Delete the entry"
        remove={() => ask(api.DELETE('/providers/{id}', { params: { path: { id }, header: { 'If-Match': etag } } }))}
        onDone={closeDrawer('entry', onChange)}
      >
        <p>Requests that name it get 400. {plural(targets.length, 'target')} of configs name it.</p>
      </End>
    </Drawer>
  );
}

function Targets({ entry }: { readonly entry: ShownEntry }) {
  if (entry.targets.length === 0) return <p class="second">No gateway config names it.</p>;
  return (
    <section class="card stack tight" aria-label="Targets">
      <h2 class="small">Targets</h2>
      {entry.targets.map(({ config, target, at, health }) => (
        <div key={`${config} ${target}`} class="stack tight">
          <p class="row">
            <span class="grow mono">
              {config} {target}
            </span>
            <span class="mono third">{at ? `${at.file}:${at.line}` : ''}</span>
          </p>
          {health.length === 0 && <p class="third">no calls yet</p>}
          {health.map((one, index) => (
            <p key={index} class="row">
              <HealthChip of={healthOf(one)} />
              <span class="second">{healthText(one)}</span>
            </p>
          ))}
        </div>
      ))}
    </section>
  );
}

const healthText = ({
  state,
  enforced,
  failed = 0,
  of = 0,
  last_error: last,
  retry_in_ms: retry,
  worker,
}: TargetHealth) =>
  [
    `${failed} of the last ${of} failed`,
    last !== undefined && `last: ${last}`,
    state === 'open' && (enforced === false ? 'requests still go there' : 'requests skip it'),
    retry !== undefined && `tried again in ${duration(retry)}`,
    worker !== undefined && `worker ${worker}`,
  ]
    .filter((part) => part !== false)
    .join(', ');
