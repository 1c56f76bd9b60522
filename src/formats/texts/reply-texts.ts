import { Buffer } from 'node:buffer';
import { sealedText } from '../envelope.ts';
import { ReplyFault } from '../faults.ts';
import { afterValue } from '../json/members.ts';
import { CLOSE_ARRAY, COMMA, isSpace, OPEN_ARRAY, OPEN_OBJECT } from '../json/scan.ts';
import { eventEnd, hasReturns } from '../sse/event-stream.ts';
import type { OpenTransform, TextChannel } from './channels.ts';
import { ChannelText, type TextPieces } from './channel-text.ts';
import type { EndedTexts, LayoutReader, LocatedText, ReplyLayout } from './layout.ts';
import { decoded, PendingEvent, TextSlot } from './pending-event.ts';
import { dataOf, type EventData } from './event-data.ts';
import { EventFrame, EventReader, type AlikeEvents, type EventPlace } from './event-frame.ts';
import { TextFinder, type Found, type Place } from './walk.ts';

/** The forms of a reply that have texts, as `ReplyForm` of the plugin API. */
export type TextForm = 'json' | 'sse' | 'json-array';

export interface ReplyTextsSetup {
  readonly layout: ReplyLayout;
  readonly form: TextForm;
  readonly open: OpenTransform;
  /** Thinking of the upstream is signed. */
  readonly signed: boolean;
  /** Called for what goes with a changed text, by the name of its field: log probabilities, citations, sound. */
  readonly onLost?: ((field: 'logprobs' | 'citations' | 'audio') => void) | undefined;
}

/** The most bytes of events that wait behind an undecided text. */
const MAX_WAITING = 1024 * 1024;

/**
 * The texts of a reply in the client's format, each through its own transform. It takes whole events and returns those
 * that are decided. An event leaves as the bytes it came in, except for the texts that changed; none is added. One with
 * an undecided text waits, and so do those behind it.
 */
export class ReplyTexts {
  readonly #setup: ReplyTextsSetup;
  readonly #reader: LayoutReader;
  readonly #channels = new Map<string, ChannelText>();
  readonly #changed = new Set<number>();
  /** The kind of the last text of each answer. */
  readonly #runs = new Map<number, string>();
  readonly #finder: TextFinder;
  /** The last event, if it had one text and nothing else to read. */
  #frame: EventFrame | undefined;
  #waiting: PendingEvent[] = [];
  /** A line of the bytes that are read may end in CR. */
  #returns = false;
  #waitingBytes = 0;
  /** The number of events that left with other bytes. */
  #rewritten = 0;
  /** The number of texts that were changed. */
  changes = 0;

  constructor(setup: ReplyTextsSetup) {
    this.#setup = setup;
    this.#reader = setup.layout.open();
    this.#finder = new TextFinder(setup.layout.root);
  }

