/** The size of pages where many bytes are held. */
const LARGEST = 256 * 1024;
/** Part of the bytes held that a new page has: so much may be unused. */
const PART = 1 / 8;
/** Pages of the largest size that wait for their next use. */
const MOST_FREE = 2;

export interface Page {
  readonly bytes: Buffer;
  used: number;
  live: number;
}

/** Bytes of one owner that are dropped about in the order in which they came, in few large buffers. */
export class Pages {
  readonly #free: Buffer[];
  /** Bytes of all pages, their unused parts included. */
  size = 0;
  #last: Page | undefined;

  /**
   * @param free buffers of all owners that wait for their next use: V8 frees a buffer that has become old only when it collects the whole
   * heap, and collects it for 64 MB of new buffers
   */
  constructor(free: Buffer[]) {
    this.#free = free;
  }

  /** Adds the pieces, one behind the other. Returns their page, at whose end they are. */
  add(first: Buffer, second: Buffer): Page {
    const page = this.#pageFor(first.length + second.length);
    page.bytes.set(first, page.used);
    page.bytes.set(second, page.used + first.length);
    page.used += first.length + second.length;
    page.live += 1;
    return page;
  }

  drop(page: Page): void {
    page.live -= 1;
    if (page.live > 0) return;
    const { bytes } = page;
    this.size -= bytes.length;
    if (this.#last === page) this.#last = undefined;
    if (bytes.length === LARGEST && this.#free.length < MOST_FREE) this.#free.push(bytes);
  }

  #pageFor(length: number): Page {
    const last = this.#last;
    if (last && last.bytes.length - last.used >= length) return last;
    const size = Math.max(length, Math.min(LARGEST, Math.floor(this.size * PART)));
    const bytes = (size === LARGEST ? this.#free.pop() : undefined) ?? Buffer.allocUnsafeSlow(size);
    this.size += size;
    return (this.#last = { bytes, used: 0, live: 0 });
  }
}
