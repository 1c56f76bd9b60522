import type { JsonObject } from '../conversation.ts';
import type { GenerationEvent } from '../events.ts';
import type { ReplyContext } from '../format.ts';
import { PartialArguments } from './partial-call.ts';
import { objectsOf, optional } from './wire.ts';
import { stringOf } from '../json/read.ts';
import { isObject } from '../json/object.ts';

interface FunctionCall {
  readonly call: number;
  readonly block: number;
  readonly id: string;
  readonly name: string;
  readonly custom: boolean;
  /** Of a call that comes whole. */
  readonly args: unknown;
  readonly partial: PartialArguments | undefined;
  signature: string | undefined;
  /** Signatures that came when the call had been told. */
  readonly late: string[];
  reported: boolean;
  /** More pieces of it are to come. */
  goesOn: boolean;
  pieces: number;
}

/** Pieces of an unsigned call that are waited for: some seconds of a stream. Whoever waits for first content cannot wait longer. */
const MAX_HELD_PIECES = 256;

/** What the reader of a candidate gives: the index of the answer, and numbers for its blocks. */
interface CandidateNumbers {
  readonly choice: number;
  readonly newBlock: () => number;
}

/**
 * Reads the function calls of one candidate. A call comes whole, or as a name, pieces of its arguments, and an empty object that ends it
 * (docs/protocols/gemini.md#streamed-arguments). Clients get a signature with the first event of its call
 * (docs/protocols/replies.md#call-signature), so a call that may still get one is held: a streamed one while its pieces come, the first
 * of an answer until another part follows, since its signature may stand on an empty part behind it. Only the first: parallel calls have
 * their signature on the first (docs/protocols/gemini.md#thought-signatures).
 */
export class FunctionCallReader {
  readonly #place: CandidateNumbers;
  readonly #reply: ReplyContext;
  #count = 0;
  #open: FunctionCall | undefined;

  constructor(place: CandidateNumbers, reply: ReplyContext) {
    this.#place = place;
    this.#reply = reply;
  }

  get count(): number {
    return this.#count;
  }

  /** False for what cannot be placed: arguments of a call that was never named. */
  read(call: JsonObject, signature: string | undefined, events: GenerationEvent[]): boolean {
    const name = stringOf(call['name']);
    if (name) this.#start(name, call, events);
    else if (!this.#open?.goesOn) {
      if (Object.values(call).some((value) => value !== undefined && value !== null && value !== false)) return false;
      // The end of a call that has ended already.
      if (signature !== undefined && !this.sign(signature, events)) this.#signAlone(signature, events);
      return true;
    } else this.#open.partial?.merge(call['args']);
    this.#advance(call, signature, events);
    return true;
  }

  /** A signature that came with nothing else: true where it belongs to the call before it. */
  sign(signature: string, events: GenerationEvent[]): boolean {
    if (!this.#open || this.#open.signature !== undefined || this.#open.reported) return false;
    this.#open.signature = signature;
    if (this.#open.goesOn) this.#emit(this.#open, events);
    else this.close(events);
    return true;
  }

  /** Another part follows: a call whose pieces are still to come has its place before it, and what is known of it is told. */
  settle(events: GenerationEvent[]): void {
    if (this.#open?.goesOn) this.#emit(this.#open, events);
    else this.close(events);
  }

  /** Nothing more of the open call comes. */
  close(events: GenerationEvent[]): void {
    const open = this.#open;
    if (!open) return;
    this.#open = undefined;
    this.#emit(open, events);
    events.push({ type: 'tool_arguments', choice: this.#place.choice, call: open.call, text: argumentsText(open) });
    for (const signature of open.late) this.#signAlone(signature, events);
  }

  #start(name: string, call: JsonObject, events: GenerationEvent[]): void {
    this.close(events);
    const streamed = call['willContinue'] === true || call['partialArgs'] !== undefined;
    this.#open = {
      call: this.#count++,
      block: this.#place.newBlock(),
      id: stringOf(call['id']) || this.#reply.newCallId(),
      name,
      custom: this.#reply.customTools?.has(name) ?? false,
      args: call['args'],
      partial: streamed ? new PartialArguments(call['args']) : undefined,
      signature: undefined,
      late: [],
      reported: false,
      goesOn: false,
      pieces: 0,
    };
  }

  /** What a piece, the first one too, does to the open call. */
  #advance(call: JsonObject, signature: string | undefined, events: GenerationEvent[]): void {
    const open = this.#open;
    if (!open) return;
    for (const piece of objectsOf(call['partialArgs'])) open.partial?.add(piece);
    open.goesOn = call['willContinue'] === true;
    open.pieces += 1;
    if (signature !== undefined && signature !== open.signature) {
      if (open.reported || open.signature !== undefined) open.late.push(signature);
      else open.signature = signature;
    }
    if (!open.goesOn) {
      if (open.reported || open.signature !== undefined || open.call > 0) this.close(events);
      return;
    }
    if (open.signature !== undefined || open.pieces > MAX_HELD_PIECES) this.#emit(open, events);
    // Nothing to show before the arguments are whole; the empty fragment, which clients never see, tells the idle timeout
    // that they move.
    events.push({ type: 'tool_arguments', choice: this.#place.choice, call: open.call, text: '' });
  }

  #emit(open: FunctionCall, events: GenerationEvent[]): void {
    if (open.reported) return;
    open.reported = true;
    const { block, call, id, name, custom, signature } = open;
    const { choice } = this.#place;
    events.push({
      type: 'tool_call',
      choice,
      block,
      call,
      id,
      name,
      ...(custom && { custom }),
      ...optional('signature', signature),
    });
  }

  #signAlone(signature: string, events: GenerationEvent[]): void {
    events.push({ type: 'signature', choice: this.#place.choice, block: this.#place.newBlock(), signature });
  }
}

/**
 * A free-text tool was declared as a function of one string, `input`; its client expects the bare text
 * (docs/protocols/requests.md#custom-tool).
 */
function argumentsText({ args, partial, custom }: FunctionCall): string {
  const json = partial ? partial.toJson() : JSON.stringify(args ?? {});
  if (!custom) return json;
  const value: unknown = partial ? JSON.parse(json) : args;
  return isObject(value) && typeof value['input'] === 'string' ? value['input'] : json;
}