  /** The number of undecided characters. */
  get held(): number {
    if (this.#waiting.length === 0) return 0;
    let held = 0;
    for (const channel of this.#channels.values()) held += channel.kept;
    return held;
  }

  /** True when more waits than any plugin may hold. */
  get isFull(): boolean {
    return this.#waitingBytes > MAX_WAITING;
  }

  /** When the event came that waits longest. */
  get waitingSince(): number | undefined {
    return this.#waiting[0]?.at;
  }

  /**
   * @param bytes whole events, or a whole plain body
   * @param now any clock, for `waitingSince`
   */
  push(bytes: Buffer, now = 0): Buffer | undefined {
    const view = bytes.toString('latin1');
    this.#returns = hasReturns(view);
    const isFirst = this.#waiting.length === 0;
    const rewritten = this.#rewritten;
    const leaving: Leaving = { view, now, out: [], clean: 0 };
    for (let from = 0; from < view.length;) {
      const alike = this.#frame?.match(view, from);
      if (alike) {
        if (this.#frame!.channel.open) this.#takeAlike(this.#frame!, alike, leaving, from);
        from = alike.ends.at(-1)!;
        continue;
      }
      const to = this.#endOf(view, from);
      const event = this.#read(view, { from, to, now });
      this.#leave(leaving.out);
      if (event) this.#hold(event, leaving, { from, to });
      from = to;
    }
    this.#pass(leaving, view.length);
    const isSame = isFirst && this.#waiting.length === 0 && this.#rewritten === rewritten;
    return isSame && view.length > 0 ? bytes : joined(leaving.out);
  }

  /** An event of a JSON array is its object with what stands before it. */
  #endOf(view: string, from: number): number {
    const { form } = this.#setup;
    if (form === 'sse') return eventEnd(view, from, this.#returns);
    const at = form === 'json' ? -1 : objectAt(view, from, view.length);
    return at < 0 ? view.length : afterValue(view, at);
  }

  /** The reply has ended: all texts are decided. */
  end(): Buffer | undefined {
    this.#endChannels(() => true);
    return this.#decided();
  }

  /** Waiting events leave as they are. */
  release(): Buffer | undefined {
    for (const channel of this.#channels.values()) channel.release();
    return this.#decided();
  }

  #decided(): Buffer | undefined {
    const out: string[] = [];
    this.#leave(out);
    return joined(out);
  }

  /** Events that are clean leave as one slice, behind those that wait. */
  #pass({ view, now, out, clean }: Leaving, to: number): void {
    if (clean === to) return;
    if (this.#waiting.length === 0) out.push(view.slice(clean, to));
    else this.#wait(new PendingEvent(view.slice(clean, to), now));
  }

  /** An event that changes or waits, behind the clean ones before it. */
  #hold(event: PendingEvent, leaving: Leaving, { from, to }: EventPlace): void {
    this.#pass(leaving, from);
    leaving.clean = to;
    if (event.open > 0 || this.#waiting.length > 0) this.#wait(event);
    else leaving.out.push(this.#written(event));
  }

  #wait(event: PendingEvent): void {
    this.#waiting.push(event);
    this.#waitingBytes += event.view.length;
  }

  #leave(out: string[]): void {
    let count = 0;
    for (const event of this.#waiting) {
      if (event.open > 0) break;
      count += 1;
      this.#waitingBytes -= event.view.length;
      out.push(this.#written(event));
    }
    if (count > 0) this.#waiting = this.#waiting.slice(count);
  }

  #written(event: PendingEvent): string {
    const written = event.written(this.#isChanged, this.#lost);
    if (written !== event.view) this.#rewritten += 1;
    return written;
  }

  readonly #isChanged = (answer: number): boolean => this.#changed.has(answer);

  readonly #lost = (json: string): void => {
    if (json !== '[]' && json !== '{}')
      this.#setup.onLost?.(json.startsWith('"') ? 'audio' : json.includes('"logprob') ? 'logprobs' : 'citations');
  };

  /** Reads an event. Undefined: nothing in it changes or waits. */
  #read(view: string, of: EventPlace & { readonly now: number }): PendingEvent | undefined {
    this.#frame = undefined;
    const { text, from, to, data } = this.#dataIn(view, of.from, of.to);
    if (data < 0) return undefined;
    if (text.startsWith('[DONE]', data)) {
      this.#endChannels(() => true);
      return undefined;
    }
    const root = this.#finder.find(text, data);
    const { found: all } = this.#finder;
    this.#end(this.#reader.begins?.(root), true);
    const event = new EventReader(text, { from, to, now: of.now });
    for (const found of all) {
      if (found.node.leaf === undefined) continue;
      const taken = this.#take(found, root, event);
      if (taken && all.length === 1 && text === view) this.#frame = new EventFrame(event, found, taken);
    }
    this.#end(this.#reader.ends?.(root));
    for (const found of all) {
      const { follows } = found.node;
      const answer = found.place.choice;
      if (follows === undefined || (!event.pending && this.#waiting.length === 0 && !this.#changed.has(answer)))
        continue;
      event.toWait().followers.push({ from: found.from - from, to: found.to - from, with: follows, answer });
    }
    return event.pending;
  }

  /** Takes the texts of events that differ from the last one in nothing else. */
  #takeAlike(frame: EventFrame, alike: AlikeEvents, leaving: Leaving, from: number): void {
    const { channel } = frame;
    const { ends } = alike;
    const begin = (event: number): number => ends[event - 1] ?? from;
    const take = (text: string, first: number, pieces?: TextPieces): void => {
      const held: [event: PendingEvent, from: number, to: number][] = [];
      const slotOf = (piece: number): TextSlot => {
        const [at, to] = [begin(first + piece), ends[first + piece]!];
        const slot = frame.slot(leaving.view.slice(at, to), leaving.now);
        held.push([slot.event, at, to]);
        return slot;
      };
      channel.take(text, false, slotOf, pieces);
      this.#noteChange(channel);
      this.#leave(leaving.out);
      for (const [event, at, to] of held) this.#hold(event, leaving, { from: at, to });
    };
    if (channel.joins) take(alike.text, 0, alike);
    else for (const [index, text] of alike.each().entries()) take(text, index);
  }

  /** The event's text, and the index of its JSON; -1 for an event without. */
  #dataIn(view: string, from: number, to: number): EventData {
    if (this.#setup.form === 'sse') return dataOf(view, { from, to, returns: this.#returns });
    const data = this.#setup.form === 'json' ? skipMark(view) : objectAt(view, from, to);
    return { text: view, from, to, data };
  }

  /** Returns the channel of a piece of a text. */
  #take(found: Found, root: Place, event: EventReader): ChannelText | undefined {
    const located = this.#reader.locate(found, root);
    if (!located) return undefined;
    const { node, from, to } = found;
    const isJson = node.json === true;
    const sealed = node.sealed && sealedText(decoded(event.text, from, to, false), node.sealed);
    if (node.sealed && !sealed) return undefined;
    const channel = this.#channelOf(located);
    const isPiece = located.as === 'piece';
    if (!channel.open) return isPiece ? channel : undefined;
    const text = sealed?.text ?? decoded(event.text, from, to, isJson);
    if (text !== '' && isPiece && this.#setup.layout.rests) this.#rest(located);
    if (located.as === 'repeat') this.#takeAgain(channel, text, () => event.slot(found, isJson));
    else channel.take(text, located.as === 'whole', () => event.slot(found, isJson, sealed?.written));
    this.#noteChange(channel);
    return isPiece ? channel : undefined;
  }

  /** The start of an item repeats a text that it does not have yet: nothing. */
  #takeAgain(channel: ChannelText, text: string, slotOf: () => TextSlot): void {
    if (text === '') return;
    channel.end();
    const again = channel.again(text);
    if (again !== text) Object.assign(slotOf(), { text: again, changed: true });
  }

  /** A text of another kind begins, or the next call: what the texts before it kept is decided. */
  #rest({ answer, kind, block }: LocatedText): void {
    const run = kind === 'tool_arguments' ? `${kind} ${block}` : kind;
    const before = this.#runs.get(answer);
    if (before === run) return;
    this.#runs.set(answer, run);
    if (before === undefined) return;
    for (const channel of this.#channels.values()) {
      if (channel.channel.answer !== answer) continue;
      channel.rest();
      this.#noteChange(channel);
    }
  }

