import { ReplyFault } from '../faults.ts';
import type { TextChannel, TextTransform } from './channels.ts';
import type { TextSlot } from './pending-event.ts';

/** A change of a text that its upstream has signed. */
export class SignedTextChanged extends Error {
  override readonly name = 'SignedTextChanged';
}

/** A change of a text that has left already, because another text came between its parts. */
export class RestedTextChanged extends Error {
  override readonly name = 'RestedTextChanged';
}

/**
 * One text of a reply on its way through a transform. What the transform decided goes back into the pieces it came in: a
 * piece in which nothing changed keeps its bytes.
 */
export class ChannelText {
  readonly channel: TextChannel;
  /** Undefined: no plugin reads it. */
  readonly open: (() => TextTransform) | undefined;
  #transform: TextTransform | undefined;
  #kept = '';
  /** Pieces with undecided text, in order. */
  #slots: TextSlot[] = [];
  #begun = false;
  #ended = false;
  /** The kept text has left as this, because the text rested: only what follows it can still change. */
  #left: { length: number; text: string } | undefined;
  /** The transform has changed some of it. */
  changed = false;
  /** Its change has been counted. */
  counted = false;
  readonly #whole: { original: string; result: string } | undefined;

  constructor(channel: TextChannel, open: (() => TextTransform) | undefined, keepsWhole: boolean) {
    this.channel = channel;
    this.open = open;
    this.#whole = keepsWhole && open ? { original: '', result: '' } : undefined;
  }

  get kept(): number {
    return this.#kept.length - (this.#left?.length ?? 0);
  }

