import { api, ask, session, useAction, usePaged } from '../../api/index.ts';
import type { ApiSchemas } from '../../api/shapes.ts';
import { useSignal } from '@preact/signals';
import { address, linkTo } from '../../address.ts';
import { Button, ButtonLink } from '../../parts/button.tsx';
import { Diff } from '../../parts/diff.tsx';
import { differing, linesOf } from '../../parts/differing.ts';
import { Drawer } from '../../parts/drawer.tsx';
import { Facts } from '../../parts/facts.tsx';
import { count, moment, plural } from '../../parts/format.ts';
import { Head } from '../../parts/head.tsx';
import { Rows } from '../../parts/rows.tsx';
import { SearchField } from '../../parts/search-field.tsx';
import { Tabs } from '../../parts/segments.tsx';
import { Empty, Loads, Problem } from '../../parts/states.tsx';
import { textColumn, timeColumn, type Column } from '../../parts/columns.tsx';
import { TurnOn } from '../../parts/turn-on.tsx';

type AuditRow = ApiSchemas['audit_row'];

const LIMIT = 200;

/** The kinds of objects that rows are about. Texts of requests are the one thing that a row is about and that nothing has changed. */
const ABOUT = [
  ['', 'All'],
  ['requests', 'Texts read'],
  ['keys', 'Keys'],
  ['budgets', 'Budgets'],
  ['providers', 'Providers'],
  ['configs', 'Configs'],
  ['prompts', 'Prompts'],
  ['tokens', 'Tokens'],
] as const;

/** Who has changed what, and who has read which texts. */
export const Audit = () =>
  session.value?.features.store === false ? (
    <>
      <Head title="Audit" ruled />
      <div class="body">
        <Empty title="No audit without a store">
          <p>Nothing is written then, and the files of the settings have their own history.</p>
          <TurnOn feature="store">Keep a store</TurnOn>
        </Empty>
      </div>
    </>
  ) : (
    <>
      <Head title="Audit" ruled actions={<Verify />}>
        <SearchField label="The whole id of an object" />
        <Tabs label="About" of={ABOUT} member="kind" resets={['row']} />
      </Head>
      <AuditRows />
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
    <Loads of={first}>
      {() => (
        <Rows
          label="Audit"
          columns={COLUMNS}
          rows={items}
          idOf={({ seq }) => String(seq)}
          none={<None filtered={kind !== '' || id !== ''} />}
          detail={(row) => <RowDetail row={row} />}
          onEnd={more}
          foot={error && <Problem error={error} retry={retry} />}
        />
      )}
    </Loads>
  );
}

const None = ({ filtered }: { readonly filtered: boolean }) => (
  <Empty title={filtered ? 'Nothing matches' : 'No row yet'}>
    <p>
      {filtered
        ? 'No row of the audit is about this.'
        : 'Each change of an object, each reload, and each read of the texts of a request is a row.'}
    </p>
    <p>
      {filtered ? (
        <ButtonLink label="Clear the filter" href="#/audit" />
      ) : (
        <ButtonLink label="Create a key" href="#/keys?add=1" />
      )}
    </p>
  </Empty>
);

const COLUMNS: readonly Column<AuditRow>[] = [
  timeColumn('When', ({ at }) => at, 'narrow'),
  textColumn('Who', [90, 1], ({ actor }) => actor),
  textColumn('Action', 80, ({ action }) => action),
  {
    ...textColumn('Of what', [120, 1.6], ({ kind, id }) => id || kind),
    cell: ({ seq, kind, id }) => (
      <>
        <a href={linkTo({ row: String(seq) })}>{id || kind}</a> {id !== '' && <span class="third">{kind}</span>}
      </>
    ),
  },
  textColumn('Reason', [120, 1.6], ({ reason }) => reason, 'both'),
];

function RowDetail({ row }: { readonly row: AuditRow }) {
  const { seq, at, actor, role, address: from, action, kind, id, before, after, reason, hash } = row;
  const lines = differing(linesOf(before), linesOf(after));
  return (
    <Drawer label={`Row ${seq}`} name="row" title={id === '' ? kind : id}>
      <Facts
        of={[
          ['Row', <span class="mono">{count(seq)}</span>],
          ['When', moment(at)],
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
      <Button label="Verify the chain" doing={verify} />
    </>
  );
}

function words({ intact, rows = 0, at, reason, parts = [] }: Verdict): string {
  if (!intact) return `Row ${count(at)} does not continue the chain: ${reason ?? 'unknown'}`;
  const open = parts.filter(({ proof }) => proof !== 'key').reduce((sum, { from, to }) => sum + to - from + 1, 0);
  const proven = open === 0 ? '' : `; ${count(open)} without the proof of a key`;
  return `The chain is intact: ${plural(rows, 'row')}${proven}`;
}
