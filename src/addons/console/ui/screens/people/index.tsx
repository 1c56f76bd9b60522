import { allOf, api, ask, may, needs, session, useLoad } from '../../api/index.ts';
import type { ApiSchemas } from '../../api/shapes.ts';
import { address, setQuery } from '../../address.ts';
import { Button } from '../../parts/button.tsx';
import { moment } from '../../parts/format.ts';
import { Grid } from '../../parts/grid.tsx';
import { Head } from '../../parts/head.tsx';
import { Rows } from '../../parts/rows.tsx';
import { hasWords, Nothing } from '../../parts/search-field.tsx';
import { Tabs, tabOf } from '../../parts/segments.tsx';
import { Empty, Loads } from '../../parts/states.tsx';
import { nameColumn, stateColumn, textColumn, timeColumn, type Column } from '../../parts/columns.tsx';
import { TurnOn } from '../../parts/turn-on.tsx';
import { CreateToken, TokenDetail } from './token.tsx';

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

const TABS = [
  ['tokens', 'Tokens'],
  ['people', 'Who has called'],
] as const;

/** Who calls the API and opens the console, and the tokens with which they do. */
export function People() {
  const read = useLoad(may('admin') ? 'people' : undefined, load);
  const create = <Button label="Create a token" kind="main" onClick={() => setQuery({ tab: 'tokens', add: '1' })} />;
  return (
    <>
      <Head title="People and tokens" find="Find a token or a person" actions={create}>
        <Tabs of={TABS} resets={['row', 'q']} />
      </Head>
      {may('admin') ? (
        <Loads of={read}>
          {({ people, tokens }, reload) =>
            tabOf(TABS) === 'people' ? <Callers people={people} /> : <Tokens tokens={tokens} onChange={reload} />
          }
        </Loads>
      ) : (
        <div class="body">
          <Empty title="Tokens and callers are shown to admins">
            <p>{needs('admin')} Your own rights are below the navigation.</p>
          </Empty>
        </div>
      )}
      {address.value.query.has('add') && <CreateToken onDone={read.reload} />}
    </>
  );
}

const ADD = ['Create a token', '#/people?add=1'] as const;
const HOW: Readonly<Record<Person['by'], string>> = { token: 'API', session: 'console', none: 'without a token' };

function Callers({ people }: { readonly people: readonly Person[] }) {
  const shown = people.filter(({ user, role }) => hasWords(`${user} ${role}`));
  return (
    <div class="body stack">
      {shown.length === 0 ? (
        <Nothing total={people.length} noun="caller" add={ADD}>
          No caller has sent a request since the start of the gateway.
        </Nothing>
      ) : (
        <Grid
          label="Who has called"
          head={['Who', 'Role', 'Texts', 'How', 'From', 'Last call']}
          rows={shown.map(({ user, role, content, by, address: from, seen_at: at }) => [
            <span class="strong">{user}</span>,
            role,
            content ? 'may read them' : 'may not read them',
            HOW[by],
            <span class="mono">{from ?? 'unknown'}</span>,
            <span class="mono third">{moment(at)}</span>,
          ])}
        />
      )}
      <p class="third">Callers of this gateway since its start, at most 500. The audit has what they changed.</p>
    </div>
  );
}

const COLUMNS: readonly Column<Token>[] = [
  nameColumn('Token', [110, 1.4], ({ id }) => id),
  textColumn('Role', 80, ({ role }) => role),
  stateColumn('State', 90, ({ state }) => state),
  timeColumn('Ends', ({ expires_at: end }) => end, 'both'),
  timeColumn('Last call here', ({ seen }) => seen, 'both'),
];

const Tokens = ({ tokens, onChange }: { readonly tokens: readonly Token[]; readonly onChange: () => void }) =>
  session.value?.features.store === false ? (
    <div class="body">
      <Empty title="No tokens without a store">
        <p>Without one, `admin.token` of server.yaml is the one token, and the same machine needs none.</p>
        <TurnOn feature="store">Keep a store</TurnOn>
      </Empty>
    </div>
  ) : (
    <Rows
      label="Tokens"
      columns={COLUMNS}
      rows={tokens}
      idOf={({ id }) => id}
      found={{
        noun: 'token',
        wordsOf: ({ id, role }) => `${id} ${role}`,
        add: ADD,
        about: 'A person, or a program, calls the API with a token of its own.',
      }}
      detail={(token) => <TokenDetail key={token.id} token={token} onChange={onChange} />}
    />
  );
