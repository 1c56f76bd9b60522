import { session, settingsTurn, useLoad } from '../../api/index.ts';
import { address, setQuery } from '../../address.ts';
import { BudgetBar, spentShare } from '../../parts/budget-bar.tsx';
import { Button } from '../../parts/button.tsx';
import { count } from '../../parts/format.ts';
import { Head } from '../../parts/head.tsx';
import { Nothing } from '../../parts/search-field.tsx';
import { Loads } from '../../parts/states.tsx';
import { OWNER, stateColumn, timeColumn } from '../../parts/columns.tsx';
import { Table, type Column } from '../../parts/table.tsx';
import { TurnOn } from '../../parts/turn-on.tsx';
import { CreateKey } from './create.tsx';
import { KeyDetail } from './detail.tsx';
import { NodeDetail } from './node.tsx';
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
      <Head
        title="Keys, teams, budgets"
        find="Find a key, a team or an organization"
        actions={<Button label="Create a key" kind="main" onClick={() => setQuery({ add: '1' })} />}
      />
      <div class={`split${key !== null || node !== null ? ' open' : ''}`}>
        <div class="list">
          <Loads of={load}>
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

const refOf = ({ kind, id }: KeyNode): string => `${kind}:${id}`;

/** @param ref `key:web`, `team:search` */
const hrefOf = (ref: string): string =>
  `#/keys?${new URLSearchParams(ref.startsWith('key:') ? { key: ref.slice(4) } : { node: ref })}`;

const COLUMNS: readonly Column<KeyNode>[] = [
  {
    label: 'Name',
    width: [140, 1.6],
    title: ({ id }) => id,
    cell: (node) => (
      <span style={{ paddingLeft: `${node.depth * 20}px` }}>
        <a href={hrefOf(refOf(node))}>{node.id}</a> {node.kind !== 'key' && <span class="third">{node.kind}</span>}
      </span>
    ),
  },
  stateColumn('State', 84, ({ state }) => state),
  { label: 'Budget of the period', width: [180, 1.6], cell: ({ budgets }) => <Tightest budgets={budgets} /> },
  timeColumn('Last use', ({ lastUsed: at }) => at, 'both'),
  OWNER,
];

/** The budget of which the least is left, and how many others there are. */
function Tightest({ budgets }: Pick<KeyNode, 'budgets'>) {
  const [first, ...others] = budgets.toSorted((one, other) => (spentShare(other) ?? 0) - (spentShare(one) ?? 0));
  return (
    <>
      {first && <BudgetBar budget={first} />}
      {others.length > 0 && <span class="third"> and {count(others.length)} more</span>}
    </>
  );
}

interface TreeProps {
  readonly nodes: readonly KeyNode[];
  readonly total: number;
  readonly chosen: string | null;
}

const Tree = ({ nodes, total, chosen }: TreeProps) =>
  nodes.length === 0 ? (
    <Nothing total={total} noun="key" add={['Create a key', '#/keys?add=1']}>
      An application calls with a key. Its team and its organization may have budgets and limits.
    </Nothing>
  ) : (
    <Table
      label="Keys, teams and organizations"
      columns={COLUMNS}
      rows={nodes}
      idOf={refOf}
      selected={chosen}
      onOpen={(ref) => void (location.hash = hrefOf(ref))}
    />
  );