  #channelOf({ key, kind, answer, block, as }: LocatedText): ChannelText {
    const known = as === 'whole' ? undefined : this.#channels.get(key);
    if (known) return known;
    const { open, signed, layout } = this.#setup;
    const of = { kind, answer, block, signed: signed && kind === 'thinking' };
    // Whether anybody reads the channel is asked once; each text of it has a transform of its own.
    let first = open(of);
    const wanted = first !== undefined;
    const next = () => {
      const transform = first ?? open(of);
      first = undefined;
      return transform ?? ((piece: string) => piece);
    };
    const channel = new ChannelText(of, wanted ? next : undefined, layout.repeats);
    if (as !== 'whole') this.#channels.set(key, channel);
    return channel;
  }

  /** Ends texts. @param anew others of their numbers follow */
  #end(which: EndedTexts | undefined, anew = false): void {
    if (!which) return;
    const isEnded = ({ block }: TextChannel): boolean => which === 'all' || which.block === block;
    this.#endChannels(isEnded);
    if (!anew) return;
    for (const [key, { channel }] of this.#channels) if (isEnded(channel)) this.#channels.delete(key);
  }

  #endChannels(isEnded: (channel: TextChannel) => boolean): void {
    for (const channel of this.#channels.values()) {
      if (!isEnded(channel.channel)) continue;
      channel.end();
      this.#noteChange(channel);
    }
  }

  #noteChange(channel: ChannelText): void {
    if (!channel.changed || channel.counted) return;
    channel.counted = true;
    this.changes += 1;
    this.#changed.add(channel.channel.answer);
  }
}

/** The part of the bytes that leaves. */
interface Leaving {
  readonly view: string;
  readonly now: number;
  /** One character for each byte. */
  readonly out: string[];
  /** Start of the events that leave as they are, behind all that wait. */
  clean: number;
}

const joined = (out: readonly string[]): Buffer | undefined =>
  out.length > 0 ? Buffer.from(out.length > 1 ? out.join('') : out[0]!, 'latin1') : undefined;

function objectAt(view: string, from: number, to: number): number {
  let at = from;
  for (let code = view.charCodeAt(at); at < to && (isSpace(code) || isFrame(code)); code = view.charCodeAt(at)) at += 1;
  if (at >= to) return -1;
  if (view.charCodeAt(at) !== OPEN_OBJECT) throw new ReplyFault('the reply is no list of events');
  return at;
}

const isFrame = (code: number): boolean => code === COMMA || code === OPEN_ARRAY || code === CLOSE_ARRAY;

/** Index of the document, behind white space and a byte order mark. */
function skipMark(view: string): number {
  let at = view.startsWith('\u00ef\u00bb\u00bf') ? 3 : 0;
  while (isSpace(view.charCodeAt(at))) at += 1;
  return at;
}
