import { diag } from '@opentelemetry/api';
import { systemClock } from '../../core/kernel/system-clock.ts';
import type { Clock } from '../../plugin/index.ts';
import type { Bytes } from './spans/protobuf.ts';
import type { BatchSettings } from './otel-settings.ts';

/** Spans that are exported together, as fields of `ScopeSpans`. */
export interface SpanBatch {
  readonly spans: Buffer;
  readonly count: number;
}

/** `ExportResult` of OpenTelemetry. */
interface SendResult {
  readonly code: number;
  readonly error?: Error;
}

/** Sends batches, several at once if asked. It has a timeout and retries of its own. */
export interface SpanSender {
  export(batch: SpanBatch, done: (result: SendResult) => void): void;
  shutdown(): Promise<void>;
}

/** `ExportResultCode.SUCCESS` */
const SUCCESS = 0;

/** Bytes of a new batch. It grows. */
const FIRST_BYTES = 64 * 1024;

class OpenBatch {
  #buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #bytes = 0;
  count = 0;

  add(span: Bytes): void {
    const end = this.#bytes + span.length;
    if (end > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(end, this.#buffer.length * 2));
      this.#buffer.copy(larger, 0, 0, this.#bytes);
      this.#buffer = larger;
    }
    this.#buffer.write(span, this.#bytes, 'latin1');
    this.#bytes = end;
    this.count += 1;
  }

  close(): SpanBatch {
    return { spans: this.#buffer.subarray(0, this.#bytes), count: this.count };
  }
}

/** Batches and exports spans as bytes, as BatchSpanProcessor does objects, with its limits (`OTEL_BSP_*`). */
export class SpanBatches {
  readonly #sender: SpanSender;
  readonly #clock: Clock;
  readonly #delayMs: number;
  readonly #timeoutMs: number;
  readonly #maxQueue: number;
  readonly #maxBatch: number;
  #open = new OpenBatch();
  #full: SpanBatch[] = [];
  /** Spans of all batches that are not being exported. */
  #queued = 0;
  #dropped = 0;
  #background: Promise<void> | undefined;
  #callOff: (() => void) | undefined;
  #isShut = false;

  constructor(sender: SpanSender, settings: BatchSettings, clock: Clock = systemClock) {
    this.#sender = sender;
    this.#clock = clock;
    this.#delayMs = settings.scheduledDelayMillis ?? 5000;
    this.#timeoutMs = settings.exportTimeoutMillis ?? 30_000;
    this.#maxQueue = settings.maxQueueSize ?? 2048;
    this.#maxBatch = Math.max(1, Math.min(settings.maxExportBatchSize ?? 512, this.#maxQueue));
  }

  readonly add = (span: Bytes): void => {
    if (this.#isShut) return;
    if (this.#queued >= this.#maxQueue) {
      this.#dropped += 1;
      return;
    }
    if (this.#dropped > 0) {
      diag.warn(`Dropped ${this.#dropped} spans because maxQueueSize reached`);
      this.#dropped = 0;
    }
    this.#queued += 1;
    this.#open.add(span);
    if (this.#open.count >= this.#maxBatch) this.#closeBatch();
    this.#schedule();
  };

  /** Exports all spans so far. Rejects with the first failure. */
  async forceFlush(): Promise<void> {
    if (this.#open.count > 0) this.#closeBatch();
    this.#stopTimer();
    const batches = this.#full.splice(0);
    this.#queued = 0;
    await Promise.all([this.#background, ...batches.map((batch) => this.#export(batch))]);
  }

  /** Exports the rest. Later spans are dropped. */
  async shutdown(): Promise<void> {
    this.#isShut = true;
    try {
      await this.forceFlush();
    } finally {
      await this.#sender.shutdown();
    }
  }

  #closeBatch(): void {
    this.#full.push(this.#open.close());
    this.#open = new OpenBatch();
  }

  /** A full batch leaves at once, another one after the delay, and one at a time. */
  #schedule(): void {
    if (this.#background) return;
    if (this.#full.length > 0) return this.#exportNext();
    this.#callOff ??= this.#clock.after(this.#delayMs, this.#exportNext);
  }

  readonly #exportNext = (): void => {
    this.#stopTimer();
    if (this.#full.length === 0) this.#closeBatch();
    const batch = this.#full.shift();
    if (!batch) return;
    this.#queued -= batch.count;
    this.#background = this.#export(batch)
      .catch((error: unknown) => diag.error('a batch of spans was not exported', error))
      .finally(() => {
        this.#background = undefined;
        if (this.#queued > 0) this.#schedule();
      });
  };

  #stopTimer(): void {
    this.#callOff?.();
    this.#callOff = undefined;
  }

  #export(batch: SpanBatch): Promise<void> {
    // An error that the sender throws rejects, too.
    return new Promise((resolve, reject) => {
      const callOff = this.#clock.after(this.#timeoutMs, () => reject(new Error('Timeout')));
      this.#sender.export(batch, ({ code, error }) => {
        callOff();
        if (code === SUCCESS) resolve();
        else reject(error ?? new Error('the collector did not take a batch of spans'));
      });
    });
  }
}
