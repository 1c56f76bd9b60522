/** A piece of a long answer: it goes from the process that works to the one that has the listener. Plain values. */
export interface Piece {
  readonly id: string;
  /** Of the first piece. */
  readonly head?: { readonly status: number; readonly headers: Readonly<Record<string, string>> };
  readonly bytes?: string;
  readonly end?: true;
  /** It ended before its end. */
  readonly failed?: string;
}

/** Pieces that wait for a slow reader; more of them end the answer. */
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_ANSWERS = 64;

/** An answer whose pieces arrive from elsewhere. */
class LongAnswer {
  readonly #pieces: Piece[] = [];
  #bytes = 0;
  #wake: (() => void) | undefined;

  push(piece: Piece): void {
    this.#bytes += piece.bytes?.length ?? 0;
    if (this.#bytes > MAX_BYTES) this.#pieces.splice(0, Infinity, { id: piece.id, failed: 'the reader is too slow' });
    else this.#pieces.push(piece);
    this.#wake?.();
  }

  async next(): Promise<Piece> {
    for (;;) {
      const piece = this.#pieces.shift();
      if (piece) {
        this.#bytes -= piece.bytes?.length ?? 0;
        return piece;
      }
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

export class LongAnswers {
  readonly #open = new Map<string, LongAnswer>();

  receive(piece: Piece): void {
    this.#open.get(piece.id)?.push(piece);
  }

  /** Undefined: too many are under way. */
  open(id: string): { next(): Promise<Piece>; close(): void } | undefined {
    if (this.#open.size >= MAX_ANSWERS) return undefined;
    const answer = new LongAnswer();
    this.#open.set(id, answer);
    return { next: () => answer.next(), close: () => void this.#open.delete(id) };
  }
}
