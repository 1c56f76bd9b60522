import type { Logger } from 'pino';
import type { BoundedRecord } from '../bounded-record.ts';
import { lineOf } from '../fields/line.generated.ts';

/** Writes the one line of a request whose reply has ended. @param wallMs time of its end */
export type AccessLog = (record: BoundedRecord, wallMs: number) => void;

export interface AccessLines {
  write(line: string): void;
  /** Number of the worker process, when several processes write to the same output. */
  readonly worker?: number | undefined;
}

export interface AccessLogOptions {
  readonly log: Pick<Logger, 'isLevelEnabled'>;
  /** `errors`: 4xx, 5xx and broken streams only. */
  readonly mode: 'all' | 'errors' | 'off';
  readonly lines: AccessLines;
}

/** Maximum access lines per second for requests rejected by overload, so that the log is not flooded as well. */
const OVERLOAD_LINES = 10;

/**
 * Levels: error for a 5xx and a stream that was interrupted after its 200; warn for a 4xx; info for the rest, clients
 * that left (499) among them. Requests rejected by overload get at most `OVERLOAD_LINES` lines per second; the next
 * line reports how many were omitted. The lines equal those of the logger, which takes 20 µs for one; this takes 1
 * (measured).
 */
export function createAccessLog({ log, mode, lines }: AccessLogOptions): AccessLog {
  if (mode === 'off') return () => {};
  const overload = new Sampled();
  // Requests that end in the same millisecond have the same text.
  let latestMs = NaN;
  let time = '';
  const ofWorker = lines.worker === undefined ? '"' : `","worker":${lines.worker}`;
  return (record, wallMs) => {
    const level = levelOf(record);
    if (mode === 'errors' && level === 'info') return;
    if (!log.isLevelEnabled(level)) return;
    let end = ENDS[record.outcome];
    if (record.rejection === 'overload') {
      const without = overload.take(record.receivedAt);
      if (without === undefined) return;
      if (without > 0) end = `,"not_logged":${without}${end}`;
    }
    if (wallMs !== latestMs) time = new Date((latestMs = wallMs)).toISOString();
    lines.write(lineOf(STARTS[level] + time + ofWorker, record) + end);
  };
}

class Sampled {
  #second = 0;
  #lines = 0;
  #without = 0;

  /** Returns the number of requests without a line since the last line; undefined when this one gets no line. */
  take(wallMs: number): number | undefined {
    const second = Math.floor(wallMs / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#lines = 0;
    }
    if (this.#lines === OVERLOAD_LINES) {
      this.#without += 1;
      return undefined;
    }
    this.#lines += 1;
    const without = this.#without;
    this.#without = 0;
    return without;
  }
}

const startOf = (level: string): string => `{"level":"${level}","time":"`;

const STARTS = { info: startOf('info'), warn: startOf('warn'), error: startOf('error') } as const;

const endOf = (message: string): string => `,"msg":"${message}"}\n`;

const ENDS = {
  success: endOf('request completed'),
  error: endOf('request failed'),
  aborted: endOf('client left'),
  running: endOf('request runs'),
} as const satisfies Record<BoundedRecord['outcome'], string>;

function levelOf({ outcome, outcomeStatus }: BoundedRecord): 'info' | 'warn' | 'error' {
  if (outcome === 'aborted' || outcomeStatus < 400) return 'info';
  return outcomeStatus < 500 ? 'warn' : 'error';
}
