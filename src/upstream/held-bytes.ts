/** Held pieces that are joined into one: a small Buffer weighs more than the ping it holds. */
const JOINED = 64;

/** What a reply has brought before it may leave, and how much of memory that is said to be. */
export class ReplyBuffer {
  readonly #onHold: ((bytes: number) => boolean) | undefined;
  #pieces: Buffer[] = [];
  /** Of those, the last ones that are still as they came. */
  #loose = 0;
  #counted = 0;

  /** @param onHold see `OutboundRequest` */
  constructor(onHold: ((bytes: number) => boolean) | undefined) {
    this.#onHold = onHold;
  }

  keep(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#loose += 1;
    if (this.#loose < JOINED) return;
    this.#pieces.push(Buffer.concat(this.#pieces.splice(-JOINED)));
    this.#loose = 0;
  }

  /** They belong to somebody else now; they count on until `release`. */
  take(): Buffer[] {
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces;
  }

  /** So many bytes are held by now, here or in the reader. False: all replies together hold too much. */
  count(bytes: number): boolean {
    const more = bytes - this.#counted;
    this.#counted = bytes;
    return this.#onHold?.(more) ?? true;
  }

  /** They have left, or never will. */
  release(): void {
    if (this.#counted === 0) return;
    const counted = this.#counted;
    this.#counted = 0;
    this.#onHold?.(-counted);
  }
}
