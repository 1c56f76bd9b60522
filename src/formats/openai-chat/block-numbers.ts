import { Queue } from '../streams/queue.ts';

type BlockKind = 'text' | 'thinking' | 'spoken';

/**
 * Numbers the content blocks of one choice. OpenAI's wire has no blocks: text that follows text is one block until something
 * else comes. `content_blocks` of a gateway that is not strict have indexes of their own, which keep neighbours apart.
 */
export class BlockNumbers {
  #last = -1;
  #kind: BlockKind | undefined;
  /** Index in the sender's numbering of the open block, where one was given. */
  #sender: number | undefined;
  readonly #known = new Map<number, number>();
  /** Texts that came without an index, oldest first: the sender may tell their indexes later. */
  readonly #unreported = new Queue<number>();

  /** Block for a fragment of text or thinking: the open one if it goes on. */
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

  /** Learns the sender's index of the oldest text that was read before its index was told. */
  learn(sender: number): void {
    const block = this.#unreported.shift();
    if (block === undefined) return;
    this.#known.set(sender, block);
    if (block === this.#last) this.#sender = sender;
  }

  /** Block that a signature of the sender's index belongs to; a new one where it comes alone. */
  signed(sender: number): number {
    const known = this.#known.get(sender);
    if (known !== undefined) return known;
    this.next();
    this.#kind = 'text';
    this.#bind(sender);
    return this.#last;
  }

  /** A block that is whole: it closes the open one. */
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
