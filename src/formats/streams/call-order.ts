import type { ChoiceEvent, EventOf, GenerationEvent, UpstreamFailure } from '../events.ts';
import type { ClientContext, StreamEncoder } from '../format.ts';
import { GrowingJson } from '../json/growing.ts';
import { Queue } from './queue.ts';

/** A waiting call with its arguments so far, or waiting events between two calls. Each value is held as JSON (`CallOrder.hold`). */
interface HeldTurn {
  readonly call?: EventOf<'tool_call'>;
  readonly events: string[];
  readonly texts: string[];
  last: boolean;
}

/** The calls of one answer: one is open, and everything behind it waits. */
class Lane {
  readonly #order: CallOrder;
  readonly #waiting = new Queue<HeldTurn>();
  readonly #byCall = new Map<number, HeldTurn>();
  /** The call whose fragments are sent as they come. */
  #open: EventOf<'tool_call'> | undefined;
  #json = new GrowingJson();

  constructor(order: CallOrder) {
    this.#order = order;
  }

  get isFree(): boolean {
    return this.#open === undefined;
  }

  push(event: ChoiceEvent, out: GenerationEvent[]): void {
    if (event.type === 'tool_arguments') return this.#arguments(event, out);
    if (event.type === 'finish') this.release(out, true);
    else if (isFieldOf(this.#open, event)) return void out.push(event);
    else if (this.#open && !this.#isWhole) return this.#hold(event);
    if (event.type === 'tool_call') this.#begin(event);
    else this.#open = undefined;
    out.push(event);
  }

  #begin(call: EventOf<'tool_call'>): void {
    this.#open = call;
    this.#json = new GrowingJson();
  }

  /** Free text can always grow. */
  get #isWhole(): boolean {
    return !this.#open?.custom && this.#json.whole;
  }

  /**
   * Closes the open call, and sends what waited for it, up to the next call that can grow.
   * @param all the answer has ended: no call can grow
   */
  release(out: GenerationEvent[], all = false): void {
    this.#open = undefined;
    for (let turn = this.#waiting.shift(); turn; turn = this.#waiting.shift()) {
      for (const event of turn.events) out.push(this.#order.take(event) as ChoiceEvent);
      if (!turn.call) continue;
      const { call, choice } = turn.call;
      this.#byCall.delete(call);
      const text = turn.texts.map((held) => this.#order.take(held) as string).join('');
      out.push({ type: 'tool_arguments', choice, call, text });
      if (all || turn.last) continue;
      this.#begin(turn.call);
      this.#json.add(text);
      if (this.#waiting.length === 0 || !this.#isWhole) return;
      this.#open = undefined;
    }
  }

  #arguments(event: EventOf<'tool_arguments'>, out: GenerationEvent[]): void {
    const { call, text, last } = event;
    if (this.#open?.call === call) {
      out.push(event);
      if (!this.#open.custom) this.#json.add(text);
      if (last || (this.#waiting.length > 0 && this.#isWhole)) this.release(out);
      return;
    }
    const turn = this.#byCall.get(call);
    if (!turn) return this.#order.refuseLate(event);
    if (text !== '') turn.texts.push(this.#order.hold(text));
    turn.last ||= last === true;
  }

  #hold(event: ChoiceEvent): void {
    const held = this.#order.hold(event.type === 'text' ? { ...event, text: event.text, literals: undefined } : event);
    const before = this.#waiting.last();
    const call = event.type === 'tool_call' ? event : undefined;
    const joins = !call && before && (!before.call || isFieldOf(before.call, event));
    if (joins) return void before.events.push(held);
    const turn: HeldTurn = { ...(call && { call }), events: [held], texts: [], last: false };
    this.#waiting.push(turn);
    if (call) this.#byCall.set(call.call, turn);
  }
}

/** Fields of a call follow its name (`OpaquePart.attached`). */
const isFieldOf = (call: EventOf<'tool_call'> | undefined, event: ChoiceEvent): boolean =>
  event.type === 'opaque' && event.attached === true && event.block === call?.block;

/**
 * Puts a reply into the order of APIs that have one open block at a time. Upstreams may interleave the fragments of parallel
 * calls, and send texts and thoughts between the fragments of one call (docs/protocols/replies.md#one-order). The first
 * call stays open until its arguments are a whole JSON value, its upstream says that it has ended, or the answer ends; what
 * comes meanwhile waits. Events of a reply without calls pass as they are.
 */
export class CallOrder {
  readonly #limit: number;
  readonly #lanes = new Map<number, Lane>();
  #held = 0;
  /** Set when the reply cannot be put into order. Its last event is this failure, and nothing follows. */
  failure: UpstreamFailure | undefined;

  /** @param limit most bytes of JSON that wait, of all answers together. Default: none, for a reply that is in memory. */
  constructor(limit = Infinity) {
    this.#limit = limit;
  }

  push(events: readonly GenerationEvent[]): readonly GenerationEvent[] {
    if (this.#lanes.size === 0 && !events.some(isOfCall) && !this.failure) return events;
    const out: GenerationEvent[] = [];
    for (const event of this.failure ? [] : events) {
      if ('choice' in event) this.#push(event, out);
      else {
        if (event.type === 'end') for (const lane of this.#lanes.values()) lane.release(out, true);
        out.push(event);
      }
      const failure: UpstreamFailure | undefined = this.failure;
      if (!failure) continue;
      out.push({ type: 'error', failure });
      break;
    }
    return out;
  }

  #push(event: ChoiceEvent, out: GenerationEvent[]): void {
    const known = this.#lanes.get(event.choice);
    if (!known && !isOfCall(event)) return void out.push(event);
    const lane = known ?? new Lane(this);
    lane.push(event, out);
    if (lane.isFree) this.#lanes.delete(event.choice);
    else if (!known) this.#lanes.set(event.choice, lane);
  }

  /** A copy as JSON. A substring would keep the whole chunk in memory from which it was cut. */
  hold(value: unknown): string {
    const held = JSON.stringify(value);
    this.#held += Buffer.byteLength(held);
    if (this.#held > this.#limit)
      this.failure ??= { status: 502, kind: 'reply_too_large', message: tooMuch(this.#limit) };
    return held;
  }

  take(held: string): unknown {
    this.#held -= Buffer.byteLength(held);
    return JSON.parse(held);
  }

  refuseLate({ text }: EventOf<'tool_arguments'>): void {
    if (text.trim() !== '') this.failure ??= { status: 502, kind: 'unreadable_reply', message: LATE };
  }
}

const isOfCall = ({ type }: GenerationEvent): boolean => type === 'tool_call' || type === 'tool_arguments';

const tooMuch = (limit: number): string =>
  `A call of the reply has not ended, and the content that waits for it exceeds ${limit} bytes (limits.hold_bytes).`;
const LATE = 'The upstream sent arguments of a call that has ended.';

/** The encoder of an API that has one open block at a time. */
export function inOrder(encoder: StreamEncoder, { holdBytes }: ClientContext): StreamEncoder {
  const order = new CallOrder(holdBytes);
  return {
    push: (events) => encoder.push(order.push(events)),
    ...(encoder.pushBytes && { pushBytes: (events) => encoder.pushBytes?.(order.push(events)) }),
    get failure() {
      return order.failure;
    },
  };
}
