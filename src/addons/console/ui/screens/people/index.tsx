import { api, ask } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import { allOf } from '../../api/pages.ts';
import { may, needs, session } from '../../api/session.ts';
import type { ApiSchemas } from '../../api/shapes.ts';
import { address, linkTo, setQuery } from '../../address.ts';
import { Chip, toneOf } from '../../parts/chip.tsx';
import { moment } from '../../parts/format.ts';
import { Grid } from '../../parts/grid.tsx';
import { zone } from '../../parts/prefs.ts';
import { Rows } from '../../parts/rows.tsx';
import { Nothing, SearchField } from '../../parts/search-field.tsx';
import { Segments } from '../../parts/segments.tsx';
import { Empty, Loads } from '../../parts/states.tsx';
import type { Column } from '../../parts/table.tsx';
import { TurnOn } from '../../parts/turn-on.tsx';
import { CreateToken } from './create.tsx';
import { TokenDetail } from './token.tsx';

type Person = ApiSchemas['person'];
type Token = ApiSchemas['token'] & { readonly seen: string | undefined };

async function load(signal: AbortSignal) {
  const [people, tokens] = await Promise.all([
    ask(api.GET('/people', { params: {}, signal })),
    session.value?.features.store === false
      ? []
      : allOf((query) => ask(api.GET('/tokens', { params: { query }, signal }))),
  ]);
  const seen = new Map(people.items.map(({ user, seen_at: at }) => [user, at]));
  return { people: people.items, tokens: tokens.map((one): Token => ({ ...one, seen: seen.get(`token:${one.id}`) })) };
}

/** Who calls the API and opens the console, and the tokens with which they do. */
export function People() {
  const { query } = address.value;
  const tab = query.get('tab') === 'people' ? 'people' : 'tokens';
  const read = useLoad(may('admin') ? 'people' : undefined, load);
  return (
    <>
      <header class="head ruled">
        <div class="row">
          <h1 class="grow">People and tokens</h1>
          <button type="button" class="main" onClick={() => setQuery({ tab: 'tokens', add: '1' })}>
            Create a token
          </button>
        </div>
        <Segments
          label="Shown"
          of={[
            ['tokens', 'Tokens'],
            ['people', 'Who has called'],
          ]}
          chosen={tab}
          onChoose={(name) => setQuery({ tab: name, row: undefined, q: undefined })}
        />
        <SearchField label="Find a token or a person" />
      </header>
      {may('admin') ? (
        <Loads state={read.state.value} retry={read.reload}>
          {({ people, tokens }) =>
            tab === 'people' ? <Callers people={people} /> : <Tokens tokens={tokens} onChange={read.reload} />
          }
        </Loads>
      ) : (
        <div class="body">
          <Empty title="Tokens are shown to admins">
            <p>{needs('admin')} Your own rights are below the navigation.</p>
          </Empty>
        </div>
      )}
      {query.has('add') && <CreateToken onDone={read.reload} />}
    </>
  );
}

const words = (): string => address.value.query.get('q') ?? '';

function Callers({ people }: { readonly people: readonly Person[] }) {
  const shown = people.filter(({ user, role }) => `${user} ${role}`.includes(words()));
  const how: Readonly<Record<Person['by'], string>> = { token: 'API', session: 'console', none: 'without a token' };
  return (
    <div class="body stack">
      {shown.length === 0 ? (
        <Nothing total={people.length} noun="caller" add={['Create a token', '#/people?add=1']}>
          Nobody has called since the start of the gateway.
        </Nothing>
      ) : (
        <Grid
          label="Who has called"
          head={['Who', 'Role', 'Texts', 'How', 'From', 'Last call']}
          rows={shown.map(({ user, role, content, by, address: from, seen_at: at }) => [
            <span class="strong">{user}</span>,
            role,
            content ? 'may read them' : 'may not read them',
            how[by],
            <span class="mono">{from ?? 'unknown'}</span>,
            <span class="mono third">{moment(at, zone.value)}</span>,
          ])}
        />
      )}
      <p class="third">Callers of this gateway since its start, at most 500. The audit has what they changed.</p>
    </div>
  );
}

const COLUMNS: readonly Column<Token>[] = [
  {
    name: 'name',
    label: 'Token',
    title: ({ id }) => id,
    cell: ({ id }) => <a href={linkTo({ row: id })}>{id}</a>,
  },
  { name: 'role', label: 'Role', cell: ({ role }) => role },
  { name: 'state', label: 'State', cell: ({ state }) => <Chip tone={toneOf(state)}>{state}</Chip> },
  {
    name: 'ends',
    label: 'Ends',
    cell: ({ expires_at: end }) => <span class="mono third">{moment(end, zone.value)}</span>,
  },
  {
    name: 'seen',
    label: 'Last call here',
    cell: ({ seen }) => <span class="mono third">{seen === undefined ? 'unknown' : moment(seen, zone.value)}</span>,
  },
];

function Tokens({ tokens, onChange }: { readonly tokens: readonly Token[]; readonly onChange: () => void }) {
  if (session.value?.features.store === false)
    return (
      <div class="body">
        <Empty title="No tokens without a store">
          <p>Without one, `admin.token` of server.yaml is the one token, and the same machine needs none.</p>
          <TurnOn feature="store">Keep a store</TurnOn>
        </Empty>
      </div>
    );
  return (
    <Rows
      label="Tokens"
      layout="tokens"
      columns={COLUMNS}
      rows={tokens.filter(({ id, role }) => `${id} ${role}`.includes(words()))}
      idOf={({ id }) => id}
      none={
        <Nothing total={tokens.length} noun="token" add={['Create a token', '#/people?add=1']}>
          A person, or a program, calls the API with a token of its own.
        </Nothing>
      }
      detail={(token) => <TokenDetail key={token.id} token={token} onChange={onChange} />}
    />
  );
}
