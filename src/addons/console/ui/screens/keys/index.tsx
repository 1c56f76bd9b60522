import { settingsTurn } from '../../api/live.ts';
import { useLoad } from '../../api/load.ts';
import { session } from '../../api/session.ts';
import { address, setQuery } from '../../address.ts';
import { Chip, toneOf } from '../../parts/chip.tsx';
import { moment } from '../../parts/format.ts';
import { zone } from '../../parts/prefs.ts';
import { Nothing, SearchField } from '../../parts/search-field.tsx';
import { Loads } from '../../parts/states.tsx';
import { TurnOn } from '../../parts/turn-on.tsx';
import { CreateKey } from './create.tsx';
import { KeyDetail } from './detail.tsx';
import { NodeDetail } from './node.tsx';
import { BudgetBar } from './budget.tsx';
import { loadObjects } from './load.ts';
import { filterTree, treeOf, type KeyNode } from './tree.ts';

/** Organizations, their teams and keys, and what is left of their budgets. */
export function Keys() {
  const { query } = address.value;
  const load = useLoad('keys', loadObjects, settingsTurn.value);
  const [key, node] = [query.get('key'), query.get('node')];
  const { data } = load.state.value;
  return (
    <>
      <header class="head ruled">
        <div class="row">
          <h1 class="grow">Keys, teams, budgets</h1>
          <button type="button" class="main" onClick={() => setQuery({ add: '1' })}>
            Create a key
          </button>
        </div>
        <SearchField label="Find a key, a team or an organization" />
      </header>
      <div class={`split${key !== null || node !== null ? ' open' : ''}`}>
        <div class="body grow list">
          <Loads state={load.state.value} retry={load.reload}>
            {(found) => (
              <Tree
                nodes={filterTree(treeOf(found), query.get('q') ?? '')}
                total={found.keys.length}
                chosen={key === null ? node : `key:${key}`}
              />
            )}
          </Loads>
          {session.value?.features.store === false && (
            <TurnOn feature="store">No store: budgets are not counted, and each change is a patch. Keep a store</TurnOn>
          )}
        </div>
        {key !== null && <KeyDetail key={key} id={key} budgets={data?.budgets ?? []} onChange={load.reload} />}
        {key === null && node !== null && data && <NodeDetail node={node} objects={data} onChange={load.reload} />}
      </div>
      {query.has('add') && <CreateKey teams={data?.teams.map(({ id }) => id) ?? []} onDone={load.reload} />}
    </>
  );
}

const hrefOf = ({ kind, id }: KeyNode): string =>
  kind === 'key' ? `#/keys?key=${encodeURIComponent(id)}` : `#/keys?node=${encodeURIComponent(`${kind}:${id}`)}`;

function Tree({
  nodes,
  total,
  chosen,
}: {
  readonly nodes: readonly KeyNode[];
  readonly total: number;
  readonly chosen: string | null;
}) {
  if (nodes.length === 0)
    return (
      <Nothing total={total} noun="key" add={['Create a key', '#/keys?add=1']}>
        An application calls with a key. Its team and its organization may have budgets and limits.
      </Nothing>
    );
  return (
    <table class="rows tree">
      <thead>
        <tr>
          <th>Name</th>
          <th>State</th>
          <th>Budget of the period</th>
          <th>Last use</th>
          <th>Where it is</th>
        </tr>
      </thead>
      <tbody>
        {nodes.map((node) => (
          <NodeRow key={`${node.kind}:${node.id}`} node={node} isChosen={chosen === `${node.kind}:${node.id}`} />
        ))}
      </tbody>
    </table>
  );
}

function NodeRow({ node, isChosen }: { readonly node: KeyNode; readonly isChosen: boolean }) {
  return (
    <tr aria-current={isChosen ? 'true' : undefined} onClick={() => (location.hash = hrefOf(node))}>
      <td style={{ paddingLeft: `${8 + node.depth * 20}px` }}>
        <a href={hrefOf(node)} class="cut" title={node.id}>
          {node.id}
        </a>{' '}
        {node.kind !== 'key' && <span class="third">{node.kind}</span>}
      </td>
      <td>{node.state !== undefined && <Chip tone={toneOf(node.state)}>{node.state}</Chip>}</td>
      <td>
        {node.budgets.map((budget) => (
          <BudgetBar key={budget.id} budget={budget} />
        ))}
      </td>
      <td class="mono third">
        {node.kind === 'key' ? (node.lastUsed === undefined ? 'unknown' : moment(node.lastUsed, zone.value)) : ''}
      </td>
      <td class="mono third">{node.owner}</td>
    </tr>
  );
}
