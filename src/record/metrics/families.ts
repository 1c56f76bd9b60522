import type { RecordedAttempt, RequestRecord } from '../record.ts';
import {
  each,
  KEY_ID,
  NO_CALLER,
  OTHER,
  type AttemptLabels,
  type CallerLabels,
  type MetricSpec,
  type Note,
} from './metric-spec.ts';

/**
 * Maximum label sets of one metric: 1,000 histogram sets already take 330 ms to render, on the event loop (measured
 * with prom-client 15.1.3).
 */
export const MAX_LABEL_SETS = 2000;

/**
 * Maximum label sets of a `byCaller` counter: 1,000 keys that use 5 models each, with 3 kinds of tokens. A counter has one
 * line per label set, a histogram 19.
 */
export const MAX_CALLER_LABEL_SETS = 20_000;

/**
 * Maximum label sets of one key: the metadata of one caller must not take the places of others. As many places are
 * reserved for the sums over all callers.
 */
const MAX_SETS_OF_KEY = MAX_CALLER_LABEL_SETS / 10;

/** All callers whose own series have no place. */
const OTHER_CALLERS: CallerLabels = { key: OTHER, labels: { [KEY_ID]: OTHER } };

export type Labels<L extends string> = Readonly<Record<L, string>>;

/** An unused series is removed after this time. It restarts at 0, which Prometheus takes for a counter reset. */
export const SERIES_IDLE_MS = 24 * 60 * 60 * 1000;

type AnyLabels = Readonly<Record<string, string>>;

/** The common fields of a series. */
interface Series<L extends string> {
  readonly labels: Labels<L>;
  /** Of `byCaller` counters. */
  readonly keyId: string | undefined;
  /** Whether it was used since the last scrape. */
  used: boolean;
  /** Time of the first scrape after the latest use. */
  usedAt: number;
  /** It is never removed. */
  kept: boolean;
}

/** A value as prom-client's registry prints it. */
interface Sample {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  readonly metricName?: string;
}

/**
 * One metric and its label sets. Recording updates a cell found by its label values: about 0.15 µs, while prom-client's
 * own children hash and validate their labels on every call (0.6–0.8 µs measured, and some 20 calls per request).
 * prom-client's registry collects a family like its own metrics: it reads `name`, `type` and `get()`. Beyond the
 * maximum number of label sets, counters and histograms record under `__other__`, so that sums stay exact, and gauges
 * drop the value: a sum of unrelated gauges would be meaningless. A counter with labels of callers first gives up those,
 * so that the sums over all callers stay exact by model and by route.
 */
abstract class Family<L extends string, Cell extends Series<L>> {
  /** prom-client writes to it: see `rememberNames` in registry.ts. */
  name: string;
  readonly spec: MetricSpec;
  readonly help: string;
  readonly type: MetricSpec['type'];
  readonly aggregator: string;
  protected readonly cells = new Map<string, Cell>();
  readonly #labelNames: readonly string[];
  readonly #maxSets: number;
  /** Whose request is being counted. Counting is synchronous. */
  #caller = NO_CALLER;
  readonly #setsOfKeys = new Map<string, number>();
  readonly #onOverflow: () => void;
  readonly #now: () => number;

  /** @param now monotonic milliseconds. Default: time stands still, and every series stays */
  constructor(spec: MetricSpec, onOverflow: () => void, now: () => number = () => 0) {
    this.spec = spec;
    this.name = spec.name;
    this.help = spec.help;
    this.type = spec.type;
    this.aggregator = spec.aggregator ?? 'sum';
    this.#labelNames = spec.labels;
    this.#maxSets = spec.byCaller ? MAX_CALLER_LABEL_SETS : MAX_LABEL_SETS;
    this.#onOverflow = onOverflow;
    this.#now = now;
  }

  protected abstract create(series: Series<L>): Cell;
  protected abstract samples(cell: Cell): Sample[];
  /** Undefined for gauges: no record sets them. */
  protected abstract readonly note: Note<L> | undefined;

  countRequest(record: RequestRecord, caller: CallerLabels): void {
    this.#caller = caller;
    if (this.note) this.spec.ofRequest?.(record, this.note);
    this.#caller = NO_CALLER;
  }

