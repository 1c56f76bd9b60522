import { useEffect, useMemo } from 'preact/hooks';
import { api, ask } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import { settingsTurn } from '../../api/live.ts';
import { allOf } from '../../api/pages.ts';
import { needs } from '../../api/session.ts';
import type { ShownEntry } from '../../api/shapes.ts';
import { address, setQuery } from '../../address.ts';
import { Chip, type Tone } from '../../parts/chip.tsx';
import { Drawer } from '../../parts/drawer.tsx';
import { Facts } from '../../parts/facts.tsx';
import { duration, plural } from '../../parts/format.ts';
import { Remove } from '../../parts/remove.tsx';
import { Nothing, SearchField } from '../../parts/search-field.tsx';
import { Action, Loads } from '../../parts/states.tsx';
import { OWNER, Table, type Column } from '../../parts/table.tsx';
import { AddProvider } from './add.tsx';
import { createTestRun } from './test-run.ts';
import { TestSteps } from './test-steps.tsx';

/** The entries of the catalog, how their targets do, and a new one. */
export function Providers() {
  const { query } = address.value;
  const adding = query.has('add');
  const chosen = query.get('entry');
  const read = (signal: AbortSignal) =>
    allOf((page) => ask(api.GET('/providers', { params: { query: page }, signal })));
  const list = useLoad('providers', read, settingsTurn.value);
  const kinds = useLoad(
    adding ? 'kinds' : undefined,
    async (signal) => (await ask(api.GET('/providers/kinds', { params: {}, signal }))).items,
  );
  const entry = list.state.value.data?.find(({ slug }) => slug === chosen);
  return (
    <>
      <header class="head ruled">
        <div class="row">
          <h1 class="grow">{adding ? 'Add a provider' : 'Providers'}</h1>
          {adding ? (
            <button type="button" onClick={() => setQuery({ add: undefined, kind: undefined })}>
              Back to the list
            </button>
          ) : (
            <button type="button" class="main" onClick={() => setQuery({ add: '1', entry: undefined }, false)}>
              Add a provider
            </button>
          )}
        </div>
        {!adding && <SearchField label="Find an entry, a kind or a model" />}
      </header>
      <div class={`split${entry && !adding ? ' open' : ''}`}>
        <div class={adding ? 'body grow' : 'list'}>
          <Loads state={list.state.value} retry={list.reload}>
            {(entries) =>
              adding ? (
                <Loads state={kinds.state.value} retry={kinds.reload}>
                  {(found) => <AddProvider kinds={found} entries={entries} />}
                </Loads>
              ) : (
                <Entries entries={entries} words={query.get('q') ?? ''} chosen={chosen} />
              )
            }
          </Loads>
        </div>
        {entry && !adding && <EntryDetail key={entry.slug} entry={entry} onChange={list.reload} />}
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

function credentialText({ credential: { kind, ref, email, last4 } }: ShownEntry): string {
  const names: Readonly<Record<string, string>> = {
    none: 'none',
    api_key: 'key',
    service_account: 'service account',
    caller_token: "the caller's token",
    default: 'of the machine',
    other: 'other',
  };
  const more = email ?? ref ?? (last4 === undefined ? undefined : `…${last4}`);
  return `${names[kind] ?? kind}${more === undefined ? '' : ` ${more}`}`;
}

interface EntriesProps {
  readonly entries: readonly ShownEntry[];
  readonly words: string;
  readonly chosen: string | null;
}

const byHealth = (one: ShownEntry, other: ShownEntry): number =>
  HEALTH.indexOf(entryHealth(one)) - HEALTH.indexOf(entryHealth(other));

const COLUMNS: readonly Column<ShownEntry>[] = [
  {
    name: 'name',
    label: 'Name',
    title: ({ slug }) => slug,
    cell: ({ slug }) => <a href={`#/providers?entry=${encodeURIComponent(slug)}`}>@{slug}</a>,
  },
  { name: 'kind', label: 'Kind', cell: ({ provider }) => provider },
  {
    name: 'credential',
    label: 'Credential',
    title: credentialText,
    cell: (entry) => <span class="second">{credentialText(entry)}</span>,
  },
  {
    name: 'health',
    label: 'Calls of configs',
    cell: (entry) => <Chip tone={HEALTH_TONES[entryHealth(entry)]}>{entryHealth(entry)}</Chip>,
  },
  OWNER,
];

function Entries({ entries, words, chosen }: EntriesProps) {
  const shown = entries
    .filter(({ slug, provider, models }) => [slug, provider, ...models].join(' ').includes(words))
    .toSorted(byHealth);
  if (shown.length === 0)
    return (
      <Nothing total={entries.length} noun="provider" add={['Add a provider', '#/providers?add=1']}>
        Requests go to entries of the catalog.
      </Nothing>
    );
  return (
    <Table
      label="Providers"
      layout="entries"
      columns={COLUMNS}
      rows={shown}
      idOf={({ slug }) => slug}
      selected={chosen}
      onOpen={(slug) => setQuery({ entry: slug })}
    />
  );
}

interface EntryProps {
  readonly entry: ShownEntry;
  readonly onChange: () => void;
}

function EntryDetail({ entry, onChange }: EntryProps) {
  const run = useMemo(createTestRun, [entry.slug]);
  useEffect(() => run.stop, [run]);
  const { project } = entry.credential;
  const remove = async (): Promise<void> => {
    const params = { path: { id: entry.id }, header: { 'If-Match': entry.etag } };
    await ask(api.DELETE('/providers/{id}', { params }));
    setQuery({ entry: undefined });
    onChange();
  };
  return (
    <Drawer label={`Entry ${entry.slug}`} name="entry" head={<h2>@{entry.slug}</h2>}>
      <Facts
        of={[
          ['Kind', entry.provider],
          ['Address', <span class="mono">{entry.base_url ?? "the vendor's own"}</span>],
          ['Credential', `${credentialText(entry)}${project === undefined ? '' : `, project ${project}`}`],
          ['Models', <span class="mono">{entry.models.join(' ') || 'any'}</span>],
          ['Where it is', <span class="mono">{entry.owner}</span>],
        ]}
      />
      <Targets entry={entry} />
      <p class="row">
        <Action
          needs={needs('operator')}
          busy={run.state.value === 'running'}
          onClick={() => run.start({ slug: entry.slug, call: false })}
        >
          Test
        </Action>
        <Action
          needs={needs('operator')}
          busy={run.state.value === 'running'}
          onClick={() => run.start({ slug: entry.slug, call: true })}
        >
          Test with a small call (it costs)
        </Action>
        <a class="button" href={`#/requests?provider=${encodeURIComponent(entry.slug)}`}>
          Its requests
        </a>
      </p>
      <TestSteps run={run} />
      {entry.owner === 'store' ? (
        <p>
          <Remove id={entry.id} verb="Delete the entry" remove={remove}>
            <p>Requests that name it get 400. {plural(entry.targets.length, 'target')} of configs name it.</p>
          </Remove>
        </p>
      ) : (
        <p class="second">The entry is in {entry.owner}: change it there. The gateway reloads the file.</p>
      )}
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
              <Chip tone={HEALTH_TONES[healthOf(one)]}>{healthOf(one)}</Chip>
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
  failed,
  of,
  last_error: last,
  retry_in_ms: retry,
  worker,
}: TargetHealth): string =>
  [
    `${failed ?? 0} of the last ${of ?? 0} failed`,
    ...(last === undefined ? [] : [`last: ${last}`]),
    ...(state === 'open' ? [enforced === false ? 'requests still go there' : 'requests skip it'] : []),
    ...(retry === undefined ? [] : [`tried again in ${duration(retry)}`]),
    ...(worker === undefined ? [] : [`worker ${worker}`]),
  ].join(', ');
