import type { StatsQuery, StatsSeries } from '../../../core/process/console-port.ts';
import { addCell, emptyCell, percentile, valueOf, type Cell } from './cells.ts';

/** Values of one step beyond this number count together. */
export const MAX_CELLS = 200;
/** Cells of one level, over all of its steps; the oldest step goes first. */
const MAX_LEVEL_CELLS = 50_000;
const MAX_SERIES = 50;

const OTHER: readonly string[] = ['other', 'other', 'other', 'other', 'other', 'other', 'other'];

/** The cell of these dimensions, or of all that are too many. */
export function cellIn(step: Map<string, Cell>, dims: readonly string[]): Cell {
  const key = dims.join('\u0000');
  const known = step.get(key);
  if (known) return known;
  if (step.size >= MAX_CELLS && dims !== OTHER) return cellIn(step, OTHER);
  const cell = emptyCell(dims);
  step.set(key, cell);
  return cell;
}

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

  get(step: number): ReadonlyMap<string, Cell> | undefined {
    return this.#steps.get(step);
  }
}

type Sum = Cell & { errors: number; rescued: number };

const emptySum = (): Sum => ({ ...emptyCell([]), errors: 0, rescued: 0 });

/** The sums of a query by step and name, made as cells come: those of weeks are too many to hold. */
export class SeriesSums {
  readonly #query: Pick<StatsQuery, 'by' | 'filters'>;
  readonly #steps: readonly Map<string, Sum>[];

  constructor(points: number, query: Pick<StatsQuery, 'by' | 'filters'>) {
    this.#query = query;
    this.#steps = Array.from({ length: points }, () => new Map<string, Sum>());
  }

  add(point: number, cells: Iterable<Cell>): void {
    const { by, filters } = this.#query;
    const step = this.#steps[point];
    if (!step) return;
    for (const cell of cells) {
      if (!filters.every(([dimension, wanted]) => wanted.includes(valueOf(cell, dimension)))) continue;
      const sum = sumIn(step, by === undefined ? '' : valueOf(cell, by));
      addCell(sum, cell);
      const state = valueOf(cell, 'state');
      if (state === 'failed') sum.errors += cell.requests;
      if (state === 'rescued') sum.rescued += cell.requests;
    }
  }

  /** Those with the most requests first, and the sum of the rest. */
  series(): { readonly series: readonly StatsSeries[]; readonly other: StatsSeries | null } {
    const names = new Map<string, number>();
    for (const step of this.#steps)
      for (const [name, { requests }] of step) names.set(name, (names.get(name) ?? 0) + requests);
    const ranked = [...names].sort(([, one], [, other]) => other - one).map(([name]) => name);
    const [shown, rest] = [ranked.slice(0, MAX_SERIES), ranked.slice(MAX_SERIES)];
    const series = shown.map((name) =>
      seriesOf(
        name,
        this.#steps.map((step) => step.get(name) ?? emptySum()),
      ),
    );
    return { series, other: rest.length > 0 ? seriesOf('other', this.#restOf(new Set(rest))) : null };
  }

  #restOf(names: ReadonlySet<string>): readonly Sum[] {
    return this.#steps.map((step) => {
      const all = emptySum();
      for (const [name, sum] of step) {
        if (!names.has(name)) continue;
        addCell(all, sum);
        all.errors += sum.errors;
        all.rescued += sum.rescued;
      }
      return all;
    });
  }
}

/** The sum of this name, or of all that are too many. */
function sumIn(step: Map<string, Sum>, name: string): Sum {
  const known = step.get(name);
  if (known) return known;
  if (step.size >= MAX_CELLS && name !== 'other') return sumIn(step, 'other');
  const sum = emptySum();
  step.set(name, sum);
  return sum;
}

const seriesOf = (name: string, sums: readonly Sum[]): StatsSeries => ({
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
});
