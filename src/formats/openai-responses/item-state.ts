/** A part that has been sent on. No text is kept of it. */
interface Sent {
  /** In UTF-16 units. */
  length: number;
  digest: number;
  /** The server has numbered every fragment: those of a server that numbers none may belong to several parts. */
  isPlaced: boolean;
}

/** White space does not count: servers trim the whole, and write JSON anew. */
function digestOf(text: string, to = text.length, digest = 0): number {
  let sum = digest;
  for (let at = 0; at < to; at += 1) {
    const code = text.charCodeAt(at);
    if (code > 0x20) sum = Math.imul(sum ^ code, 0x01000193) + 1;
  }
  return sum | 0;
}

/** One item of a stream, as far as it has come. */
export class ItemState {
  readonly type: string;
  /** The number of the call; -1: none. */
  readonly call: number;
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly phase: string | undefined;
  /** The start of each text in the answer, in UTF-16 units, for its citations. The key is the number of the text. */
  readonly starts = new Map<number, number>();
  /** The whole item has come. */
  closed = false;
  /** The current fragment begins its part. */
  isNew = false;
  /** Parts that have come: the events that end them, the whole item and the whole response repeat them. */
  readonly parts = new Set<string>();
  readonly #sent = new Map<string, Sent>();
  /** The part that is being read. */
  #part = '';

  constructor(type: string, call: number, { id, name, phase }: Partial<Pick<ItemState, 'id' | 'name' | 'phase'>> = {}) {
    this.type = type;
    this.call = call;
    this.id = id;
    this.name = name;
    this.phase = phase;
  }

  /** The next fragment belongs to this part. */
  touch(part: string): void {
    this.isNew = this.#part !== part && !this.parts.has(part);
    this.#part = part;
    this.parts.add(part);
  }

  note(part: string, text: string, isPlaced: boolean): void {
    let sent = this.#sent.get(part);
    if (!sent) this.#sent.set(part, (sent = { length: 0, digest: 0, isPlaced: true }));
    sent.length += text.length;
    sent.digest = digestOf(text, text.length, sent.digest);
    sent.isPlaced &&= isPlaced;
  }

  /** The text that the whole part has behind its fragments. Undefined if it begins with another text than they did. */
  behind(part: string, whole: string): string | undefined {
    const sent = this.#sent.get(part);
    if (!sent) return whole;
    if (whole.length > sent.length && digestOf(whole, sent.length) === sent.digest) return whole.slice(sent.length);
    return sent.isPlaced && digestOf(whole) !== sent.digest ? undefined : '';
  }
}
