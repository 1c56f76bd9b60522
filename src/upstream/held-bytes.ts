/** Number of held pieces that are joined into one, because a small Buffer takes more memory than the ping in it. */
const JOINED = 64;

/** The bytes of a reply before commit, and the memory reported for them. */
export class ReplyBuffer {
  readonly #onHold: ((bytes: number) => boolean) | undefined;
  #pieces: Buffer[] = [];
  /** Number of pieces at the end that are not joined yet. */
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

  /** Hands the pieces over. They remain counted until `release`. */
  take(): Buffer[] {
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces;
  }

  /** Updates the number of bytes held here or in the reader. False: all replies together hold too much. */
  count(bytes: number): boolean {
    const more = bytes - this.#counted;
    this.#counted = bytes;
    return this.#onHold?.(more) ?? true;
  }

  /** Releases the counted bytes: they have been sent, or never will be. */
  release(): void {
    if (this.#counted === 0) return;
    const counted = this.#counted;
    this.#counted = 0;
    this.#onHold?.(-counted);
  }
}
