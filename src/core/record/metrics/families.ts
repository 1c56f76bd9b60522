import { KEY_ID, NO_CALLER, OTHER, type CallerLabels, type MetricSpec } from './metric-spec.ts';
import {
  CounterSeries,
  GaugeSeries,
  HistogramSeries,
  type Exemplar,
  type MetricSample,
  type Series,
} from './series.ts';

/** 1,000 histogram sets already take 330 ms to render, on the event loop (measured with prom-client 15.1.3). */
export const MAX_LABEL_SETS = 2000;

/** Of a `byCaller` counter, which has one line per set: 1,000 keys with 5 models and 3 kinds of tokens each. */
export const MAX_CALLER_LABEL_SETS = 20_000;

/** One caller's metadata must not take the places of others. As many are reserved for the sums over all. */
const MAX_SETS_OF_KEY = MAX_CALLER_LABEL_SETS / 10;

const OTHER_CALLERS: CallerLabels = { key: OTHER, labels: { [KEY_ID]: OTHER } };

type Labels<L extends string> = Readonly<Record<L, string>>;

/** An unused series is removed after this time. It restarts at 0, which Prometheus takes for a counter reset. */
export const SERIES_IDLE_MS = 24 * 60 * 60 * 1000;

type AnyLabels = Readonly<Record<string, string>>;

interface SeriesKind<Cell> {
  new (...of: ConstructorParameters<typeof CounterSeries>): Cell;
  /** Throws for a value that the metric cannot have. */
  check(spec: MetricSpec, value: number): void;
}

/**
 * One metric and its label sets. Recording updates a cell found by its label values: about 0.15 µs; prom-client's own
 * children hash and validate labels on every call (0.6–0.8 µs measured, some 20 calls per request). Its registry reads
 * `name`, `type` and `get()` of a family. Beyond the maximum of label sets, counters and histograms record under
 * `__other__`, so that sums stay exact, and gauges drop the value. A counter with labels of callers first gives up
 * those, so that its sums by model and by route stay exact.
 */
abstract class Family<L extends string, Cell extends Series> {
  /** prom-client writes to it: see `rememberNames` in registry.ts. */
  name: string;
  readonly spec: MetricSpec;
  readonly help: string;
  readonly type: MetricSpec['type'];
  readonly aggregator: string;
  protected readonly cells = new Map<string, Cell>();
  readonly #labelNames: readonly string[];
  readonly #maxSets: number;
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
    this.#maxSets = spec.maxSets ?? (spec.byCaller ? MAX_CALLER_LABEL_SETS : MAX_LABEL_SETS);
    this.#onOverflow = onOverflow;
    this.#now = now;
  }

  protected abstract readonly kind: SeriesKind<Cell>;

  /** Removes unused series. `retired` contains their last samples, which never appear among the values again. */
  get(): Promise<object> {
    const retired = this.type === 'gauge' ? [] : this.#retire();
    const values = [...this.cells.values()].flatMap((cell) => cell.samples());
    const { name, help, type, aggregator } = this;
    return Promise.resolve({ name, help, type, aggregator, values, ...(retired.length > 0 && { retired }) });
  }

  /** Use times are set here, once per scrape, instead of some twenty times per request. */
  #retire(): MetricSample[] {
    const now = this.#now();
    const retired: MetricSample[] = [];
    for (const [key, cell] of this.cells) {
      if (cell.used) {
        cell.used = false;
        cell.usedAt = now;
      } else if (!cell.kept && now - cell.usedAt >= SERIES_IDLE_MS) {
        this.cells.delete(key);
        cell.removed = true;
        this.#forgetSetOf(cell);
        retired.push(...cell.samples());
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

  /** Creates a series before its first value and keeps it, so that a rate exists before the first event. */
  declare(labels: Labels<L>): void {
    const cell = this.find(labels, NO_CALLER);
    if (cell) cell.kept = true;
  }

  /** Declares these series and releases earlier declared ones, which are removed when unused. */
  declareOnly(all: readonly Labels<L>[]): void {
    for (const cell of this.cells.values()) cell.kept = false;
    for (const labels of all) this.declare(labels);
  }

  /** Every label set with its value. Reading them does not count as a scrape: no series is removed. */
  get series(): Iterable<Series> {
    return this.cells.values();
  }

  get labelSets(): readonly Labels<L>[] {
    return [...this.cells.values()].map(({ labels }) => labels as Labels<L>);
  }

  reset(): void {
    for (const cell of this.cells.values()) cell.removed = true;
    this.cells.clear();
    this.#setsOfKeys.clear();
  }

  add(labels: Labels<L>, value = 1, caller = NO_CALLER, exemplar?: Exemplar): void {
    // Before a series is created.
    this.kind.check(this.spec, value);
    this.find(labels, caller)?.add(value, exemplar);
  }

  /** The series that has exactly these labels, for repeated use while it is not `removed`. */
  held(labels: Labels<L>, caller = NO_CALLER): Cell | undefined {
    return this.cells.get(this.#key(labels, this.#ofCaller(caller)));
  }

  protected find(labels: AnyLabels, of: CallerLabels): Cell | undefined {
    const caller = this.#ofCaller(of);
    const key = this.#key(labels, caller);
    const cell = this.cells.get(key) ?? this.#open(key, labels, caller);
    if (cell) cell.used = true;
    return cell;
  }

  #ofCaller(caller: CallerLabels): CallerLabels | undefined {
    return this.spec.byCaller ? caller : undefined;
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
    const cell = new this.kind(this.spec, own, keyId);
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

  #labels(valueOf: (name: string) => string): AnyLabels {
    return Object.fromEntries(this.#labelNames.map((name) => [name, valueOf(name)]));
  }
}

export class CounterFamily<L extends string> extends Family<L, CounterSeries> {
  protected readonly kind = CounterSeries;
}

export class GaugeFamily<L extends string> extends Family<L, GaugeSeries> {
  protected readonly kind = GaugeSeries;

  set(labels: Labels<L>, value: number): void {
    const series = this.find(labels, NO_CALLER);
    if (series) series.value = value;
  }
}

export class HistogramFamily<L extends string> extends Family<L, HistogramSeries> {
  protected readonly kind = HistogramSeries;
}

export type AnyFamily = CounterFamily<string> | GaugeFamily<string> | HistogramFamily<string>;
