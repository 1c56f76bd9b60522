import { ReplyFault } from '../faults.ts';
import {
  isJoining,
  type EditedText,
  type TextChannel,
  type TextEdit,
  type TextResult,
  type TextTransform,
} from './channels.ts';
import type { TextSlot } from './pending-event.ts';

/** A change of a text that its upstream has signed. */
export class SignedTextChanged extends Error {
  override readonly name = 'SignedTextChanged';
}

/** A change of a text that has left already, because another text came between its parts. */
export class RestedTextChanged extends Error {
  override readonly name = 'RestedTextChanged';
}

/** A text that comes in pieces. */
export interface TextPieces {
  readonly count: number;
  /** In characters (UTF-16 units). */
  length(index: number): number;
  piece(index: number): string;
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

  /** True: it takes pieces that come together as one. */
  get joins(): boolean {
    return !this.#left && this.open !== undefined && isJoining((this.#transform ??= this.open()));
  }

  /**
   * @param slotOf makes the slot of a piece that changes or waits, in their order
   * @param of the pieces of the text, if there are several
   */
  take(text: string, final: boolean, slotOf: (piece: number) => TextSlot, of?: TextPieces): void {
    if (text === '' && !final) return;
    if (this.#ended) throw new ReplyFault('a text goes on behind its end');
    this.#begun = true;
    const given = this.#kept + text;
    const result = this.#run(given, final);
    if (this.#slots.length === 0 && result.keep === 0 && result.out === given) return;
    const pieces = of ?? { count: 1, length: () => text.length, piece: () => text };
    this.#decide(given, result, new Filling(this.#slots, pieces, slotOf));
  }

  /** The text has ended: what it kept is decided. */
  end(): void {
    this.#ended = true;
    if (!this.#transform) return;
    const given = this.#kept;
    this.#decide(given, this.#run(given, true));
  }

  /** The text may go on later: what it kept leaves as it is decided now, and is the start of what follows. */
  rest(): void {
    if (this.#kept === '' || this.#left?.length === this.#kept.length) return;
    const given = this.#kept;
    const result = this.#run(given, true);
    this.#decide(given, result);
    this.#kept = given;
    this.#left = { length: given.length, text: result.out };
  }

  /** The kept part leaves as it is, and the rest is a new text to the transform. */
  release(): void {
    if (this.#kept === '') return;
    this.#transform = undefined;
    const left = this.#left?.length ?? 0;
    this.#left = undefined;
    this.#kept = this.#kept.slice(left);
    this.#note(this.#kept, this.#kept);
    this.#decide(this.#kept, { out: this.#kept, keep: 0 });
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

  #run(given: string, final: boolean): Decision {
    const transform = (this.#transform ??= this.open!());
    if (final) this.#transform = undefined;
    const result = transform(given, final);
    const { text: out, keep: wanted = 0 } = typeof result === 'string' ? asResult(result) : result;
    const edits = isJoining(transform) ? ((result as EditedText).edits ?? []) : undefined;
    if (typeof out !== 'string' || !Number.isInteger(wanted) || wanted < 0 || wanted > given.length)
      throw new TypeError('a transform of a text returns a text, and the number of characters that it keeps');
    const keep = final ? 0 : wanted;
    const consumed = keep === 0 ? given : given.slice(0, given.length - keep);
    if (out !== consumed && this.channel.signed)
      throw new SignedTextChanged('thinking that its upstream has signed cannot be changed');
    if (out !== consumed) this.changed = true;
    this.#note(consumed, out);
    return { out, keep, edits };
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

  /** Writes the decided text into the pieces that it came from. */
  #decide(whole: string, { out: result, keep, edits }: Decision, fill = new Filling(this.#slots)): void {
    this.#kept = keep === 0 ? '' : whole.slice(whole.length - keep);
    const exact = this.#left ? undefined : edits;
    const [given, out] = this.#left ? this.#behindLeft(whole, result, keep) : [whole, result];
    const consumed = Math.max(0, given.length - keep);
    let at = 0;
    for (const { from, to, text } of exact ?? differences(given, consumed, out)) {
      fill.same(given, at, from);
      fill.change(to - from, text);
      at = to;
    }
    fill.same(given, at, consumed, keep);
    this.#slots = fill.rest();
  }
}

interface Decision {
  readonly out: string;
  readonly keep: number;
  readonly edits?: readonly TextEdit[] | undefined;
}

const asResult = (text: string): TextResult => ({ text });

/** The first `consumed` characters became `out`: all between the first and the last difference did. */
function differences(given: string, consumed: number, out: string): readonly TextEdit[] {
  if (out.length === consumed && given.startsWith(out)) return [];
  let start = 0;
  while (start < consumed && start < out.length && given.charCodeAt(start) === out.charCodeAt(start)) start += 1;
  const most = Math.min(consumed, out.length) - start;
  let after = 0;
  while (after < most && given.charCodeAt(consumed - 1 - after) === out.charCodeAt(out.length - 1 - after)) after += 1;
  return [{ from: start, to: consumed - after, text: out.slice(start, out.length - after) }];
}

/** Goes through slots in order, then through pieces, which become slots when they change or wait. */
class Filling {
  readonly #slots: TextSlot[];
  readonly #pieces: TextPieces;
  readonly #slotOf: (piece: number) => TextSlot;
  #at = 0;
  #piece = 0;
  /** The characters of the piece, and how many of them are decided. */
  #length = 0;
  #used = 0;

  constructor(slots: TextSlot[], pieces: TextPieces = NO_PIECES, slotOf: (piece: number) => TextSlot = none) {
    this.#slots = slots;
    this.#pieces = pieces;
    this.#slotOf = slotOf;
    this.#goTo(0);
  }

  #goTo(piece: number): void {
    this.#piece = piece;
    this.#length = piece < this.#pieces.count ? this.#pieces.length(piece) : 0;
    this.#used = 0;
  }

  /** @param kept the characters behind `to`, if none before them changes */
  same(text: string, from: number, to: number, kept = -1): void {
    for (let at = from; at < to;) {
      const slot = this.#next();
      if (!slot && kept >= 0) return this.#skipTo(kept);
      const left = slot ? slot.left : this.#length - this.#used;
      const length = Math.min(left, to - at);
      if (slot) {
        slot.text += text.slice(at, at + length);
        slot.left -= length;
      } else this.#used += length;
      at += length;
    }
  }

  /** Only the pieces at the end are looked at: a stream may have hundreds. */
  #skipTo(kept: number): void {
    let rest = kept;
    this.#goTo(this.#pieces.count);
    for (; rest > 0; rest -= this.#length) this.#goTo(this.#piece - 1);
    this.#used = -rest;
  }

  /** `length` characters become `text`, which goes into the first of their slots. */
  change(length: number, text: string): void {
    // An insertion goes behind the last decided character.
    const first = (length > 0 ? this.#next() : this.#slots[this.#at]) ?? this.#make();
    first.text += text;
    first.changed = true;
    for (let rest = length; rest > 0;) {
      const slot = this.#next() ?? this.#make();
      slot.changed = true;
      const taken = Math.min(slot.left, rest);
      slot.left -= taken;
      rest -= taken;
    }
  }

  /** The slot of the next character; undefined if it is one of a piece without a slot. */
  #next(): TextSlot | undefined {
    while (this.#slots[this.#at]?.left === 0) this.#at += 1;
    const slot = this.#slots[this.#at];
    if (slot) return slot;
    const { count } = this.#pieces;
    while (this.#piece < count && this.#length === this.#used) this.#goTo(this.#piece + 1);
    return this.#piece < count ? undefined : none();
  }

  #make(): TextSlot {
    if (this.#piece >= this.#pieces.count) none();
    const slot = this.#slotOf(this.#piece);
    slot.event.open += 1;
    if (this.#used > 0) slot.text = this.#pieces.piece(this.#piece).slice(0, this.#used);
    slot.left = this.#length - this.#used;
    this.#slots.push(slot);
    this.#goTo(this.#piece + 1);
    return slot;
  }

  /** The slots that stay undecided. */
  rest(): TextSlot[] {
    while (this.#piece < this.#pieces.count) {
      if (this.#length > this.#used) this.#make();
      else this.#goTo(this.#piece + 1);
    }
    const done = this.#slots.findIndex(({ left }) => left > 0);
    const decided = done < 0 ? this.#slots : this.#slots.slice(0, done);
    for (const { event } of decided) event.open -= 1;
    return done < 0 ? [] : this.#slots.slice(done);
  }
}

const none = (): never => {
  throw new TypeError('a transform added text behind the end of what it keeps: keep the last characters until `final`');
};

const NO_PIECES: TextPieces = { count: 0, length: none, piece: none };
