import type { SealedText } from '../envelope.ts';
import { ReplyFault } from '../faults.ts';
import { jsonBytes, fromBytes, toBytes } from '../json/literal.ts';

/** A text of an event, as far as it is decided. */
export class TextSlot {
  readonly event: PendingEvent;
  readonly from: number;
  readonly to: number;
  /** Its place holds any JSON, not only a string. */
  readonly json: boolean;
  /** The value with another text, where that is not the text itself. */
  readonly written: SealedText['written'] | undefined;
  /** The number of its characters that are undecided. */
  left = 0;
  text = '';
  changed = false;

  constructor(event: PendingEvent, place: Pick<TextSlot, 'from' | 'to' | 'json' | 'written'>) {
    this.event = event;
    this.from = place.from;
    this.to = place.to;
    this.json = place.json;
    this.written = place.written;
  }
}

/** JSON that goes where a text of its answer was changed. */
interface Follower {
  readonly from: number;
  readonly to: number;
  /** `event`: the whole event goes. */
  readonly with: string;
  readonly answer: number;
}

/** An event that waits for the decision on its texts, or behind one that does. Its bytes are one character each. */
export class PendingEvent {
  readonly view: string;
  /** The time of its arrival. */
  readonly at: number;
  readonly slots: TextSlot[] = [];
  readonly followers: Follower[] = [];
  /** The number of its texts that are not decided. */
  open = 0;

  constructor(view: string, at: number) {
    this.view = view;
    this.at = at;
  }

  slot(place: ConstructorParameters<typeof TextSlot>[1]): TextSlot {
    const slot = new TextSlot(this, place);
    this.slots.push(slot);
    return slot;
  }

  /** The event with the texts that changed, and all other bytes as they came. @param lost called for what goes with a text */
  written(isChanged: (answer: number) => boolean, lost: (json: string) => void): string {
    if (this.followers.length === 0 && !this.slots.some(({ changed }) => changed)) return this.view;
    const gone = this.followers.filter(({ answer }) => isChanged(answer));
    const changes = this.slots
      .filter(({ changed }) => changed)
      .map((slot) => ({ from: slot.from, to: slot.to, text: textOf(slot) }));
    if (changes.length + gone.length === 0) return this.view;
    for (const follower of gone) {
      const was = this.view.slice(follower.from, follower.to);
      if (was === follower.with) continue;
      lost(was);
      if (follower.with === 'event') return '';
      changes.push({ from: follower.from, to: follower.to, text: follower.with });
    }
    changes.sort((a, b) => a.from - b.from);
    let written = '';
    let at = 0;
    for (const { from, to, text } of changes) {
      written += this.view.slice(at, from) + text;
      at = to;
    }
    return written + this.view.slice(at);
  }
}

function textOf({ json, text, written }: TextSlot): string {
  if (!json) return jsonBytes(written?.(text) ?? text);
  try {
    JSON.parse(text);
  } catch (cause) {
    throw new ReplyFault('the changed arguments of a call are not valid JSON', { cause });
  }
  // An event is one line.
  return toBytes(text.replaceAll(/[\r\n]/g, ' '));
}

/** The text of a JSON string, or JSON as it is. */
export const decoded = (view: string, from: number, to: number, json: boolean): string =>
  json ? fromBytes(view.slice(from, to)) : valueOf(view.slice(from + 1, to - 1));

/** The text of what stands between the quotes of a JSON string, with one character for each byte. Throws ReplyFault. */
export const valueOf = (literal: string): string => (PLAIN.test(literal) ? literal : String(parsed(`"${literal}"`)));

/** Throws ReplyFault. */
export function parsed(json: string): unknown {
  try {
    return JSON.parse(fromBytes(json));
  } catch (cause) {
    throw new ReplyFault('a text of an event is not valid JSON', { cause });
  }
}

/** ASCII without control characters and backslashes. */
const PLAIN = /^[\x20-\x5b\x5d-\x7e]*$/;
