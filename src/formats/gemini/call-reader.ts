import type { JsonObject } from '../conversation.ts';
import type { GenerationEvent } from '../events.ts';
import type { ReplyContext } from '../format.ts';
import { PartialArguments } from './partial-call.ts';
import { objectsOf, optional } from './wire.ts';
import { stringOf, isObject } from '../json/object.ts';

interface FunctionCall {
  readonly call: number;
  readonly block: number;
  readonly id: string;
  readonly name: string;
  readonly custom: boolean;
  /** Arguments of a call that arrives whole. */
  readonly args: unknown;
  readonly partial: PartialArguments | undefined;
  signature: string | undefined;
  /** Signatures that arrived after the call was emitted. */
  readonly late: string[];
  reported: boolean;
  /** More pieces of the call follow. */
  isContinued: boolean;
  pieces: number;
}

/** Maximum number of held pieces of an unsigned call: some seconds, as first content must come in time. */
const MAX_HELD_PIECES = 256;

/** Numbers from the candidate reader: the index of the choice, and a number for each new block. */
interface CandidateNumbers {
  readonly choice: number;
  readonly newBlock: () => number;
}

/**
 * Reads the function calls of one candidate. A call arrives whole, or as a name, pieces of its arguments, and an empty
 * object that ends it (docs/protocols/gemini.md#streamed-arguments). Clients get a signature with the first event of
 * its call (docs/protocols/replies.md#call-signature), so a call that may still get one is held. A streamed call is
 * held while its pieces arrive. The first call of an answer is held until another part follows, because its signature
 * may be on an empty part after it. Later calls are not held: parallel calls have their signature on the first one
 * (docs/protocols/gemini.md#thought-signatures).
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

  /** Returns false for arguments that belong to no call, because no call was named. */
  read(call: JsonObject, signature: string | undefined, events: GenerationEvent[]): boolean {
    const name = stringOf(call['name']);
    if (name) this.#start(name, call, events);
    else if (!this.#open?.isContinued) {
      if (Object.values(call).some((value) => value !== undefined && value !== null && value !== false)) return false;
      // This ends a call that has already ended.
      if (signature !== undefined && !this.sign(signature, events)) this.#signAlone(signature, events);
      return true;
    } else this.#open.partial?.merge(call['args']);
    this.#advance(call, signature, events);
    return true;
  }

  /** Takes a signature that arrived alone. Returns true when it belongs to the call before it. */
  sign(signature: string, events: GenerationEvent[]): boolean {
    if (!this.#open || this.#open.signature !== undefined || this.#open.reported) return false;
    this.#open.signature = signature;
    if (this.#open.isContinued) this.#emit(this.#open, events);
    else this.close(events);
    return true;
  }

  /** Called when another part follows. A call whose pieces still arrive is emitted now, to precede that part. */
  settle(events: GenerationEvent[]): void {
    if (this.#open?.isContinued) this.#emit(this.#open, events);
    else this.close(events);
  }

  /** Called when nothing more of the open call follows. */
  close(events: GenerationEvent[]): void {
    const open = this.#open;
    if (!open) return;
    this.#open = undefined;
    this.#emit(open, events);
    const { choice } = this.#place;
    events.push({ type: 'tool_arguments', choice, call: open.call, text: argumentsText(open), last: true });
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
      isContinued: false,
      pieces: 0,
    };
  }

  /** Applies a piece to the open call, the first piece included. */
  #advance(call: JsonObject, signature: string | undefined, events: GenerationEvent[]): void {
    const open = this.#open;
    if (!open) return;
    for (const piece of objectsOf(call['partialArgs'])) open.partial?.add(piece);
    open.isContinued = call['willContinue'] === true;
    open.pieces += 1;
    if (signature !== undefined && signature !== open.signature) {
      if (open.reported || open.signature !== undefined) open.late.push(signature);
      else open.signature = signature;
    }
    if (!open.isContinued) {
      if (open.reported || open.signature !== undefined || open.call > 0) this.close(events);
      return;
    }
    if (open.signature !== undefined || open.pieces > MAX_HELD_PIECES) this.#emit(open, events);
    // The arguments are emitted when they are complete. The empty fragment never reaches clients; it counts as delivered.
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

/** A free-text tool was declared as a function with one string, `input` (docs/protocols/requests.md#custom-tool). */
function argumentsText({ args, partial, custom }: FunctionCall): string {
  const json = partial ? partial.toJson() : JSON.stringify(args ?? {});
  if (!custom) return json;
  const value: unknown = partial ? JSON.parse(json) : args;
  return isObject(value) && typeof value['input'] === 'string' ? value['input'] : json;
}
