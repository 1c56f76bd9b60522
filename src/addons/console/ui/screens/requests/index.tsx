import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { boot, live, missed, session } from '../../api/index.ts';
import type { ListedRequest } from '../../api/shapes.ts';
import { address, go, setQuery, writeAddress } from '../../address.ts';
import { Button } from '../../parts/button.tsx';
import { FilterBar } from '../../parts/filter-bar.tsx';
import { isFilter } from '../../parts/filter-text.ts';
import { clock, count, moment, plural } from '../../parts/format.ts';
import { Head } from '../../parts/head.tsx';
import { useKeys } from '../../parts/shortcuts.ts';
import { Demo } from '../../parts/demo.tsx';
import { Segments } from '../../parts/segments.tsx';
import { Empty, Problem, Skeleton, useNow } from '../../parts/states.tsx';
import { TurnOn } from '../../parts/turn-on.tsx';
import { Table } from '../../parts/table.tsx';
import { Captures } from './capture.tsx';
import { COLUMNS } from './columns.tsx';
import { RequestDetail } from './detail.tsx';
import { isIn, STATES, step, valuesOf } from './rows.ts';
import { filterOf, RequestStore } from './store.ts';
import { Strip } from './strip.tsx';

const idOf = ({ request_id: id }: ListedRequest): string => id;

const NEW_MS = 1000;
const isNew = ({ time }: ListedRequest): boolean => Date.now() - Date.parse(time) < NEW_MS;

/** The rows that the address asks for, and whether new ones may move them. */
function useRows() {
  const { query } = address.value;
  const [state, row] = [query.get('state'), query.get('row')];
  const filter = filterOf(query).toString();
  // Another process has other records.
  const process = boot.value ?? session.value?.boot_id;
  const store = useMemo(() => new RequestStore(new URLSearchParams(filter)), [filter, process]);
  useEffect(() => () => store.close(), [store]);
  useEffect(() => {
    if (state !== null) void store.load(state);
  }, [store, state]);
  const turn = store.turn.value;
  const shown = useMemo(() => store.shown(state), [store, state, turn]);
  const paused = useSignal(false);
  const away = useSignal(false);
  useEffect(() => store.hold(paused.value || away.value), [store, paused.value, away.value]);
  return { query, state, row, filter, store, shown, paused, away };
}

type ShownRows = ReturnType<typeof useRows>;

export function Requests() {
  const rows = useRows();
  const { query, state, row, filter, store, shown, paused } = rows;
  const toggle = (): void => void (paused.value = !paused.value);
  useKeys({
    j: () => move(shown, 1),
    k: () => move(shown, -1),
    Enter: () => row === null && setQuery({ row: shown[0]?.request_id }),
    Escape: () => setQuery({ row: undefined }),
    '.': toggle,
    '/': () => document.getElementById('filter')?.focus(),
  });
  const isFirst = filter === '' && store.rows.all.length === 0 && !store.loading.value && !store.error.value;
  return (
    <>
      <Head
        title="Requests"
        ruled
        actions={
          <>
            <LiveButton paused={paused.value} onToggle={toggle} />
            <Button label="Capture" onClick={() => setQuery({ capture: '1' })} />
          </>
        }
      >
        <div class="row">
          <FilterBar query={query} known={() => valuesOf(store.rows.all)} onChange={changeFilter} />
          <Results store={store} state={state} />
        </div>
        {store.rows.all.length > 0 && <Strip rows={store.covered()} query={query} />}
      </Head>
      <Notices store={store} />
      {isFirst && row === null ? (
        <Empty title="Waiting for the first request">
          <p>Send one from a terminal. It appears here while it runs.</p>
          <Demo />
        </Empty>
      ) : (
        <List rows={rows} />
      )}
      {query.get('capture') !== null && <Captures query={query} />}
    </>
  );
}

/** Keys may come faster than the page is drawn: the row is the address's own. */
const move = (shown: readonly ListedRequest[], by: 1 | -1): void =>
  setQuery({ row: step(shown, address.value.query.get('row'), by) });

