import { addPiece } from '../json/piece-list.ts';
import { NOTHING } from '../sse/held-bytes.ts';

/** The bytes of a whole reply as they arrive: nearly always in one piece, which needs no list. */
export class Pieces {
  #first: Buffer | undefined;
  #others: Buffer[] | undefined;

  add(piece: Buffer): void {
    if (!this.#first) this.#first = piece;
    else addPiece((this.#others ??= []), piece);
  }

  bytes(): Buffer {
    const first = this.#first ?? NOTHING;
    return this.#others ? Buffer.concat([first, ...this.#others]) : first;
  }

  clear(): void {
    this.#first = this.#others = undefined;
  }
}