  countAttempt(attempt: RecordedAttempt, labels: AttemptLabels, caller: CallerLabels): void {
    this.#caller = caller;
    if (this.note) this.spec.ofAttempt?.(attempt, labels, this.note);
    this.#caller = NO_CALLER;
  }

  /** Removes unused series. `retired` contains their last samples, which never appear among the values again. */
  get(): Promise<object> {
    const retired = this.type === 'gauge' ? [] : this.#retire();
    const values = [...this.cells.values()].flatMap((cell) => this.samples(cell));
    const { name, help, type, aggregator } = this;
    return Promise.resolve({ name, help, type, aggregator, values, ...(retired.length > 0 && { retired }) });
  }

  /** Use times are set here, once per scrape, instead of some twenty times per request. */
  #retire(): Sample[] {
    const now = this.#now();
    const retired: Sample[] = [];
    for (const [key, cell] of this.cells) {
      if (cell.used) {
        cell.used = false;
        cell.usedAt = now;
      } else if (!cell.kept && now - cell.usedAt >= SERIES_IDLE_MS) {
        this.cells.delete(key);
        this.#forgetSetOf(cell);
        retired.push(...this.samples(cell));
      }
    }
    return retired;
  }

  #forgetSetOf({ keyId }: Cell): void {
    if (keyId === undefined) return;
    const left = (this.#setsOfKeys.get(keyId) ?? 1) - 1;
    if (left > 0) this.#setsOfKeys.set(keyId, left);
    else this.#setsOfKeys.delete(keyId);
  }

  /** Creates the series of `zero` in the metric's row. */
  declareZero(routes: readonly string[]): void {
    const { zero = [], labels } = this.spec;
    const perRoute = labels.includes('route') ? each('route', routes) : [{}];
    for (const route of perRoute) for (const others of zero) this.#keep({ ...route, ...others });
  }

  /** Creates the series before its first value and keeps it, so that a rate exists before the first event. */
  declare(labels: Labels<L>): void {
    this.#keep(labels);
  }

  #keep(labels: Readonly<Record<string, string>>): void {
    const cell = this.find(labels);
    if (cell) cell.kept = true;
  }

  /** Declares these series and releases earlier declared ones, which are removed when unused. */
  declareOnly(all: readonly Labels<L>[]): void {
    for (const cell of this.cells.values()) cell.kept = false;
    for (const labels of all) this.declare(labels);
  }

  /** Every label set with a recorded value. */
  get labelSets(): readonly Labels<L>[] {
    return [...this.cells.values()].map(({ labels }) => labels);
  }

  reset(): void {
    this.cells.clear();
    this.#setsOfKeys.clear();
  }

  protected find(labels: Readonly<Record<string, string>>): Cell | undefined {
    const caller = this.spec.byCaller ? this.#caller : undefined;
    const key = this.#key(labels, caller);
    const cell = this.cells.get(key) ?? this.#open(key, labels, caller);
    if (cell) cell.used = true;
    return cell;
  }

  #open(key: string, labels: AnyLabels, caller: CallerLabels | undefined): Cell | undefined {
    const room = this.#maxSets - this.cells.size;
    const isOfCaller = caller !== undefined && caller !== NO_CALLER && caller !== OTHER_CALLERS;
    // The last place is reserved for `__other__`, which gauges do not have.
    const reserved = isOfCaller ? MAX_SETS_OF_KEY : this.type === 'gauge' ? 0 : 1;
    const hasShare = caller === undefined || this.#setsOf(caller) < MAX_SETS_OF_KEY;
    if (room > reserved && hasShare) return this.#put(key, labels, caller);
    if (isOfCaller) {
      this.#onOverflow();
      return this.#found(labels, OTHER_CALLERS);
    }
    if (caller !== OTHER_CALLERS) this.#onOverflow();
    if (this.type === 'gauge') return undefined;
    const others = this.#labels(() => OTHER);
    const ofOthers = caller && OTHER_CALLERS;
    const otherKey = this.#key(others, ofOthers);
    return this.cells.get(otherKey) ?? this.#put(otherKey, others, ofOthers);
  }

  #found(labels: AnyLabels, caller: CallerLabels): Cell | undefined {
    const key = this.#key(labels, caller);
    return this.cells.get(key) ?? this.#open(key, labels, caller);
  }

  #put(key: string, labels: AnyLabels, caller: CallerLabels | undefined): Cell {
    const own = { ...this.#labels((name) => labels[name] ?? ''), ...caller?.labels };
    const keyId = caller?.labels[KEY_ID];
    const cell = this.create({ labels: own, keyId, used: true, usedAt: 0, kept: false });
    this.cells.set(key, cell);
    if (caller && keyId !== undefined) this.#setsOfKeys.set(keyId, this.#setsOf(caller) + 1);
    return cell;
  }

  #setsOf({ labels }: CallerLabels): number {
    return this.#setsOfKeys.get(labels[KEY_ID] ?? '') ?? 0;
  }

  #key(labels: AnyLabels, caller: CallerLabels | undefined): string {
    let key = '';
    for (const name of this.#labelNames) key += `${labels[name]}\u0000`;
    return caller ? key + caller.key : key;
  }

  #labels(valueOf: (name: string) => string): Labels<L> {
    return Object.fromEntries(this.#labelNames.map((name) => [name, valueOf(name)])) as Labels<L>;
  }
}

