import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../plugin/index.ts';
import type { Exchange } from '../kernel/index.ts';
import { LiveList, type Listed } from '../kernel/live-list.ts';
import { boundRecord, type BoundedRecord } from './bounded-record.ts';
import { rawRecord, recordJson, recordLine } from './json.ts';
import { recordOf } from './make-record.ts';
import {
  comparePlaces,
  isPageFull,
  mayHaveState,
  recordFilter,
  type PlacedLine,
  type RecordMarks,
  type RecordPage,
  type RecordPlace,
  type RecordQuery,
} from './record-query.ts';

/** A request whose reply has not ended. */
export interface OpenRequest extends Listed<OpenRequest> {
  readonly exchange: Exchange;
  /** Wall clock. */
  readonly receivedAt: number;
}

/** The record of an ended request. */
interface KeptRecord {
  readonly record: BoundedRecord;
  /** Grows with each record that is kept: its place in a list. */
  readonly at: number;
}

/** A record that a query may show. */
interface FoundRecord {
  readonly place: RecordPlace;
  readonly record: BoundedRecord;
}

interface FittingRecord extends FoundRecord {
  readonly filter: ReturnType<typeof recordFilter>;
  readonly whole: boolean | undefined;
}

/** Undefined: only its credentials fit. An answer must not tell that a record has one. */
function lineOf({ place, record, filter, whole }: FittingRecord): PlacedLine | undefined {
  const json = recordJson(record);
  return !filter || filter(json) ? { place, line: whole ? json : recordLine(json) } : undefined;
}

/** The wall clock of a request and the one of a list may differ by this much. */
const SKEW_MS = 5;

/** A list is made in slices, between which requests are served: to filter 10,000 records takes 100 ms (measured). */
const SLICE = 100;

/**
 * The latest requests. A running one gets its record when a query reads it; an ended one becomes JSON then. There is no
 * index: a scan takes a millisecond per query, an index would take time in every request.
 */
export class RecordStore {
  readonly #clock: Clock;
  readonly #flush: () => void;
  readonly #open = new LiveList<OpenRequest>();
  /** A ring buffer once it is full; then `#next` is the oldest entry. */
  #kept: KeptRecord[] = [];
  #next = 0;
  #capacity = 0;
  #latestAt = 0;

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

  /** Stores the record of an ended request, in place of the oldest one once the ring is full. */
  keep(record: BoundedRecord): void {
    if (this.#capacity === 0) return;
    // Of the wall clock, so that the places of several processes can be compared, and never twice the same.
    const at = Math.max(this.#latestAt + 1, Math.floor((record.receivedAt + record.durationMs) * 1000));
    this.#latestAt = at;
    if (this.#kept.length < this.#capacity) {
      this.#kept.push({ record, at });
      return;
    }
    this.#kept[this.#next] = { record, at };
    this.#next = (this.#next + 1) % this.#capacity;
  }

  /** The latest request with this id, as plain JSON. Callers may choose ids, so several requests can share one. */
  find(id: string): object | undefined {
    const same = [...this.#stored((record) => record.id === id)];
    const [latest] = same;
    if (latest === undefined) return undefined;
    return { ...recordJson(latest.record), ...(same.length > 1 && { same_id: same.length }) };
  }

  /** The request with this explain id, as plain JSON. */
  explained(explainId: string): object | undefined {
    const [latest] = this.#stored((record) => record.explainId === explainId);
    return latest === undefined ? undefined : recordJson(latest.record);
  }

  /** One line per request, as plain JSON: running requests, then ended ones, latest first. */
  list(query: RecordQuery): object[] {
    const lines: object[] = [];
    for (const one of this.#found(query)) {
      if (lines.length === query.limit) break;
      const line = one && lineOf(one);
      if (line) lines.push(line.line);
    }
    return lines;
  }

  /** The same a page at a time, while requests are served. */
  async page(query: RecordQuery): Promise<RecordPage> {
    const lines: PlacedLine[] = [];
    let [more, missed] = [false, 0];
    // Before the first slice: what comes meanwhile belongs to the next page.
    this.#flush();
    const marks = this.#marks();
    for (const one of this.#found(query)) {
      if (!one) await setImmediate();
      else if (!isPageFull(lines, one.place, query.limit))
        lines.push(...[lineOf(one)].filter((line) => line !== undefined));
      else if (query.newer) missed += 1;
      else {
        more = true;
        break;
      }
    }
    const oldest = this.#kept.length < this.#capacity ? this.#kept[0] : this.#kept[this.#next];
    const since = oldest && new Date(oldest.record.receivedAt).toISOString();
    return { lines, more, oldest: since, marks, ...(query.newer && { missed }) };
  }

  /** No request that ends or arrives later has such a place. */
  #marks(): RecordMarks {
    const now = this.#clock.wall() - SKEW_MS;
    const running = this.#open.all().reduce((latest, { receivedAt }) => Math.max(latest, receivedAt), now);
    return { running, ended: Math.max(this.#latestAt, now * 1000) };
  }

  /** The records that may fit; undefined: the end of a slice. */
  *#found(query: RecordQuery): Generator<FittingRecord | undefined> {
    const { state, since = -Infinity, until = Infinity, after, newer, whole } = query;
    const filter = recordFilter(query);
    const isPossible = ({ state: own, receivedAt }: BoundedRecord, place: RecordPlace): boolean =>
      mayHaveState(own, state) &&
      receivedAt >= since &&
      receivedAt < until &&
      (after === undefined || comparePlaces(after, place) < 0);
    let examined = 0;
    for (const { place, record } of this.#stored(isPossible, newer)) {
      examined += 1;
      if (examined % SLICE === 0) yield undefined;
      if (!filter || filter(rawRecord(record))) yield { place, record, filter, whole };
    }
  }

  /** The records, of running requests first, latest first. */
  *#stored(
    matches: (record: BoundedRecord, place: RecordPlace) => boolean,
    newer: RecordMarks = { running: -Infinity, ended: -Infinity },
  ): Generator<FoundRecord> {
    this.#flush();
    if (this.#capacity === 0) return;
    const open = this.#open.all().toReversed();
    for (const request of open.toSorted((one, other) => other.receivedAt - one.receivedAt)) {
      if (request.receivedAt <= newer.running) continue;
      const place = { running: true, at: request.receivedAt };
      const record = this.#recordOf(request);
      if (matches(record, place)) yield { place, record };
    }
    let before = Infinity;
    for (const kept of this.#latestFirst()) {
      // Between two slices a later record may have taken the place of this one.
      if (kept.at >= before) continue;
      before = kept.at;
      if (kept.at <= newer.ended) break;
      const place = { running: false, at: kept.at };
      if (matches(kept.record, place)) yield { place, record: kept.record };
    }
  }

  #latestFirst(): KeptRecord[] {
    return [...this.#kept.slice(this.#next), ...this.#kept.slice(0, this.#next)].toReversed();
  }

  #recordOf({ exchange, receivedAt }: OpenRequest): BoundedRecord {
    const end = { state: 'running', status: exchange.reply?.status ?? 0, bytes: 0, error: undefined } as const;
    return boundRecord(recordOf(exchange, end, { endedAt: this.#clock.now(), receivedAt }));
  }
}
