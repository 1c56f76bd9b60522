import { appendFile, mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { setImmediate as turn } from 'node:timers/promises';
import type { Cell } from './cells.ts';
import { parseJson } from '../../../formats/json/object.ts';

const DAY_MS = 86_400_000;
const KEPT_DAYS = 35;
/** Of a day: 288 steps of a hundred cells are half of it. */
const MAX_BYTES = 8 * 1024 * 1024;

const nameOf = (at: number): string => `${new Date(at).toISOString().slice(0, 10)}.jsonl`;

/** Steps of five minutes beside the state store: a file for each day, a line for each step. Nobody waits for them. */
export class StatsFiles {
  readonly #folder: string;
  readonly #run: string;
  readonly #log: Pick<Logger, 'error'>;
  #work: Promise<void> = Promise.resolve();
  #reading: Promise<void> = Promise.resolve();
  #failed = false;

  /** @param run of the process: its lines are its own */
  constructor(folder: string, run: string, log: Pick<Logger, 'error'>) {
    this.#run = run;
    this.#folder = folder;
    this.#log = log;
  }

  /** @param at start of the step, in milliseconds since 1970 */
  append(at: number, cells: readonly Cell[]): void {
    this.#work = this.#work.then(() => this.#append(at, cells)).catch((err: unknown) => this.#fail(err));
  }

  async #append(at: number, cells: readonly Cell[]): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const file = join(this.#folder, nameOf(at));
    const size = await stat(file).then(
      (found) => found.size,
      () => undefined,
    );
    if (size === undefined) await this.#removeOld(at);
    if ((size ?? 0) < MAX_BYTES) await appendFile(file, `${JSON.stringify([at, cells, this.#run])}\n`, { mode: 0o600 });
    this.#failed = false;
  }

  async #removeOld(now: number): Promise<void> {
    const oldest = nameOf(now - KEPT_DAYS * DAY_MS);
    for (const name of await readdir(this.#folder))
      if (/^\d{4}-\d\d-\d\d\.jsonl$/.test(name) && name < oldest) await rm(join(this.#folder, name));
  }

  /**
   * Tells the steps from `from` until `to`, each by its start, without those of this run that it has in memory. One reader at a time, and a
   * line at a time: a month of a busy gateway is 280 MB, and requests are served meanwhile. A line that cannot be read was cut by the end of
   * its process.
   */
  async read(
    { from, to }: { readonly from: number; readonly to: number },
    isInMemory: (at: number) => boolean,
    take: (at: number, cells: readonly Cell[]) => void,
  ): Promise<void> {
    const reading = this.#reading.then(() =>
      this.#read(from, to, (at, cells, run) => {
        if (at >= from && at < to && (run !== this.#run || !isInMemory(at))) take(at, cells);
      }),
    );
    this.#reading = reading.catch(() => {});
    return reading;
  }

  async #read(from: number, to: number, take: (...line: Line) => void): Promise<void> {
    await this.#work;
    for (let day = Math.floor(from / DAY_MS) * DAY_MS; day < to; day += DAY_MS)
      for (const line of (await readFile(join(this.#folder, nameOf(day)), 'utf8').catch(() => '')).split('\n')) {
        const read = parse(line);
        if (!read) continue;
        take(...read);
        await turn();
      }
  }

  async close(): Promise<void> {
    await this.#work;
  }

  /** Logged once, until something can be written again. */
  #fail(err: unknown): void {
    if (!this.#failed) this.#log.error({ err }, 'statistics cannot be written to the folder of the state store');
    this.#failed = true;
  }
}

type Line = readonly [at: number, cells: readonly Cell[], run: string];

/** Of the gateway's own file. */
const parse = (line: string): Line | undefined => parseJson(line) as Line | undefined;