  /**
   * Takes a piece. True: it may leave as it is. Otherwise `slotOf` makes its slot, which is decided now or later.
   */
  take(text: string, final: boolean, slotOf: () => TextSlot): boolean {
    if (text === '' && !final) return true;
    if (this.#ended) throw new ReplyFault('a text goes on behind its end');
    this.#begun = true;
    const given = this.#kept + text;
    const { out, keep } = this.#run(given, final);
    if (this.#slots.length === 0 && keep === 0 && out === given) return true;
    if (text !== '' || this.#slots.length === 0) {
      const slot = slotOf();
      slot.left = text.length;
      slot.event.open += 1;
      this.#slots.push(slot);
    }
    this.#decide(given, out, keep);
    return false;
  }

  /** The text has ended: what it kept is decided. */
  end(): void {
    this.#ended = true;
    if (!this.#transform) return;
    const given = this.#kept;
    const { out } = this.#run(given, true);
    this.#decide(given, out, 0);
  }

  /** The text may go on later: what it kept leaves as it is decided now, and is the start of what follows. */
  rest(): void {
    if (this.#kept === '' || this.#left?.length === this.#kept.length) return;
    const given = this.#kept;
    const { out } = this.#run(given, true);
    this.#decide(given, out, 0);
    this.#kept = given;
    this.#left = { length: given.length, text: out };
  }

  /** The kept part leaves as it is, and the rest is a new text to the transform. */
  release(): void {
    if (this.#kept === '') return;
    this.#transform = undefined;
    const left = this.#left?.length ?? 0;
    this.#left = undefined;
    this.#kept = this.#kept.slice(left);
    this.#note(this.#kept, this.#kept);
    this.#decide(this.#kept, this.#kept, 0);
  }

  /** The result of the whole text, which comes once more. */
  again(text: string): string {
    const whole = this.#whole;
    if (whole && this.#begun && whole.original === text) return whole.result;
    const fresh = new ChannelText(this.channel, this.open, false);
    const { out } = fresh.#run(text, true);
    if (out !== text) this.changed = true;
    if (whole && !this.#begun) Object.assign(whole, { original: text, result: out });
    this.#begun = true;
    return out;
  }

  #run(given: string, final: boolean): { readonly out: string; readonly keep: number } {
    const transform = (this.#transform ??= this.open!());
    if (final) this.#transform = undefined;
    const result = transform(given, final);
    const { text: out, keep: wanted = 0 } = typeof result === 'string' ? { text: result } : result;
    if (typeof out !== 'string' || !Number.isInteger(wanted) || wanted < 0 || wanted > given.length)
      throw new TypeError('a transform of a text returns a text, and the number of characters that it keeps');
    const keep = final ? 0 : wanted;
    const consumed = keep === 0 ? given : given.slice(0, given.length - keep);
    if (out !== consumed && this.channel.signed)
      throw new SignedTextChanged('thinking that its upstream has signed cannot be changed');
    if (out !== consumed) this.changed = true;
    this.#note(consumed, out);
    return { out, keep };
  }

  /** Without what has left before the text rested, which can no longer change. */
  #behindLeft(whole: string, result: string, keep: number): readonly [given: string, out: string] {
    const left = this.#left!;
    const consumed = whole.length - keep;
    if (consumed < left.length) {
      if (!left.text.startsWith(result)) throw new RestedTextChanged('a match spans an interruption of its text');
      this.#left = { length: left.length - consumed, text: left.text.slice(result.length) };
      return ['', ''];
    }
    if (!result.startsWith(left.text)) throw new RestedTextChanged('a match spans an interruption of its text');
    this.#left = undefined;
    return [whole.slice(left.length), result.slice(left.text.length)];
  }

  #note(original: string, result: string): void {
    if (!this.#whole) return;
    this.#whole.original += original;
    this.#whole.result += result;
  }

  /** Writes the decided text into the slots that it came from. */
  #decide(whole: string, result: string, keep: number): void {
    this.#kept = keep === 0 ? '' : whole.slice(whole.length - keep);
    const [given, out] = this.#left ? this.#behindLeft(whole, result, keep) : [whole, result];
    const consumed = given.length - keep;
    if (consumed < 0 || (consumed === 0 && out === '')) return;
    let start = 0;
    let [before, after] = [consumed, 0];
    if (out.length !== consumed || !given.startsWith(out)) {
      while (start < consumed && start < out.length && given.charCodeAt(start) === out.charCodeAt(start)) start += 1;
      const most = Math.min(consumed, out.length) - start;
      while (after < most && given.charCodeAt(consumed - 1 - after) === out.charCodeAt(out.length - 1 - after))
        after += 1;
      before = start;
    }
    const fill = new Filling(this.#slots);
    fill.same(given.slice(0, before));
    if (before < consumed || out.length > consumed)
      fill.change(consumed - before - after, out.slice(before, out.length - after));
    if (after > 0) fill.same(given.slice(consumed - after, consumed));
    this.#slots = fill.rest();
  }
}

/** Goes through slots in order. */
class Filling {
  readonly #slots: TextSlot[];
  #at = 0;

  constructor(slots: TextSlot[]) {
    this.#slots = slots;
  }

  same(text: string): void {
    for (let from = 0; from < text.length;) {
      const slot = this.#next();
      const length = Math.min(slot.left, text.length - from);
      slot.text += text.slice(from, from + length);
      slot.left -= length;
      from += length;
    }
  }

  /** `length` characters become `text`, which goes into the first of their slots. */
  change(length: number, text: string): void {
    // An insertion goes behind the last decided character.
    const first = length > 0 ? this.#next() : (this.#slots[this.#at] ?? none());
    first.text += text;
    first.changed = true;
    for (let rest = length; rest > 0;) {
      const slot = this.#next();
      slot.changed = true;
      const taken = Math.min(slot.left, rest);
      slot.left -= taken;
      rest -= taken;
    }
  }

  #next(): TextSlot {
    while (this.#slots[this.#at]?.left === 0) this.#at += 1;
    return this.#slots[this.#at] ?? none();
  }

  /** The slots that stay undecided. */
  rest(): TextSlot[] {
    const done = this.#slots.findIndex(({ left }) => left > 0);
    const decided = done < 0 ? this.#slots : this.#slots.slice(0, done);
    for (const { event } of decided) event.open -= 1;
    return done < 0 ? [] : this.#slots.slice(done);
  }
}

const none = (): never => {
  throw new TypeError('a transform added text behind the end of what it keeps: keep the last characters until `final`');
};
