import { Queue } from '../streams/queue.ts';

type BlockKind = 'text' | 'thinking' | 'spoken';

/**
 * Numbers the content blocks of one choice. OpenAI's wire has no blocks: text that follows text belongs to one block
 * until other content arrives. `content_blocks` of a gateway that is not strict have their own indexes, which keep
 * adjacent blocks apart.
 */
export class BlockNumbers {
  #last = -1;
  #kind: BlockKind | undefined;
  /** The sender's index of the open block, if it sent one. */
  #sender: number | undefined;
  readonly #known = new Map<number, number>();
  /** Text blocks that arrived without an index, oldest first: the sender may send their indexes later. */
  readonly #unreported = new Queue<number>();

  /**
   * Returns the block of a fragment of text or thinking: the open block if the fragment continues it, otherwise a new
   * one.
   */
  open(kind: BlockKind, sender?: number): number {
    const same = this.#kind === kind && (sender === undefined || this.#sender === undefined || this.#sender === sender);
    if (!same) {
      this.next();
      this.#kind = kind;
      if (kind === 'text') this.#unreported.push(this.#last);
    }
    this.#bind(sender);
    return this.#last;
  }

  /** Binds the sender's index to the oldest text block that has none. */
  learn(sender: number): void {
    const block = this.#unreported.shift();
    if (block === undefined) return;
    this.#known.set(sender, block);
    if (block === this.#last) this.#sender = sender;
  }

  /**
   * Returns the block that a signature with the sender's index belongs to, or a new block when the index is unknown.
   */
  signed(sender: number): number {
    const known = this.#known.get(sender);
    if (known !== undefined) return known;
    this.next();
    this.#kind = 'text';
    this.#bind(sender);
    return this.#last;
  }

  /** Returns a new block for content that arrives whole, and closes the open block. */
  next(): number {
    this.#kind = undefined;
    this.#sender = undefined;
    return ++this.#last;
  }

  #bind(sender: number | undefined): void {
    if (sender === undefined || this.#sender !== undefined) return;
    this.#sender = sender;
    this.#known.set(sender, this.#last);
    if (this.#unreported.last() === this.#last) this.#unreported.pop();
  }
}
