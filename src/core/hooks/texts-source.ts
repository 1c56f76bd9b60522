import type { ReplyTexts } from '../../formats/texts/reply-texts.ts';
import type { Clock } from '../../plugin/clock.ts';
import type { GatewayError } from '../../plugin/errors.ts';
import type { TextHold } from '../../plugin/hooks.ts';
import type { Source } from '../../plugin/reply.ts';
import { WrappedSource } from '../../plugin/wrapped-source.ts';
import { heldTooMuch, replyError } from './reply-faults.ts';

export interface TextsSourceSetup {
  readonly plugin: string;
  readonly clock: Clock;
  readonly hold: Required<TextHold>;
  /** The error with which a failed reply ends. */
  readonly onFail: (error: GatewayError) => GatewayError;
  /** Called once, with the longest wait of an event in milliseconds. Not called if none has waited. */
  readonly onHeld?: ((ms: number) => void) | undefined;
}

/** A streamed reply whose events leave once their texts are decided. What is undecided when the reply fails is dropped. */
export class TextsSource extends WrappedSource {
  readonly #texts: ReplyTexts;
  readonly #setup: TextsSourceSetup;
  #over = false;
  #paused = false;
  #stopTimer: (() => void) | undefined;
  #longestWait = 0;

  constructor(source: Source, texts: ReplyTexts, setup: TextsSourceSetup) {
    super(source);
    this.#texts = texts;
    this.#setup = setup;
  }

  override push(bytes: Buffer): void {
    this.#guarded(() => {
      const now = this.#setup.clock.now();
      const since = this.#texts.waitingSince;
      this.#send(this.#texts.push(bytes, now));
      if (since !== undefined && this.#texts.waitingSince !== since) this.#noteWait(now - since);
      if (this.#texts.isFull || this.#texts.held > this.#setup.hold.bytes) this.#beyond('more than it may');
      this.#watch();
    });
  }

  override end(): void {
    this.#guarded(() => {
      const since = this.#texts.waitingSince;
      this.#send(this.#texts.end());
      if (since !== undefined) this.#noteWait(this.#setup.clock.now() - since);
      this.#close();
      super.end();
    });
  }

  override fail(error: GatewayError): void {
    if (this.#over) return;
    this.#close();
    super.fail(this.#setup.onFail(error));
  }

  override cancel(reason: GatewayError): void {
    this.#close();
    super.cancel(reason);
  }

  override pause(): void {
    this.#paused = true;
    super.pause();
  }

  override resume(): void {
    this.#paused = false;
    super.resume();
  }

  #send(bytes: Buffer | undefined): void {
    if (bytes && bytes.length > 0) super.push(bytes);
  }

  #guarded(task: () => void): void {
    if (this.#over) return;
    try {
      task();
    } catch (thrown) {
      const error = replyError(thrown, this.#setup.plugin);
      this.#close();
      super.fail(error);
      super.cancel(error);
    }
  }

  #close(): void {
    if (this.#over) return;
    this.#over = true;
    this.#stopTimer?.();
    const since = this.#texts.waitingSince;
    if (since !== undefined) this.#noteWait(this.#setup.clock.now() - since);
    if (this.#longestWait > 0) this.#setup.onHeld?.(this.#longestWait);
  }

  #noteWait(ms: number): void {
    if (ms > this.#longestWait) this.#longestWait = ms;
  }

  #beyond(why: string): void {
    const { hold, plugin } = this.#setup;
    if (hold.beyond === 'stop') throw heldTooMuch(plugin, why);
    this.#send(this.#texts.release());
  }

  /** One timer: when it is due, it starts again for the event that waits longest then. */
  #watch(): void {
    const { clock, hold } = this.#setup;
    const since = this.#texts.waitingSince;
    if (since === undefined || this.#stopTimer || hold.time === Infinity) return;
    this.#stopTimer = clock.after(Math.max(1, since + hold.time - clock.now()), () => {
      this.#stopTimer = undefined;
      this.#guarded(() => {
        const oldest = this.#texts.waitingSince;
        if (oldest === undefined) return;
        // A client that reads nothing also keeps the next event away.
        if (!this.#paused && clock.now() - oldest >= hold.time) this.#beyond('longer than it may');
        this.#watch();
      });
    });
  }
}

/** Shows a stream's texts to a plugin. Its bytes have left before: nothing that the plugin does changes or delays them. */
export class ObservedSource extends WrappedSource {
  #texts: Pick<ReplyTexts, 'push' | 'end'> | undefined;
  readonly #onFault: (thrown: unknown) => void;

  constructor(source: Source, texts: Pick<ReplyTexts, 'push' | 'end'>, onFault: (thrown: unknown) => void) {
    super(source);
    this.#texts = texts;
    this.#onFault = onFault;
  }

  override push(bytes: Buffer): void {
    super.push(bytes);
    this.#show((texts) => texts.push(bytes));
  }

  override end(): void {
    this.#show((texts) => texts.end());
    super.end();
  }

  #show(show: (texts: Pick<ReplyTexts, 'push' | 'end'>) => void): void {
    if (!this.#texts) return;
    try {
      show(this.#texts);
    } catch (thrown) {
      this.#texts = undefined;
      this.#onFault(thrown);
    }
  }
}