interface NumberCell<L extends string> extends Series<L> {
  value: number;
}

abstract class NumberFamily<L extends string> extends Family<L, NumberCell<L>> {
  protected override create(series: Series<L>): NumberCell<L> {
    return { ...series, value: 0 };
  }

  protected override samples({ labels, value }: NumberCell<L>): Sample[] {
    return [{ labels, value }];
  }

  protected shift(labels: Labels<L>, by: number): void {
    const cell = this.find(labels);
    if (cell) cell.value += by;
  }
}

export class CounterFamily<L extends string> extends NumberFamily<L> {
  protected override readonly note: Note<L> = (labels, value) => this.add(labels, value);

  add(labels: Labels<L>, value = 1): void {
    // One NaN would make the sum NaN permanently.
    if (!(value >= 0 && value < Infinity)) throw new RangeError(`${this.spec.name} cannot count ${value}`);
    this.shift(labels, value);
  }
}

export class GaugeFamily<L extends string> extends NumberFamily<L> {
  protected override readonly note = undefined;

  add(labels: Labels<L>, value: number): void {
    this.shift(labels, value);
  }

  set(labels: Labels<L>, value: number): void {
    const cell = this.find(labels);
    if (cell) cell.value = value;
  }
}

interface HistogramCell<L extends string> extends Series<L> {
  /** Per bucket, not cumulative; the last one is +Inf. */
  readonly counts: Float64Array;
  sum: number;
}

export class HistogramFamily<L extends string> extends Family<L, HistogramCell<L>> {
  readonly #bounds: readonly number[];
  protected override readonly note: Note<L> = (labels, value = 1) => this.observe(labels, value);

  constructor(spec: MetricSpec, onOverflow: () => void, now?: () => number) {
    super(spec, onOverflow, now);
    this.#bounds = spec.buckets ?? [];
  }

  protected override create(series: Series<L>): HistogramCell<L> {
    return { ...series, counts: new Float64Array(this.#bounds.length + 1), sum: 0 };
  }

  observe(labels: Labels<L>, value: number): void {
    if (!Number.isFinite(value)) throw new RangeError(`${this.spec.name} cannot observe ${value}`);
    const cell = this.find(labels);
    if (!cell) return;
    let index = 0;
    while (index < this.#bounds.length && value > this.#bounds[index]!) index += 1;
    cell.counts[index]! += 1;
    cell.sum += value;
  }

  protected override samples({ labels, counts, sum }: HistogramCell<L>): Sample[] {
    const { name } = this.spec;
    let count = 0;
    const buckets = [...this.#bounds, '+Inf'].map((le, index): Sample => {
      count += counts[index]!;
      return { labels: { ...labels, le }, value: count, metricName: `${name}_bucket` };
    });
    return [
      ...buckets,
      { labels, value: sum, metricName: `${name}_sum` },
      { labels, value: count, metricName: `${name}_count` },
    ];
  }
}
