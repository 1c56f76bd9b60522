import type { StatsQuery, StatsSeries } from '../../../core/process/console-port.ts';
import { addCell, emptyCell, percentile, valueOf, type Cell } from './cells.ts';

/** Cells by the text of their dimensions. */
export type CellStep = ReadonlyMap<string, Cell>;

/** Values of one step beyond this number count together. */
export const MAX_CELLS = 200;
/** Cells of one level, over all of its steps; the oldest step goes first. */
const MAX_LEVEL_CELLS = 50_000;
const MAX_SERIES = 50;

const OTHER: readonly string[] = ['other', 'other', 'other', 'other', 'other', 'other', 'other'];

export const keyOf = (dims: readonly string[]): string => dims.join('\u0000');

/** The cell of these dimensions, or of all that are too many. */
export function cellIn(step: Map<string, Cell>, dims: readonly string[]): Cell {
  const key = keyOf(dims);
  const known = step.get(key);
  if (known) return known;
  if (step.size >= MAX_CELLS && dims !== OTHER) return cellIn(step, OTHER);
  const cell = emptyCell(dims);
  step.set(key, cell);
  return cell;
}

/** Steps of one length, as many as are kept. */
export class StatsLevel {
  readonly seconds: number;
  readonly #most: number;
  /** By the number of the step since 1970; the oldest first. */
  readonly #steps = new Map<number, Map<string, Cell>>();
  #cells = 0;
  /** The steps before it are forgotten. Milliseconds since 1970. */
  completeSince = 0;

  constructor(seconds: number, keptSeconds: number) {
    this.seconds = seconds;
    this.#most = keptSeconds / seconds;
  }

  add(step: number, cells: Iterable<Cell>): void {
    let own = this.#steps.get(step);
    if (!own) this.#steps.set(step, (own = new Map()));
    const before = own.size;
    for (const cell of cells) addCell(cellIn(own, cell.dims), cell);
    this.#cells += own.size - before;
    for (const [oldest, { size }] of this.#steps) {
      if (this.#steps.size <= this.#most && this.#cells <= MAX_LEVEL_CELLS) break;
      this.#steps.delete(oldest);
      this.completeSince = (oldest + 1) * this.seconds * 1000;
      this.#cells -= size;
    }
  }

  get(step: number): CellStep | undefined {
    return this.#steps.get(step);
  }
}

/** The series of a query, those with the most requests first, and the sum of the rest. */
export function seriesOf(
  steps: readonly (CellStep | undefined)[],
  { by, filters }: Pick<StatsQuery, 'by' | 'filters'>,
): { readonly series: readonly StatsSeries[]; readonly other: StatsSeries | null } {
  const names = new Map<string, number>();
  const fitting = steps.map((step) => [...(step?.values() ?? [])].filter((cell) => fits(cell, filters)));
  const nameOf = (cell: Cell): string => (by === undefined ? '' : valueOf(cell, by));
  for (const cell of fitting.flat()) names.set(nameOf(cell), (names.get(nameOf(cell)) ?? 0) + cell.requests);
  const ranked = [...names].sort(([, one], [, other]) => other - one).map(([name]) => name);
  const [shown, rest] = [ranked.slice(0, MAX_SERIES), new Set(ranked.slice(MAX_SERIES))];
  const series = shown.map((name) => sumsOf(name, fitting, (cell) => nameOf(cell) === name));
  return { series, other: rest.size > 0 ? sumsOf('other', fitting, (cell) => rest.has(nameOf(cell))) : null };
}

const fits = (cell: Cell, filters: StatsQuery['filters']): boolean =>
  filters.every(([dimension, wanted]) => wanted.includes(valueOf(cell, dimension)));

function sumsOf(name: string, steps: readonly (readonly Cell[])[], isOf: (cell: Cell) => boolean): StatsSeries {
  const sums = steps.map((cells) => {
    const own = cells.filter(isOf);
    const sum = emptyCell([]);
    for (const cell of own) addCell(sum, cell);
    const inState = (state: string): number =>
      own.reduce((total, cell) => total + (valueOf(cell, 'state') === state ? cell.requests : 0), 0);
    return { ...sum, errors: inState('failed'), rescued: inState('rescued') };
  });
  return {
    name,
    requests: sums.map(({ requests }) => requests),
    errors: sums.map(({ errors }) => errors),
    rescued: sums.map(({ rescued }) => rescued),
    cached: sums.map(({ cached }) => cached),
    tokens_in: sums.map(({ tokensIn }) => tokensIn),
    tokens_out: sums.map(({ tokensOut }) => tokensOut),
    nano: sums.map(({ nano }) => nano),
    unpriced: sums.map(({ unpriced }) => unpriced),
    p50_ms: sums.map(({ ms }) => percentile(ms, 0.5)),
    p95_ms: sums.map(({ ms }) => percentile(ms, 0.95)),
    first_p95_ms: sums.map(({ first }) => percentile(first, 0.95)),
  };
}
