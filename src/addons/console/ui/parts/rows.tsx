import type { ComponentChildren } from 'preact';
import { address, setQuery } from '../address.ts';
import { useKeys } from './shortcuts.ts';
import { Table, type Column } from './table.tsx';

interface RowsProps<Row> {
  readonly label: string;
  readonly layout: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly idOf: (row: Row) => string;
  /** In place of a table without rows. */
  readonly none: ComponentChildren;
  /** Default: the screen shows the row instead of the list. */
  readonly detail?: (row: Row) => ComponentChildren;
  readonly onEnd?: () => void;
  readonly foot?: ComponentChildren;
}

/** Rows with the detail of one of them, `row` of the address, beside them. */
export function Rows<Row>({ none, detail, ...of }: RowsProps<Row>) {
  const row = address.value.query.get('row');
  const chosen = detail && of.rows.find((one) => of.idOf(one) === row);
  const move = (by: 1 | -1) => (): void => {
    const ids = of.rows.map(of.idOf);
    const at = ids.indexOf(address.value.query.get('row') ?? '') + by;
    setQuery({ row: ids[Math.max(0, Math.min(ids.length - 1, at))] });
  };
  useKeys({
    j: move(1),
    k: move(-1),
    Escape: () => setQuery({ row: undefined }),
    '/': () => document.getElementById('filter')?.focus(),
  });
  return (
    <div class={`split${chosen ? ' open' : ''}`}>
      <div class="list">
        {of.rows.length === 0 ? none : <Table {...of} selected={row} onOpen={(id) => setQuery({ row: id })} />}
      </div>
      {chosen && detail(chosen)}
    </div>
  );
}
