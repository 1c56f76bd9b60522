import type { Clock } from '../../plugin/index.ts';
import type { BoundedRecord } from './bounded-record.ts';
import type { Payer } from './costs.ts';
import type { RequestRecord } from './record.ts';
import type { ServerSpan } from './telemetry.ts';

/** A request whose reply has ended, as everything that is written of it. It does not refer to the request. */
export interface EndedRequest {
  readonly record: RequestRecord;
  readonly bounded: BoundedRecord;
  readonly span: ServerSpan | undefined;
  /** Undefined: there is no ledger, or the request reached no target. */
  readonly payer: Payer | undefined;
  /** Wall clock at its end. */
  readonly wallMs: number;
}

const MAX_WAITING = 32;
const MAX_WAIT_MS = 5;

/**
 * Ended requests of which nothing has been written yet. They are written together, because the code that writes is
 * large: a request that runs between two of them drives it out of the processor's caches. Each reader of an output
 * flushes first, so that the wait shows in nothing but the arrival of log lines.
 */
export class EndedRequests {
  readonly #clock: Clock;
  #write: (ended: readonly EndedRequest[]) => void = () => {};
  #waiting: EndedRequest[] = [];
  #isTimed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param write never throws */
  writeWith(write: (ended: readonly EndedRequest[]) => void): void {
    this.#write = write;
  }

  add(ended: EndedRequest): void {
    this.#waiting.push(ended);
    if (this.#waiting.length >= MAX_WAITING) return this.flush();
    if (this.#isTimed) return;
    this.#isTimed = true;
    this.#clock.after(MAX_WAIT_MS, this.#onTime);
  }

  readonly flush = (): void => {
    if (this.#waiting.length === 0) return;
    const ended = this.#waiting;
    this.#waiting = [];
    this.#write(ended);
  };

  /** The timer runs on when a full queue is written: then the next requests wait for less time. */
  readonly #onTime = (): void => {
    this.#isTimed = false;
    this.flush();
  };
}
