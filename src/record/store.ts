import type { Clock, Exchange } from '../plugin/index.ts';
import { LiveList, type Listed } from '../plugin/live-list.ts';
import { boundRecord, type BoundedRecord } from './bounded-record.ts';
import type { StoredValue } from './fields/record-field.ts';
import { recordJson, recordLineJson, storeAgain, storedRecord, type StoredRecord } from './json.ts';
import { recordOf } from './make-record.ts';
import type { RequestRecord } from './record.ts';

/** Filter of a list; unset fields match every request. */
export interface RecordQuery {
  readonly limit: number;
  readonly state?: RequestRecord['state'];
  /** Id of the gateway key. */
  readonly key?: string;
  /** Id of the gateway config. */
  readonly config?: string;
}

/** A request whose reply has not ended. */
export interface OpenRequest extends Listed<OpenRequest> {
  readonly exchange: Exchange;
  /** Wall clock. */
  readonly receivedAt: number;
}

/** What records are looked up by. */
type LookedUp = Pick<RequestRecord, 'id' | 'explainId' | 'state' | 'keyId' | 'configId'>;

/** A place for the record of an ended request. */
type KeptRecord = { -readonly [Name in keyof LookedUp]: LookedUp[Name] } & { readonly values: StoredValue[] };

/**
 * The latest requests. A running request is stored as its exchange and gets a record when a query reads it. An ended
 * one is stored as a flat list of values. There is no index: scanning all of them takes a millisecond per admin query, while an index
 * would cost time in every request.
 */
export class RecordStore {
  readonly #clock: Clock;
  readonly #flush: () => void;
  readonly #open = new LiveList<OpenRequest>();
  /** A ring buffer once it is full; then `#next` is the oldest entry. */
  #kept: KeptRecord[] = [];
  #next = 0;
  #capacity = 0;

  /** @param flush stores ended requests that still wait; called before records are read */
  constructor(clock: Clock, flush: () => void = () => {}) {
    this.#clock = clock;
    this.#flush = flush;
  }

  /** 0 stores nothing. */
  resize(capacity: number): void {
    if (capacity === this.#capacity) return;
    this.#kept = this.#latestFirst().slice(0, capacity).toReversed();
    this.#capacity = capacity;
    this.#next = 0;
  }

  begin(request: OpenRequest): void {
    this.#open.add(request);
  }

  end(request: OpenRequest): void {
    this.#open.delete(request);
  }

  /**
   * Stores the record of an ended request. Once the ring is full, the oldest record's list takes the new values: a new
   * list for each request would outlive the young generation, and fill the old one.
   */
  keep(record: BoundedRecord): void {
    if (this.#capacity === 0) return;
    const { id, explainId, state, keyId, configId } = record;
    if (this.#kept.length < this.#capacity) {
      this.#kept.push({ id, explainId, state, keyId, configId, values: storedRecord(record) });
      return;
    }
    const oldest = this.#kept[this.#next]!;
    storeAgain(record, oldest.values);
    oldest.id = id;
    oldest.explainId = explainId;
    oldest.state = state;
    oldest.keyId = keyId;
    oldest.configId = configId;
    this.#next = (this.#next + 1) % this.#capacity;
  }

  /** The latest request with this id, as plain JSON. Callers may choose ids, so several requests can share one. */
  find(id: string): object | undefined {
    const same = [...this.#stored((record) => record.id === id)];
    const [latest] = same;
    if (latest === undefined) return undefined;
    return { ...recordJson(latest), ...(same.length > 1 && { same_id: same.length }) };
  }

  /** The request with this explain id, as plain JSON. */
  explained(explainId: string): object | undefined {
    const [latest] = this.#stored((record) => record.explainId === explainId);
    return latest === undefined ? undefined : recordJson(latest);
  }

  /** One line per request, as plain JSON: running requests, then ended ones, latest first. */
  list({ limit, state, key, config }: RecordQuery): object[] {
    const matches = (record: LookedUp): boolean =>
      (state === undefined || record.state === state) &&
      (key === undefined || record.keyId === key) &&
      (config === undefined || record.configId === config);
    const lines: object[] = [];
    for (const stored of this.#stored(matches)) {
      if (lines.length === limit) break;
      lines.push(recordLineJson(stored));
    }
    return lines;
  }

  /** The stored forms of records, of running requests first, latest first. */
  *#stored(matches: (record: LookedUp) => boolean): Generator<StoredRecord> {
    this.#flush();
    if (this.#capacity === 0) return;
    for (const request of this.#open.all().toReversed()) {
      const record = this.#recordOf(request);
      if (matches(record)) yield storedRecord(record);
    }
    for (const record of this.#latestFirst()) if (matches(record)) yield record.values;
  }

  #latestFirst(): KeptRecord[] {
    return [...this.#kept.slice(this.#next), ...this.#kept.slice(0, this.#next)].toReversed();
  }

  #recordOf({ exchange, receivedAt }: OpenRequest): BoundedRecord {
    const end = { state: 'running', status: exchange.reply?.status ?? 0, bytes: 0, error: undefined } as const;
    return boundRecord(recordOf(exchange, end, { endedAt: this.#clock.now(), receivedAt }));
  }
}
