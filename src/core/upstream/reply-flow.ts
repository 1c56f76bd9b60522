import { Queue } from '../../formats/streams/queue.ts';
import type { GatewayError, Sink, Source } from '../../plugin/index.ts';

export interface Tap {
  pauseFlow(): void;
  resumeFlow(): void;
  cancelFlow(): void;
}

/** Bytes before it is opened, and while its sink is full, are buffered: those held, and one network read at most. */
export class ReplyFlow implements Source {
  readonly #tap: Tap;
  #backlog: Queue<Buffer>;
  #sink: Sink | undefined;
  #paused = false;
  /** The end of the upstream's side, once it has ended. */
  #ending: 'complete' | GatewayError | undefined;
  #over = false;

  constructor(tap: Tap, held: Buffer[]) {
    this.#tap = tap;
    this.#backlog = new Queue(held);
  }

  /** The flow has no consumer at the moment: it is not opened yet, or its sink is full. */
  get paused(): boolean {
    return this.#paused || !this.#sink;
  }

  open(sink: Sink): void {
    if (this.#sink || this.#over) return;
    this.#sink = sink;
    this.#drain();
    if (!this.#over && !this.#paused) this.#tap.resumeFlow();
  }

  pause(): void {
    if (this.#paused || this.#over) return;
    this.#paused = true;
    this.#tap.pauseFlow();
  }

  resume(): void {
    if (!this.#paused || this.#over) return;
    this.#paused = false;
    if (!this.#sink) return;
    this.#drain();
    if (!this.#over && !this.#paused) this.#tap.resumeFlow();
  }

  cancel(): void {
    if (this.#over) return;
    this.drop();
    this.#tap.cancelFlow();
  }

  push(bytes: Buffer): void {
    if (this.#over) return;
    if (this.#sink && !this.#paused && this.#backlog.length === 0) this.#sink.push(bytes);
    else this.#backlog.push(bytes);
  }

  end(): void {
    if (this.#ending !== undefined) return;
    this.#ending = 'complete';
    this.#drain();
  }

  /** Also reaches a sink that is full: little is buffered for it, and there is no other way to report the failure. */
  fail(error: GatewayError): void {
    if (this.#ending !== undefined) return;
    this.#ending = error;
    this.#drain();
  }

  /** Makes no further calls to the sink. */
  drop(): void {
    this.#over = true;
    this.#backlog = new Queue();
  }

  #drain(): void {
    const sink = this.#sink;
    if (!sink || this.#over) return;
    while (this.#backlog.length > 0 && this.#flowing) {
      sink.push(this.#backlog.shift()!);
      if (this.#over) return;
    }
    const ending = this.#ending;
    if (this.#backlog.length > 0 || ending === undefined) return;
    this.#over = true;
    if (ending === 'complete') sink.end();
    else sink.fail(ending);
  }

  get #flowing(): boolean {
    return !this.#paused || (this.#ending !== undefined && this.#ending !== 'complete');
  }
}
