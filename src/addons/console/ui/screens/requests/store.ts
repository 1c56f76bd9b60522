import { signal } from '@preact/signals';
import { api, type ApiRefusal, ask, asRefusal, onLines } from '../../api/index.ts';
import type { ListedRequest } from '../../api/shapes.ts';
import { isFilter } from '../../parts/filter-text.ts';
import { isIn, matches, Rows } from './rows.ts';

const PAGE = 200;
const MAX_HELD = 2000;

/** The members of the address that the server filters by, in one order. */
export function filterOf(query: URLSearchParams): URLSearchParams {
  const kept = [...query].filter(([name]) => isFilter(name) || ['q', 'since', 'until'].includes(name));
  return new URLSearchParams(kept.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** The rows of one filter: read page by page, and kept up to date by the stream. */
export class RequestStore {
  readonly filter: URLSearchParams;
  /** Grows with each change of the rows. */
  readonly turn = signal(0);
  readonly loading = signal(true);
  readonly error = signal<ApiRefusal | undefined>(undefined);
  /** New rows that wait until the person is back at the top, or goes on. */
  readonly held = signal(0);
  readonly rows = new Rows();
  oldest: string | undefined;
  partial: readonly number[] = [];
  #held: ListedRequest[] = [];
  #holding = false;
  /** By the state that a list was asked for: the cursor of its next page; null: there is none. */
  readonly #next = new Map<string, string | null>();
  /** The oldest row of the list of all states: counts and bars begin there. */
  #since = '';
  readonly #aborting = new AbortController();
  readonly #unlisten: () => void;

  constructor(filter: URLSearchParams) {
    this.filter = filter;
    this.#unlisten = onLines((lines) => this.#take(lines));
    void this.load('');
  }

  close(): void {
    this.#unlisten();
    this.#aborting.abort();
  }

  /** The list of all states has no further page. */
  get isWhole(): boolean {
    return this.#next.get('') === null;
  }

  /** Rows that the list of all states covers: what the strip and the counts are about. */
  covered(): readonly ListedRequest[] {
    return this.rows.all.filter(({ time }) => time >= this.#since);
  }

  shown(state: string | null): readonly ListedRequest[] {
    if (state === null) return this.covered();
    return this.rows.all.filter((line) => isIn(state, line));
  }

  /** The first or the next page of a state; '' has all of them. */
  async load(state: string): Promise<void> {
    const cursor = this.#next.get(state);
    if (cursor === null || this.#asked.has(state)) return;
    this.#asked.add(state);
    this.loading.value = true;
    const query = new URLSearchParams(this.filter);
    query.set('limit', String(PAGE));
    if (cursor !== undefined) query.set('cursor', cursor);
    if (state !== '') query.set('state', state);
    try {
      // The filter has members of any name: it is written whole.
      const page = await ask(
        api.GET('/requests', { querySerializer: () => query.toString(), signal: this.#aborting.signal }),
      );
      // The document leaves members of a line open that this page knows.
      const items = page.items as readonly ListedRequest[];
      this.rows.add(items);
      this.#next.set(state, page.next ?? null);
      if (state === '') {
        this.#since = page.next === undefined ? '' : (items.at(-1)?.time ?? '');
        this.oldest = page.oldest ?? undefined;
        this.partial = page.partial ?? [];
      }
      this.error.value = undefined;
    } catch (error) {
      if (!this.#aborting.signal.aborted) this.error.value = asRefusal(error);
    } finally {
      this.#asked.delete(state);
      this.loading.value = false;
      this.turn.value += 1;
    }
  }

  readonly #asked = new Set<string>();

  hold(is: boolean): void {
    this.#holding = is;
    if (!is) this.release();
  }

  release(): void {
    if (this.#held.length === 0) return;
    this.rows.add(this.#held);
    this.#held = [];
    this.held.value = 0;
    this.turn.value += 1;
  }

  #take(lines: readonly ListedRequest[]): void {
    const until = this.filter.get('until');
    const own = lines.filter((line) => matches(line, this.filter) && (until === null || line.time < until));
    if (own.length === 0) return;
    if (this.#holding) {
      this.#held = [...this.#held, ...own].slice(-MAX_HELD);
      this.held.value = this.#held.length;
      return;
    }
    this.rows.add(own);
    this.turn.value += 1;
  }
}
