import type { ComponentChildren } from 'preact';
import { address, setQuery } from '../address.ts';
import { hasWords, Nothing, type NothingProps } from './search-field.tsx';
import { useKeys } from './shortcuts.ts';
import { Table, type Column } from './table.tsx';

interface RowsProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly idOf: (row: Row) => string;
  /** The member of the address that names the row. */
  readonly at?: string;
  /** The words of a row that the filter searches, and the text of the table where no row has them. */
  readonly found?: Omit<NothingProps, 'total' | 'children'> & {
    readonly wordsOf: (row: Row) => string;
    readonly about: string;
  };
  /** In place of a table without rows. */
  readonly none?: ComponentChildren;
  /** Default: the screen shows the row instead of the list. */
  readonly detail?: (row: Row) => ComponentChildren;
  readonly onEnd?: () => void;
  readonly foot?: ComponentChildren;
}

/** Rows that have the words of the search field, with the detail of one of them beside them. */
export function Rows<Row>({ at = 'row', found, none, detail, rows, ...of }: RowsProps<Row>) {
  const shown = found ? rows.filter((row) => hasWords(found.wordsOf(row))) : rows;
  const id = address.value.query.get(at);
  const chosen = detail && rows.find((one) => of.idOf(one) === id);
  const move = (by: 1 | -1) => (): void => {
    const ids = shown.map(of.idOf);
    // Keys may come faster than the page is drawn: the row is the address's own.
    const next = ids.indexOf(address.value.query.get(at) ?? '') + by;
    setQuery({ [at]: ids[Math.max(0, Math.min(ids.length - 1, next))] });
  };
  useKeys({
    j: move(1),
    k: move(-1),
    Escape: () => setQuery({ [at]: undefined }),
    '/': () => document.getElementById('filter')?.focus(),
  });
  const empty = found ? (
    <Nothing {...found} total={rows.length}>
      {found.about}
    </Nothing>
  ) : (
    none
  );
  return (
    <div class={`split${chosen ? ' open' : ''}`}>
      <div class="list">
        {shown.length === 0 ? (
          empty
        ) : (
          <Table {...of} rows={shown} selected={id} onOpen={(one) => setQuery({ [at]: one }, detail !== undefined)} />
        )}
      </div>
      {chosen && detail(chosen)}
    </div>
  );
}
