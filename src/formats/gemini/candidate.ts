import type { JsonObject } from '../conversation.ts';
import type { GenerationEvent, LogprobToken } from '../events.ts';
import type { ReplyContext } from '../format.ts';
import { mapFinish } from './finish.ts';
import { citationsOf } from './grounding.ts';
import { metadataOf } from './metadata.ts';
import { PartialArguments } from './partial-call.ts';
import { asNumber, asString, isObject, objectsOf, optional } from './wire.ts';

/** The filter's word on a prompt: `promptFeedback`. */
export interface Block {
  readonly reason: string;
  readonly message: string | undefined;
}

/**
 * Reads one candidate, chunk by chunk or whole. Blocks: neighbouring parts of one kind (text or thinking) are one block, for
 * a stream cuts a part anywhere; a signature closes its block, since what follows is not what it signs; every other part
 * is a block of its own. A plain reply is read by the same rule, so a stream folds to the same message.
 */
export class CandidateReader {
  readonly #choice: number;
  readonly #reply: ReplyContext;
  #nextBlock = 0;
  #open: { readonly kind: 'text' | 'thinking'; readonly block: number } | undefined;
  #calls = 0;
  #partial: { readonly call: number; readonly custom: boolean; readonly args: PartialArguments } | undefined;
  #text = '';
  #partStarts: number[] = [];
  #metadata: JsonObject = {};
  #finish: string | undefined;
  #finishMessage: string | undefined;

  constructor(choice: number, reply: ReplyContext) {
    this.#choice = choice;
    this.#reply = reply;
  }

  get finished(): boolean {
    return this.#finish !== undefined;
  }