function List({ rows: { store, shown, row, state, away } }: { readonly rows: ShownRows }) {
  const showHeld = (): void => {
    store.release();
    document.querySelector('.table-body')?.scrollTo(0, 0);
  };
  return (
    <div class={`split${row === null ? '' : ' open'}`}>
      {shown.length > 0 ? (
        <Table
          foot={<Foot store={store} />}
          label="Requests"
          columns={COLUMNS}
          rows={shown}
          idOf={idOf}
          isNew={isNew}
          selected={row}
          onOpen={(id) => setQuery({ row: id }, row !== null)}
          onEnd={() => void store.load(state ?? '')}
          onTop={(isTop) => void (away.value = !isTop)}
        />
      ) : (
        <NoRows store={store} state={state} />
      )}
      {store.held.value > 0 && <Button label={`${count(store.held.value)} new`} kind="main fresh" onClick={showHeld} />}
      {row !== null && <RequestDetail id={row} line={store.rows.find(row)} />}
    </div>
  );
}

function changeFilter(next: URLSearchParams): void {
  const query = new URLSearchParams([...address.value.query].filter(([name]) => !isFilter(name) && name !== 'q'));
  for (const [name, value] of next) query.append(name, value);
  if (address.value.query.toString() !== query.toString())
    go(writeAddress(address.value.path, query), { replace: true });
}

const clearFilter = (): void => go(writeAddress(address.value.path, new URLSearchParams()), { replace: true });

function LiveButton({ paused, onToggle }: { readonly paused: boolean; readonly onToggle: () => void }) {
  const { is } = live.value;
  const isLive = !paused && is === 'live';
  const label = (
    <>
      <i class={`dot ${isLive ? 'ok-text' : 'third'}`} />
      {paused ? 'Paused' : is === 'live' ? 'Live' : is === 'lost' ? 'Not live' : 'Live soon'}
    </>
  );
  return <Button label={label} kind="live" pressed={isLive} title="Pause the new rows (.)" onClick={onToggle} />;
}

const WORDS = { complete: 'Complete', rescued: 'Rescued', failed: 'Failed', running: 'Running' } as const;

function Results({ store, state }: { readonly store: RequestStore; readonly state: string | null }) {
  const covered = useMemo(() => store.covered(), [store, store.turn.value]);
  const shown = (word: string, size: number) => (
    <>
      {word} <span class="num">{count(size)}</span>
    </>
  );
  return (
    <Segments
      label="Result"
      of={[
        ['', shown('All', covered.length)],
        ...STATES.map((name) => [name, shown(WORDS[name], covered.filter((line) => isIn(name, line)).length)] as const),
      ]}
      chosen={state ?? ''}
      onChoose={(name) => setQuery({ state: name })}
    />
  );
}

function Notices({ store }: { readonly store: RequestStore }) {
  const now = live.value;
  return (
    <>
      {now.is === 'lost' && <Lost {...now} />}
      {missed.value > 0 && (
        <p class="strap" role="status">
          {plural(missed.value, 'request')} not shown: more arrived than the stream sends.{' '}
          <Button label="Read the list again" onClick={() => location.reload()} />
        </p>
      )}
      {store.partial.length > 0 && (
        <p class="strap">Requests of worker {store.partial.join(', ')} are missing: it did not answer.</p>
      )}
      {store.error.value && (
        <div class="body-notice">
          <Problem error={store.error.value} retry={() => void store.load(address.value.query.get('state') ?? '')} />
        </div>
      )}
    </>
  );
}

function Lost({ since, retryAt }: { readonly since: number; readonly retryAt: number }) {
  const seconds = (of: number): string => `${Math.max(0, Math.round(of / 1000))} s`;
  const now = useNow(1000);
  return (
    <p class="strap">
      Live updates stopped {seconds(now - since)} ago. Trying again in {seconds(retryAt - now)}.
    </p>
  );
}

/** Where the records begin, once the list is there. */
function Foot({ store }: { readonly store: RequestStore }) {
  const now = session.value;
  if (!now || !store.isWhole) return null;
  const since = store.oldest ?? now.started_at;
  return (
    <div class="table-foot third">
      {now.features.records ? (
        `Records begin at ${moment(since)}.`
      ) : (
        <TurnOn feature="records">Records before {clock(since)} are not kept. Keep them on disk</TurnOn>
      )}
    </div>
  );
}

function NoRows({ store, state }: { readonly store: RequestStore; readonly state: string | null }) {
  if (store.loading.value)
    return (
      <div class="grow body">
        <Skeleton rows={10} />
      </div>
    );
  if (store.error.value) return <div class="grow" />;
  const hidden = store.covered().length;
  return (
    <Empty title="No request matches">
      <p>
        {state !== null && hidden > 0
          ? `The filter hides ${plural(hidden, 'request')}.`
          : 'The filter hides all requests that are kept.'}
      </p>
      <p>
        <Button label="Clear the filter" onClick={clearFilter} />
      </p>
      <Foot store={store} />
    </Empty>
  );
}
