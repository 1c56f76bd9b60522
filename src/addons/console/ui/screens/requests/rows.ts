import type { ListedRequest } from '../../api/shapes.ts';

export const MAX_ROWS = 10_000;

type RowState = 'complete' | 'rescued' | 'failed' | 'aborted' | 'running';

export const stateOf = ({ state, rescued }: Pick<ListedRequest, 'state' | 'rescued'>): RowState =>
  rescued === true && state === 'complete' ? 'rescued' : state;

export const STATES = ['complete', 'rescued', 'failed', 'running'] as const;

/** `failed` has those that the client left, too: in the counts, no request is missing. */
export const isIn = (state: string | null, line: ListedRequest): boolean => {
  const own = stateOf(line);
  return state === null || own === state || (state === 'failed' && own === 'aborted');
};

/** Requests by their arrival, the latest first, each once. */
export class Rows {
  #rows: ListedRequest[] = [];
  readonly #places = new Map<string, number>();

  get all(): readonly ListedRequest[] {
    return this.#rows;
  }

  find(id: string): ListedRequest | undefined {
    return this.#rows.find(({ request_id }) => request_id === id);
  }

  /** Adds lines, or puts them in place of those with the same id. Returns how many are new. */
  add(lines: readonly ListedRequest[]): number {
    const fresh = new Map<string, ListedRequest>();
    for (const line of lines) {
      const known = this.#places.get(line.request_id);
      if (known === undefined) fresh.set(line.request_id, line);
      else this.#replace(known, line);
    }
    if (fresh.size === 0) {
      this.#rows = [...this.#rows];
      return 0;
    }
    this.#rows = merged([...fresh.values()].toSorted(later), this.#rows);
    this.#rows.splice(MAX_ROWS);
    this.#places.clear();
    this.#rows.forEach(({ request_id }, index) => this.#places.set(request_id, index));
    return fresh.size;
  }

  #replace(index: number, line: ListedRequest): void {
    const old = this.#rows[index];
    // A line of a list that was on its way does not bring back what a later one ended.
    if (old === undefined || (old.state !== 'running' && line.state === 'running')) return;
    this.#rows[index] = line;
  }
}

const later = (one: ListedRequest, other: ListedRequest): number =>
  one.time < other.time ? 1 : one.time > other.time ? -1 : 0;

function merged(fresh: readonly ListedRequest[], rows: readonly ListedRequest[]): ListedRequest[] {
  const out: ListedRequest[] = [];
  let at = 0;
  for (const line of fresh) {
    for (; at < rows.length && later(rows[at]!, line) < 0; at += 1) out.push(rows[at]!);
    out.push(line);
  }
  for (; at < rows.length; at += 1) out.push(rows[at]!);
  return out;
}

/** The next row of those shown: `j` and `k` follow the filter. */
export function step(shown: readonly ListedRequest[], id: string | null, by: 1 | -1): string | undefined {
  const at = id === null ? -1 : shown.findIndex(({ request_id }) => request_id === id);
  const next = at === -1 && by === -1 ? 0 : at + by;
  return shown[Math.max(0, Math.min(shown.length - 1, next))]?.request_id;
}

type Value = string | number | undefined;

/** The value of a line for each filter. */
const VALUES: Readonly<Record<string, (line: ListedRequest) => readonly Value[]>> = {
  key: ({ key_id: id }) => [id],
  team: ({ team }) => [team],
  config: ({ config_id: id }) => [id],
  provider: ({ provider }) => [provider],
  model: ({ request_model: model, alias }) => [model, alias],
  target: ({ target_name: name, target }) => [name, target],
  status: ({ status }) => [status],
  error: ({ error }) => [error?.code],
};

const LABEL = 'label.';
/** The lines whose values are offered. */
const MOST_SEEN = 2000;

/** Values of the loaded rows, by the names of filters. */
export function valuesOf(rows: readonly ListedRequest[]): Record<string, Set<string>> {
  const found: Record<string, Set<string>> = {};
  const see = (name: string, value: Value): void => {
    if (value !== undefined && value !== '') (found[name] ??= new Set()).add(String(value));
  };
  for (const row of rows.slice(0, MOST_SEEN)) {
    for (const [name, of] of Object.entries(VALUES)) for (const value of of(row)) see(name, value);
    for (const [name, value] of Object.entries(row.metadata ?? {})) see(`${LABEL}${name}`, value);
  }
  return found;
}

/** The line is one that the filter of the address lets through, as far as a line says it. */
export function matches(line: ListedRequest, query: URLSearchParams): boolean {
  const ofLabel = (name: string): readonly Value[] =>
    name.startsWith(LABEL) ? [line.metadata?.[name.slice(LABEL.length)]] : [];
  const fits = (name: string): boolean => {
    const values = VALUES[name]?.(line) ?? ofLabel(name);
    const all = name === 'status' ? [...values, `${String(values[0])[0]}xx`] : values;
    return query.getAll(name).some((wanted) => all.some((value) => String(value) === wanted));
  };
  const names = [...new Set(query.keys())].filter((name) => Object.hasOwn(VALUES, name) || name.startsWith(LABEL));
  const [least, words] = [query.get('min_ms'), query.get('q')];
  return (
    names.every(fits) &&
    (least === null || line.duration_ms >= Number(least)) &&
    (words === null || JSON.stringify(line).toLowerCase().includes(words.toLowerCase()))
  );
}
