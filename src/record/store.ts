import type { Clock, Exchange } from '../plugin/index.ts';
import { boundRecord, type BoundedRecord } from './bounded-record.ts';
import { recordJson, recordLineJson } from './json.ts';
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
export interface OpenRequest {
  readonly exchange: Exchange;
  /** Wall clock. */
  readonly receivedAt: number;
}

/**
 * The latest requests. A running request is stored as its exchange and gets a record when a query reads it. There is no
 * index: scanning all of them takes a millisecond per admin query, while an index would cost time in every request.
 */
export class RecordStore {
  readonly #clock: Clock;
  readonly #open = new Set<OpenRequest>();
  /** A ring buffer once it is full; then `#next` is the oldest entry. */
  #kept: BoundedRecord[] = [];
  #next = 0;
  #capacity = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
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

  /** Ends a request, with its record or without one if recording failed. */
  end(request: OpenRequest, record: BoundedRecord | undefined): void {
    this.#open.delete(request);
    if (!record || this.#capacity === 0) return;
    if (this.#kept.length < this.#capacity) {
      this.#kept.push(record);
      return;
    }
    this.#kept[this.#next] = record;
    this.#next = (this.#next + 1) % this.#capacity;
  }

  /** The latest request with this id, as plain JSON. Callers may choose ids, so several requests can share one. */
  find(id: string): object | undefined {
    if (this.#capacity === 0) return undefined;
    const same = [...this.#all((record) => record.id === id)];
    const [latest] = same;
    if (!latest) return undefined;
    return { ...recordJson(latest), ...(same.length > 1 && { same_id: same.length }) };
  }

  /** The request with this explain id, as plain JSON. */
  explained(explainId: string): object | undefined {
    if (this.#capacity === 0) return undefined;
    const [record] = this.#all((one) => one.explainId === explainId);
    return record && recordJson(record);
  }

  /** One line per request, as plain JSON: running requests, then ended ones, latest first. */
  list({ limit, state, key, config }: RecordQuery): object[] {
    if (this.#capacity === 0) return [];
    const matches = (record: RequestRecord): boolean =>
      (state === undefined || record.state === state) &&
      (key === undefined || record.keyId === key) &&
      (config === undefined || record.configId === config);
    const lines: object[] = [];
    for (const record of this.#all(matches)) {
      if (lines.length === limit) break;
      lines.push(recordLineJson(record));
    }
    return lines;
  }

  *#all(matches: (record: BoundedRecord) => boolean): Generator<BoundedRecord> {
    for (const request of [...this.#open].toReversed()) {
      const record = this.#recordOf(request);
      if (matches(record)) yield record;
    }
    for (const record of this.#latestFirst()) if (matches(record)) yield record;
  }

  #latestFirst(): BoundedRecord[] {
    return [...this.#kept.slice(this.#next), ...this.#kept.slice(0, this.#next)].toReversed();
  }

  #recordOf({ exchange, receivedAt }: OpenRequest): BoundedRecord {
    const end = { state: 'running', status: exchange.reply?.status ?? 0, bytes: 0, error: undefined } as const;
    return boundRecord(recordOf(exchange, end, { endedAt: this.#clock.now(), receivedAt }));
  }
}
