import { linkTo } from '../address.ts';
import { Chip, toneOf } from './chip.tsx';
import { moment } from './format.ts';
import type { Column } from './table.tsx';

export type { Column } from './table.tsx';

type Value<Row, Of = string | null | undefined> = (row: Row) => Of;
type Width = Column<never>['width'];
type Off = Column<never>['off'];

/** A text, whole in its title. */
export const textColumn = <Row,>(label: string, width: Width, of: Value<Row>, off?: Off): Column<Row> => ({
  label,
  width,
  off,
  title: (row) => of(row) ?? undefined,
  cell: (row) => of(row),
});

/** The name of a row, which opens it. */
export const nameColumn = <Row,>(
  label: string,
  width: Width,
  of: Value<Row, string>,
  href: Value<Row, string> = (row) => linkTo({ row: of(row) }),
): Column<Row> => ({
  ...textColumn(label, width, of),
  cell: (row) => <a href={href(row)}>{of(row)}</a>,
});

export const timeColumn = <Row,>(label: string, of: Value<Row>, off?: Off): Column<Row> => ({
  label,
  width: 190,
  off,
  cell: (row) => <span class="mono third">{momentOr(of(row))}</span>,
});

const momentOr = (at: string | null | undefined): string => (typeof at === 'string' ? moment(at) : 'unknown');

/** A word with its colour. */
export const stateColumn = <Row,>(label: string, width: Width, of: Value<Row>, tone = toneOf): Column<Row> => ({
  label,
  width,
  cell: (row) => {
    const state = of(row);
    return typeof state === 'string' && <Chip tone={tone(state)}>{state}</Chip>;
  },
});

/** The file and line of an object, or the store. */
export const OWNER: Column<{ readonly owner: string }> = {
  ...textColumn('Where it is', [90, 1], ({ owner }) => owner, 'both'),
  cell: ({ owner }) => <span class="mono third">{owner}</span>,
};