  read(candidate: JsonObject): GenerationEvent[] {
    const events: GenerationEvent[] = [];
    const content = candidate['content'];
    if (isObject(content)) for (const part of objectsOf(content['parts'])) this.#part(part, events);
    const tokens = logprobsOf(candidate['logprobsResult']);
    if (tokens.length > 0) events.push({ type: 'logprobs', choice: this.#choice, tokens });
    Object.assign(this.#metadata, metadataOf(candidate));
    // Seen on earlier chunks than the last one: acted on at the end only (wire.md C6).
    this.#finish = asString(candidate['finishReason']) ?? this.#finish;
    this.#finishMessage = asString(candidate['finishMessage']) ?? this.#finishMessage;
    return events;
  }

  /** `blocked`: the filter may stop an answer that has begun; then it, not the model, says why there is no more (wire.md D10). */
  end(blocked?: Block): GenerationEvent[] {
    const events: GenerationEvent[] = [];
    this.#closePartial(events);
    const choice = this.#choice;
    const grounding = this.#metadata['groundingMetadata'];
    if (isObject(grounding)) {
      for (const citation of citationsOf(grounding, this.#text, this.#partStarts)) {
        events.push({ type: 'citation', choice, citation });
      }
    }
    if (Object.keys(this.#metadata).length > 0) {
      events.push({ type: 'opaque', choice, block: this.#newBlock(), format: 'gemini', value: this.#metadata });
    }
    events.push(this.#ending(blocked));
    return events;
  }

  #ending(blocked: Block | undefined): GenerationEvent {
    const choice = this.#choice;
    if (blocked && !this.finished) {
      const { reason, message } = blocked;
      return { type: 'finish', choice, reason: 'content_filter', native: reason, ...optional('message', message) };
    }
    return {
      type: 'finish',
      choice,
      reason: mapFinish(this.#finish, this.#calls > 0),
      ...optional('native', this.#finish),
      ...optional('message', this.#finishMessage),
    };
  }

  #part(part: JsonObject, events: GenerationEvent[]): void {
    const call = part['functionCall'];
    if (isObject(call)) return this.#functionCall(call, part, events);
    const kind = part['thought'] === true ? 'thinking' : 'text';
    const signature = asString(part['thoughtSignature']);
    const text = asString(part['text']);
    // An image of a thought is no answer; only its signature counts. Likewise parts that hold nothing but a signature.
    const onlySigned = Object.keys(part).every((name) => name === 'thought' || name === 'thoughtSignature');
    if (text !== undefined || onlySigned || (kind === 'thinking' && isObject(part['inlineData']))) {
      return this.#words(kind, text ?? '', signature, events);
    }
    this.#whole(part, signature, events);
  }

  #words(kind: 'text' | 'thinking', text: string, signature: string | undefined, events: GenerationEvent[]): void {
    if (kind === 'text') this.#partStarts.push(this.#text.length);
    if (text === '' && signature === undefined) return;
    const choice = this.#choice;
    if (this.#open?.kind !== kind) {
      this.#open = { kind, block: this.#newBlock() };
      // Says what the block is when nothing but a signature follows.
      if (text === '' && kind === 'thinking') events.push({ type: kind, choice, block: this.#open.block, text });
    }
    const { block } = this.#open;
    if (kind === 'text') this.#text += text;
    if (text !== '') events.push({ type: kind, choice, block, text });
    if (signature === undefined) return;
    events.push({ type: 'signature', choice, block, signature });
    this.#open = undefined;
  }

  /** Parts that are a block each. */
  #whole(part: JsonObject, signature: string | undefined, events: GenerationEvent[]): void {
    const place = { choice: this.#choice, block: this.#newBlock() };
    const signed = optional('signature', signature);
    const { inlineData, executableCode, codeExecutionResult } = part;
    if (isObject(inlineData) && typeof inlineData['data'] === 'string') {
      const mime = asString(inlineData['mimeType']) ?? 'application/octet-stream';
      events.push({ type: 'media', ...place, mime, data: inlineData['data'], ...signed });
    } else if (isObject(executableCode)) {
      const { language, code, id } = executableCode;
      const ran = { language: asString(language) ?? '', code: asString(code) ?? '', ...optional('id', asString(id)) };
      events.push({ type: 'code', ...place, ...ran, ...signed });
    } else if (isObject(codeExecutionResult)) {
      const { outcome, output, id } = codeExecutionResult;
      const result = {
        outcome: asString(outcome) ?? '',
        output: asString(output) ?? '',
        ...optional('id', asString(id)),
      };
      events.push({ type: 'code_result', ...place, ...result, ...signed });
    } else {
      events.push({ type: 'opaque', ...place, format: 'gemini', value: part });
    }
  }

  /** A call comes whole, or as a name, pieces of its arguments, and an empty object that ends it (wire.md C6). */
  #functionCall(call: JsonObject, part: JsonObject, events: GenerationEvent[]): void {
    const name = asString(call['name']);
    const goesOn = call['willContinue'] === true;
    if (name !== undefined && name !== '') this.#startCall(name, call, { part, goesOn }, events);
    const partial = this.#partial;
    if (!partial) return;
    for (const piece of objectsOf(call['partialArgs'])) partial.args.add(piece);
    // Nothing to show before the arguments are whole; the empty fragment tells the idle timeout that they move.
    if (goesOn) events.push({ type: 'tool_arguments', choice: this.#choice, call: partial.call, text: '' });
    else this.#closePartial(events);
  }

  #startCall(
    name: string,
    call: JsonObject,
    { part, goesOn }: { readonly part: JsonObject; readonly goesOn: boolean },
    events: GenerationEvent[],
  ): void {
    this.#closePartial(events);
    const custom = this.#reply.customTools?.includes(name) ?? false;
    const index = this.#calls++;
    events.push({
      type: 'tool_call',
      choice: this.#choice,
      block: this.#newBlock(),
      call: index,
      id: asString(call['id']) || this.#reply.newCallId(),
      name,
      ...(custom && { custom }),
      ...optional('signature', asString(part['thoughtSignature'])),
    });
    if (goesOn || call['partialArgs'] !== undefined) {
      this.#partial = { call: index, custom, args: new PartialArguments(call['args']) };
      return;
    }
    const text = argumentsText(call['args'], custom);
    events.push({ type: 'tool_arguments', choice: this.#choice, call: index, text });
  }

  #closePartial(events: GenerationEvent[]): void {
    if (!this.#partial) return;
    const { call, custom, args } = this.#partial;
    this.#partial = undefined;
    const json = args.toJson();
    const text = custom ? argumentsText(JSON.parse(json), custom) : json;
    events.push({ type: 'tool_arguments', choice: this.#choice, call, text });
  }

  #newBlock(): number {
    this.#open = undefined;
    return this.#nextBlock++;
  }
}

/** A free-text tool was declared as a function of one string, `input` (wire.md D5); its client waits for the bare text. */
function argumentsText(args: unknown, custom: boolean): string {
  if (custom && isObject(args) && typeof args['input'] === 'string') return args['input'];
  return JSON.stringify(args ?? {});
}

function logprobsOf(result: unknown): LogprobToken[] {
  if (!isObject(result)) return [];
  const alternatives = objectsOf(result['topCandidates']);
  return objectsOf(result['chosenCandidates']).map((chosen, index) => {
    const top = alternatives[index] && objectsOf(alternatives[index]['candidates']).map(tokenOf);
    return { ...tokenOf(chosen), ...optional('top', top) };
  });
}

function tokenOf(entry: JsonObject): { token: string; logprob: number } {
  return { token: asString(entry['token']) ?? '', logprob: asNumber(entry['logProbability']) ?? 0 };
}
