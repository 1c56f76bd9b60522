import { uuidv7 } from '../../core/kernel/ids.ts';
import type { AskParts } from '../../core/process/ask-parts.ts';
import type { Captures, CaptureWish } from '../../core/process/captures-port.ts';
import type { Clock } from '../../plugin/index.ts';
import type { CaptureHead, CaptureState } from './file/captured.ts';
import type { Caught, Watched } from './watch/watcher.ts';

export const BEGIN = 'captures.begin';
export const END = 'captures.end';

/** Captures at a time, and the bytes of each. */
const MAX_CAPTURES = 4;
const MAX_BYTES = 16 * 1024 * 1024;

const MINUTE_MS = 60_000;
/** How long a capture can be fetched after its time is over. */
const KEPT_MINUTES = 10;

interface Capture {
  readonly id: string;
  readonly wish: CaptureWish;
  readonly startedAt: number;
  readonly ask: AskParts;
  readonly timers: (() => void)[];
  readonly lines: string[];
  bytes: number;
  tooLarge: number;
  isDone: boolean;
}

const isoOf = (ms: number): string => new Date(ms).toISOString();

/** The captures of a gateway, in memory alone: nothing of them is on a disk, and a restart drops them. */
export class CaptureStore implements Captures {
  readonly #clock: Clock;
  readonly #captures = new Map<string, Capture>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Undefined: as many as are allowed run already. */
  async start(ask: AskParts, wish: CaptureWish, isDryRun = false): Promise<CaptureState | undefined> {
    if (this.#captures.size >= MAX_CAPTURES) return undefined;
    const clock = this.#clock;
    const id = uuidv7(clock.wall());
    const ms = wish.minutes * MINUTE_MS;
    const startedAt = clock.wall();
    const capture: Capture = { id, wish, ask, timers: [], startedAt, lines: [], bytes: 0, tooLarge: 0, isDone: false };
    if (isDryRun) return stateOf(capture);
    capture.timers.push(
      clock.after(ms, () => this.#finish(id)),
      clock.after(ms + KEPT_MINUTES * MINUTE_MS, () => void this.#captures.delete(id)),
    );
    this.#captures.set(id, capture);
    const watched: Watched = { id, query: wish.query, requests: wish.requests, ms };
    await ask(BEGIN, watched, 'all');
    return stateOf(capture);
  }

  readonly list = (): readonly CaptureState[] => [...this.#captures.values()].map(stateOf);

  file(id: string): Iterable<string> | undefined {
    const capture = this.#captures.get(id);
    return capture && linesOf(capture);
  }

  async end(id: string): Promise<boolean> {
    const capture = this.#captures.get(id);
    if (!capture) return false;
    for (const stop of capture.timers) stop();
    this.#captures.delete(id);
    await capture.ask(END, id, 'all');
    return true;
  }

  /** Takes a request that a serving process caught. */
  receive({ captures, line }: Caught): void {
    for (const id of captures) {
      const capture = this.#captures.get(id);
      // Several processes may find the last one.
      if (!capture || capture.isDone) continue;
      if (line === undefined || capture.bytes + line.length > MAX_BYTES) {
        capture.tooLarge += 1;
        continue;
      }
      capture.lines.push(line);
      capture.bytes += line.length;
      if (capture.lines.length >= capture.wish.requests) this.#finish(id);
    }
  }

  clear(): void {
    for (const { timers } of this.#captures.values()) for (const stop of timers) stop();
    this.#captures.clear();
  }

  #finish(id: string): void {
    const capture = this.#captures.get(id);
    if (!capture || capture.isDone) return;
    capture.isDone = true;
    // A worker that does not answer ends its watch by itself, when the minutes are over.
    void capture.ask(END, id, 'all').catch(() => {});
  }
}

function stateOf({ id, wish, startedAt, lines, bytes, tooLarge, isDone }: Capture): CaptureState {
  const until = startedAt + wish.minutes * MINUTE_MS;
  return {
    id,
    by: wish.by,
    where: wish.where,
    state: isDone ? 'done' : 'running',
    requests: wish.requests,
    captured: lines.length,
    too_large: tooLarge,
    bytes,
    started_at: isoOf(startedAt),
    until: isoOf(until),
    gone_at: isoOf(until + KEPT_MINUTES * MINUTE_MS),
  };
}

function* linesOf({ id, wish, startedAt, lines }: Capture): Generator<string> {
  const head: CaptureHead = { gatehouse_capture: 1, id, where: wish.where, started_at: isoOf(startedAt) };
  yield `${JSON.stringify(head)}\n`;
  for (const line of lines) yield `${line}\n`;
}
