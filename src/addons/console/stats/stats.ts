import {
  MAX_STATS_POINTS,
  STATS_STEPS,
  type StatsAnswer,
  type StatsQuery,
} from '../../../core/process/console-port.ts';
import type { RequestRecord } from '../../../core/record/record.ts';
import type { Clock } from '../../../plugin/index.ts';
import { addCell, count, dimensionsOf, type Cell } from './cells.ts';
import type { StatsFiles } from './stats-files.ts';
import { cellIn, StatsLevel, seriesOf, type CellStep } from './series.ts';

const HOUR_S = 3600;
const FINE_S = 10;
const COARSE_S = 300;
const KEPT_DAYS = 35;
const SEND_MS = 1_000;

/** The counts of a process that it has not told yet. */
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
      const other = await this.#stepsOf(from, to, seconds);
      if (!found || other.completeSince < found.completeSince) found = other;
      if (found.completeSince <= from) break;
    }
    const { steps = [], ...rest } = found ?? { stepSeconds: FINE_S, since: from, completeSince: this.#since };
    return { ...rest, points: steps.length, ...seriesOf(steps, query) };
  }

  async #stepsOf(from: number, to: number, stepSeconds: number): Promise<Found> {
    const level = [this.#coarse, this.#minutes, this.#fine].find(({ seconds }) => stepSeconds % seconds === 0)!;
    const [ms, ownMs] = [stepSeconds * 1000, level.seconds * 1000];
    const since = Math.floor(from / ms) * ms;
    const points = Math.min(MAX_STATS_POINTS, Math.max(1, Math.ceil((to - since) / ms)));
    const files = level === this.#coarse ? this.#files : undefined;
    const kept = await files?.read(since, since + points * ms, (at) => level.get(at / ownMs) !== undefined);
    const steps = Array.from({ length: points }, (_, index) => {
      const start = since + index * ms;
      const own = Array.from({ length: ms / ownMs }, (__, at) => start + at * ownMs);
      return own
        .flatMap((at) => [level.get(at / ownMs), kept?.get(at)])
        .reduce<CellStep | undefined>((sum, one) => joined(sum, one), undefined);
    });
    const inMemory = Math.max(this.#since, level.completeSince);
    // Files have what memory has not, of the step in which the process began among it.
    const before = [...(kept?.keys() ?? [])].filter((at) => at < inMemory);
    return { stepSeconds, since, steps, completeSince: Math.min(inMemory, ...before) };
  }
}

interface Found extends Pick<StatsAnswer, 'stepSeconds' | 'since' | 'completeSince'> {
  readonly steps: readonly (CellStep | undefined)[];
}

const isFine = (seconds: number, ms: number): boolean => ms / 1000 / seconds <= MAX_STATS_POINTS;

function joined(one: CellStep | undefined, other: CellStep | undefined): CellStep | undefined {
  if (!one || !other) return one ?? other;
  const sum = new Map<string, Cell>();
  for (const cell of [...one.values(), ...other.values()]) addCell(cellIn(sum, cell.dims), cell);
  return sum;
}
