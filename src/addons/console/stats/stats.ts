import {
  MAX_STATS_POINTS,
  STATS_STEPS,
  type StatsAnswer,
  type StatsQuery,
} from '../../../core/process/console-port.ts';
import type { RequestRecord } from '../../../core/record/record.ts';
import type { Clock } from '../../../plugin/index.ts';
import { count, dimensionsOf, type Cell } from './cells.ts';
import type { StatsFiles } from './stats-files.ts';
import { cellIn, SeriesSums, StatsLevel } from './series.ts';

const HOUR_S = 3600;
const FINE_S = 10;
const COARSE_S = 300;
const KEPT_DAYS = 35;
const SEND_MS = 1_000;

export interface CountedStep {
  /** Of `FINE_S`, since 1970. */
  readonly step: number;
  readonly cells: readonly Cell[];
}

/** Counts the requests of a process, and tells about once a second what it has counted. */
export class StatsCounter {
  readonly #clock: Clock;
  readonly #tell: (counted: CountedStep) => void;
  #cells = new Map<string, Cell>();
  #step = 0;

  constructor(clock: Clock, tell: (counted: CountedStep) => void) {
    this.#clock = clock;
    this.#tell = tell;
  }

  count(record: RequestRecord): void {
    const step = Math.floor((record.receivedAt + record.durationMs) / 1000 / FINE_S);
    if (step !== this.#step) this.flush();
    this.#step = step;
    if (this.#cells.size === 0) this.#clock.after(SEND_MS, () => this.flush());
    count(cellIn(this.#cells, dimensionsOf(record)), record);
  }

  flush(): void {
    if (this.#cells.size === 0) return;
    this.#tell({ step: this.#step, cells: [...this.#cells.values()] });
    this.#cells = new Map();
  }
}

/** The counts of all processes, in steps of three lengths. */
export class Stats {
  readonly #fine = new StatsLevel(FINE_S, MAX_STATS_POINTS * FINE_S);
  readonly #minutes = new StatsLevel(60, 48 * HOUR_S);
  readonly #coarse = new StatsLevel(COARSE_S, KEPT_DAYS * 24 * HOUR_S);
  readonly #files: StatsFiles | undefined;
  readonly #since: number;
  /** The step of `#coarse` that is not in a file yet. */
  #unwritten: number | undefined;

  /** @param files keep the longest steps. Undefined: there is no state store */
  constructor(clock: Pick<Clock, 'wall'>, files: StatsFiles | undefined) {
    this.#files = files;
    this.#since = clock.wall();
  }

  add({ step, cells }: CountedStep): void {
    const at = step * FINE_S;
    this.#fine.add(step, cells);
    this.#minutes.add(Math.floor(at / 60), cells);
    const coarse = Math.floor(at / COARSE_S);
    if (this.#unwritten !== undefined && coarse > this.#unwritten) this.write();
    this.#unwritten = Math.max(this.#unwritten ?? coarse, coarse);
    this.#coarse.add(coarse, cells);
  }

  /** Writes the last step to its file: a later part of it is another line. */
  write(): void {
    const step = this.#unwritten;
    const cells = step === undefined ? undefined : this.#coarse.get(step);
    if (step !== undefined && cells) this.#files?.append(step * COARSE_S * 1000, [...cells.values()]);
    this.#unwritten = undefined;
  }

  async read({ from, to, stepSeconds, ...query }: StatsQuery): Promise<StatsAnswer> {
    const lengths = stepSeconds === undefined ? STATS_STEPS.filter((one) => isFine(one, to - from)) : [stepSeconds];
    let found: Found | undefined;
    for (const seconds of lengths) {
      const other = await this.#sumsOf(from, to, seconds, query);
      if (!found || other.completeSince < found.completeSince) found = other;
      if (found.completeSince <= from) break;
    }
    const { sums = new SeriesSums(0, query), ...rest } = found ?? {
      stepSeconds: FINE_S,
      since: from,
      points: 0,
      completeSince: this.#since,
    };
    return { ...rest, ...sums.series() };
  }

  async #sumsOf(from: number, to: number, stepSeconds: number, query: Summed): Promise<Found> {
    const level = [this.#coarse, this.#minutes, this.#fine].find(({ seconds }) => stepSeconds % seconds === 0)!;
    const [ms, ownMs] = [stepSeconds * 1000, level.seconds * 1000];
    const since = Math.floor(from / ms) * ms;
    const points = Math.min(MAX_STATS_POINTS, Math.max(1, Math.ceil((to - since) / ms)));
    const sums = new SeriesSums(points, query);
    const add = (at: number, cells: Iterable<Cell>): void => sums.add(Math.floor((at - since) / ms), cells);
    for (let at = since; at < since + points * ms; at += ownMs) add(at, level.get(at / ownMs)?.values() ?? []);
    let completeSince = Math.max(this.#since, level.completeSince);
    const files = level === this.#coarse ? this.#files : undefined;
    await files?.read(
      { from: since, to: since + points * ms },
      (at) => level.get(at / ownMs) !== undefined,
      (at, cells) => {
        add(at, cells);
        // Files have what memory has not, of the step in which the process began among it.
        completeSince = Math.min(completeSince, at);
      },
    );
    return { stepSeconds, since, points, sums, completeSince };
  }
}

type Summed = Pick<StatsQuery, 'by' | 'filters'>;

interface Found extends Pick<StatsAnswer, 'stepSeconds' | 'since' | 'points' | 'completeSince'> {
  readonly sums: SeriesSums;
}

const isFine = (seconds: number, ms: number): boolean => ms / 1000 / seconds <= MAX_STATS_POINTS;
