import { useAction } from '../../api/action.ts';
import { api, ask } from '../../api/client.ts';
import { usePaged } from '../../api/paged.ts';
import { session } from '../../api/session.ts';
import type { ApiSchemas } from '../../api/shapes.ts';
import { useSignal } from '@preact/signals';
import { address, linkTo, setQuery } from '../../address.ts';
import { Diff } from '../../parts/diff.tsx';
import { diffLines, linesOf } from '../../parts/diff.ts';
import { Drawer } from '../../parts/drawer.tsx';
import { Facts } from '../../parts/facts.tsx';
import { count, moment, plural } from '../../parts/format.ts';
import { zone } from '../../parts/prefs.ts';
import { Rows } from '../../parts/rows.tsx';
import { SearchField } from '../../parts/search-field.tsx';
import { Segments } from '../../parts/segments.tsx';
import { Action, Empty, Loads, Problem } from '../../parts/states.tsx';
import type { Column } from '../../parts/table.tsx';
import { TurnOn } from '../../parts/turn-on.tsx';

type AuditRow = ApiSchemas['audit_row'];

const LIMIT = 200;

/** What the rows are about. Texts of requests are the one thing that a row is about and that nothing has changed. */
const ABOUT = [
  ['', 'All'],
  ['requests', 'Texts read'],
  ['keys', 'Keys'],
  ['budgets', 'Budgets'],
  ['providers', 'Providers'],
  ['prompts', 'Prompts'],
  ['tokens', 'Tokens'],
] as const;

/** Who has changed what, and who has read which texts. */
export function Audit() {
  const hasStore = session.value?.features.store !== false;
  return (
    <>
      <header class="head ruled">
        <div class="row">
          <h1 class="grow">Audit</h1>
          {hasStore && <Verify />}
        </div>
        {hasStore && <Filter />}
      </header>
      {hasStore ? (
        <AuditRows />
      ) : (
        <div class="body">
          <Empty title="No audit without a store">
            <p>Nothing is written then, and the files of the settings have their own history.</p>
            <TurnOn feature="store">Keep a store</TurnOn>
          </Empty>
        </div>
      )}
    </>
  );
}

const Filter = () => (
  <>
    <SearchField label="The whole id of an object" />
    <Segments
      label="About"
      of={ABOUT}
      chosen={ABOUT.find(([kind]) => kind === address.value.query.get('kind'))?.[0] ?? ''}
      onChoose={(kind) => setQuery({ kind, row: undefined })}
    />
  </>
);

function AuditRows() {
  const { query } = address.value;
  const [kind, id] = [query.get('kind') ?? '', query.get('q') ?? ''];
  const wanted = { limit: LIMIT, ...(kind !== '' && { object_kind: kind }), ...(id !== '' && { object_id: id }) };
  const { first, items, error, more, retry } = usePaged(JSON.stringify(wanted), (page, signal) =>
    ask(api.GET('/audit', { params: { query: { ...wanted, ...page } }, ...(signal && { signal }) })),
  );
  return (
    <Loads state={first.state.value} retry={first.reload}>
      {() => (
        <Rows
          label="Audit"
          layout="audit"
          columns={COLUMNS}
          rows={items}
          idOf={({ seq }) => String(seq)}
          none={<Nothing filtered={kind !== '' || id !== ''} />}
          detail={(row) => <RowDetail row={row} />}
          onEnd={more}
          foot={error && <Problem error={error} retry={retry} />}
        />
      )}
    </Loads>
  );
}

const Nothing = ({ filtered }: { readonly filtered: boolean }) =>
  filtered ? (
    <Empty title="Nothing matches">
      <p>No row of the audit is about this.</p>
      <p>
        <a class="button" href="#/audit">
          Clear the filter
        </a>
      </p>
    </Empty>
  ) : (
    <Empty title="No row yet">
      <p>Each change of an object, each reload, and each read of the texts of a request is a row.</p>
      <p>
        <a class="button" href="#/keys?add=1">
          Create a key
        </a>
      </p>
    </Empty>
  );

const COLUMNS: readonly Column<AuditRow>[] = [
  { name: 'at', label: 'When', cell: ({ at }) => <span class="mono third">{moment(at, zone.value)}</span> },
  { name: 'actor', label: 'Who', title: ({ actor }) => actor, cell: ({ actor }) => actor },
  { name: 'action', label: 'Action', cell: ({ action }) => action },
  {
    name: 'object',
    label: 'Of what',
    title: ({ kind, id }) => `${kind} ${id}`,
    cell: ({ seq, kind, id }) => (
      <>
        <a href={linkTo({ row: String(seq) })}>{id === '' ? kind : id}</a>{' '}
        {id !== '' && <span class="third">{kind}</span>}
      </>
    ),
  },
  {
    name: 'reason',
    label: 'Reason',
    title: ({ reason }) => reason ?? undefined,
    cell: ({ reason }) => <span class="second">{reason}</span>,
  },
];

function RowDetail({ row }: { readonly row: AuditRow }) {
  const { seq, at, actor, role, address: from, action, kind, id, before, after, reason, hash } = row;
  const lines = diffLines(linesOf(before), linesOf(after));
  return (
    <Drawer label={`Row ${seq}`} name="row" head={<h2>{id === '' ? kind : id}</h2>}>
      <Facts
        of={[
          ['Row', <span class="mono">{count(seq)}</span>],
          ['When', moment(at, zone.value)],
          ['Who', `${actor}${role === '' ? '' : `, ${role}`}`],
          ['From', from ?? 'unknown'],
          ['Action', `${action} ${kind}`],
          ['Reason', reason ?? 'none given'],
          ['Hash', <span class="mono">{hash}</span>],
        ]}
      />
      {lines.length > 0 ? (
        <Diff label="Before and after" lines={lines} />
      ) : (
        <p class="second">{action === 'read' ? 'Texts of this request were shown.' : 'No object was changed.'}</p>
      )}
    </Drawer>
  );
}

type Verdict = ApiSchemas['audit_verdict'];

/** Reads the whole chain, so a person asks for it. */
function Verify() {
  const verdict = useSignal<Verdict | undefined>(undefined);
  const verify = useAction(async () => {
    verdict.value = undefined;
    verdict.value = await ask(api.GET('/audit:verify', { params: {} }));
  });
  return (
    <>
      {verify.error.value && <Problem error={verify.error.value} />}
      {verdict.value && (
        <span role="status" class={verdict.value.intact ? 'ok-text' : 'failed-text'}>
          {words(verdict.value)}
        </span>
      )}
      <Action busy={verify.busy.value} onClick={verify.run}>
        Verify the chain
      </Action>
    </>
  );
}

function words({ intact, rows = 0, at, reason, parts = [] }: Verdict): string {
  if (!intact) return `Row ${count(at)} does not continue the chain: ${reason ?? 'unknown'}`;
  const open = parts.filter(({ proof }) => proof !== 'key').reduce((sum, { from, to }) => sum + to - from + 1, 0);
  const proven = open === 0 ? '' : `; ${count(open)} without the proof of a key`;
  return `The chain is intact: ${plural(rows, 'row')}${proven}`;
}
