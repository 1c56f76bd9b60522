import type { JsonObject } from '../conversation.ts';
import { brokenGeneration } from '../broken-generation.ts';
import type { GenerationEvent, LogprobToken, UpstreamFailure } from '../events.ts';
import type { ReplyContext } from '../format.ts';
import { lose, TOO_MANY_CITATIONS, type LossNotes } from '../losses/reply-losses.ts';
import { AnswerText } from './answer-text.ts';
import { FunctionCallReader } from './call-reader.ts';
import { mapFinish } from './finish.ts';
import { citationsOf } from './grounding.ts';
import { MetadataReader } from './metadata.ts';
import { decodeCode, toPartBlock, toThoughtBlock } from './parts.ts';
import { OWN_MAKER } from './thought-signature.ts';
import { asList, asNumber, objectsOf, optional } from './wire.ts';
import { stringOf, isObject } from '../json/object.ts';
import { LiteralText } from '../json/literal.ts';

/** A block of the prompt by the filter: `promptFeedback`. */
export interface PromptBlock {
  readonly reason: string;
  readonly message: string | undefined;
  /** The ratings of the filter, as candidate metadata. */
  readonly ratings: JsonObject | undefined;
}

/** Searches in the web, in stored files and in maps, and pictures made. */
interface CandidatePieces {
  readonly searches: number;
  readonly fileSearches: number;
  readonly mapSearches: number;
  readonly images: number;
}

/** Maximum number of parts without a place in the answer that become a block each. Real replies have one. */
const MAX_UNPLACED = 100;

/** Clients of the first thinking models expect thoughts in the text (docs/protocols/replies.md#inline-thoughts). */
export const INLINE_THINKER = /gemini-2\.0-flash-thinking/;

/**
 * Reads one candidate, whole or in chunks. Adjacent parts of one kind (text or thinking) are one block, because a
 * stream cuts a part anywhere. A signature closes its block, because it does not sign what follows. Every other part is
 * a block of its own. A plain reply follows the same rule, so a stream folds to the same message.
 */
export class CandidateReader {
  readonly choice: number;
  readonly #notes: LossNotes;
  readonly #calls: FunctionCallReader;
  readonly #inline: { readonly inline?: true };
  readonly #unflagged: UnflaggedThoughts | undefined;
  #nextBlock = 0;
  #open: { readonly kind: 'text' | 'thinking'; readonly block: number } | undefined;
  /** True when a part of the answer other than a call was read. */
  #hasContent = false;
  /** Parts without a place in the answer. They are held until the end, because the answer may hold nothing else. */
  readonly #unplaced: JsonObject[] = [];
  readonly #others: unknown[] = [];
  readonly #answer = new AnswerText();
  readonly #metadata = new MetadataReader();
  #finish: string | undefined;
  #finishMessage: string | undefined;
  #images = 0;

  constructor(choice: number, reply: ReplyContext, notes: LossNotes) {
    this.choice = choice;
    this.#notes = notes;
    const isInline = INLINE_THINKER.test(reply.model);
    this.#inline = isInline ? { inline: true } : {};
    this.#unflagged = isInline ? new UnflaggedThoughts() : undefined;
    this.#calls = new FunctionCallReader({ choice, newBlock: () => this.#newBlock() }, reply);
  }

  get finished(): boolean {
    return this.#finish !== undefined;
  }

  get broken(): UpstreamFailure | undefined {
    return brokenGeneration(this.#finish, this.#finishMessage);
  }

  /** Pieces that Google charges besides tokens; undefined for most answers, which have none. */
  get pieces(): CandidatePieces | undefined {
    if (this.#images === 0 && this.#metadata.value['groundingMetadata'] === undefined) return undefined;
    return { ...searchesOf(this.#metadata.value['groundingMetadata']), images: this.#images };
  }

  /** True when no part of the answer is readable and no finish reason explains that. */
  get useless(): boolean {
    const empty = !this.#hasContent && this.#calls.count === 0;
    return empty && this.#unplaced.length > 0 && mapFinish(this.#finish, false) === 'stop';
  }

  read(candidate: JsonObject, events: GenerationEvent[]): void {
    const content = candidate['content'] ?? undefined;
    const parts = isObject(content) ? asList(content['parts']) : asList(content);
    for (const part of this.#unflagged ? this.#unflagged.take(parts) : parts) {
      if (isObject(part)) this.#part(part, events);
      else if (part !== null) this.#unplace(part);
    }
    const tokens = logprobsOf(candidate['logprobsResult']);
    if (tokens.length > 0) events.push({ type: 'logprobs', choice: this.choice, tokens });
    this.#metadata.read(candidate);
    // The finish reason may be on a chunk before the last. It takes effect only at the end
    // (docs/protocols/gemini.md#early-finish).
    this.#finish = stringOf(candidate['finishReason']) ?? this.#finish;
    this.#finishMessage = stringOf(candidate['finishMessage']) ?? this.#finishMessage;
  }

  /** A block may be a hundred times the size of its part, so parts beyond the limit share one block, as a list. */
  #unplace(part: unknown): void {
    if (this.#unplaced.length < MAX_UNPLACED) this.#unplaced.push(toPartBlock(part));
    else if (this.#others.push(part) === 1) this.#unplaced.push(toPartBlock(this.#others));
  }

  /**
   * `blocked`: the filter stopped an answer that had begun. A choice that the model did not finish ends with the
   * filter's reason (docs/protocols/replies.md#finish-reasons).
   */
  end(events: GenerationEvent[], blocked?: PromptBlock): void {
    for (const part of this.#unflagged?.rest() ?? []) this.#part(part, events);
    this.#calls.close(events);
    const choice = this.choice;
    const metadata = this.#metadata.value;
    const grounding = metadata['groundingMetadata'];
    if (isObject(grounding)) {
      const { text, partStarts } = this.#answer.read();
      const { citations, cut } = citationsOf(grounding, text, partStarts);
      for (const citation of citations) events.push({ type: 'citation', choice, citation });
      if (cut) lose(this.#notes, 'citations', TOO_MANY_CITATIONS);
    }
    const notes = Object.keys(metadata).length > 0 ? [...this.#unplaced, metadata] : this.#unplaced;
    for (const value of notes)
      events.push({ type: 'opaque', choice, block: this.#newBlock(), format: 'gemini', value });
    events.push(this.#ending(blocked));
  }

  #ending(blocked: PromptBlock | undefined): GenerationEvent {
    const choice = this.choice;
    if (blocked && !this.finished) {
      const { reason, message } = blocked;
      return { type: 'finish', choice, reason: 'content_filter', native: reason, ...optional('message', message) };
    }
    return {
      type: 'finish',
      choice,
      reason: mapFinish(this.#finish, this.#calls.count > 0),
      ...optional('native', this.#finish),
      ...optional('message', this.#finishMessage),
    };
  }

  #part(part: JsonObject, events: GenerationEvent[]): void {
    const signature = stringOf(part['thoughtSignature']);
    const call = part['functionCall'];
    if (isObject(call)) {
      if (!this.#calls.read(call, signature, events)) this.#unplace(part);
      return;
    }
    const text = stringOf(part['text']);
    // A part that holds only a signature is an empty text or thought.
    const onlySigned = Object.keys(part).every((name) => name === 'thought' || name === 'thoughtSignature');
    if (text !== undefined || onlySigned) {
      const kind = part['thought'] === true ? 'thinking' : 'text';
      return this.#words(kind, text ?? '', signature, events);
    }
    this.#hasContent = true;
    this.#calls.settle(events);
    this.#whole(part, signature, events);
  }

  #words(kind: 'text' | 'thinking', text: string, signature: string | undefined, events: GenerationEvent[]): void {
    if (kind === 'text') this.#answer.add(text);
    if (text === '' && signature === undefined) return;
    this.#hasContent = true;
    if (text === '' && kind === 'text' && signature !== undefined && this.#calls.sign(signature, events)) return;
    this.#calls.settle(events);
    const choice = this.choice;
    if (this.#open?.kind !== kind) {
      this.#open = { kind, block: this.#newBlock() };
      // This event gives the block its type when only a signature follows.
      if (text === '' && kind === 'thinking') events.push({ type: kind, choice, block: this.#open.block, text });
    }
    const { block } = this.#open;
    const inline = kind === 'thinking' ? this.#inline : {};
    if (text !== '') events.push({ type: kind, choice, block, text, ...inline });
    if (signature === undefined) return;
    const made = kind === 'thinking' ? { maker: OWN_MAKER } : {};
    events.push({ type: 'signature', choice, block, signature, ...made });
    this.#open = undefined;
  }

  /** Reads consecutive text parts, each from an event of its own. */
  readTexts(literals: readonly string[], events: GenerationEvent[]): void {
    this.#hasContent = true;
    this.#calls.settle(events);
    if (this.#open?.kind !== 'text') this.#open = { kind: 'text', block: this.#newBlock() };
    this.#answer.addLiterals(literals);
    events.push(new LiteralText(this.choice, this.#open.block, literals));
  }

  /** Reads a part that is a block of its own. */
  #whole(part: JsonObject, signature: string | undefined, events: GenerationEvent[]): void {
    const place = { choice: this.choice, block: this.#newBlock() };
    const signed = optional('signature', signature);
    const { inlineData, executableCode, codeExecutionResult } = part;
    const code = decodeCode(executableCode, codeExecutionResult);
    if (isObject(inlineData) && typeof inlineData['data'] === 'string') {
      const mime = stringOf(inlineData['mimeType']) ?? 'application/octet-stream';
      const { data } = inlineData;
      this.#images += Number(mime.startsWith('image/'));
      if (part['thought'] !== true) events.push({ type: 'media', ...place, mime, data, ...signed });
      else events.push({ type: 'opaque', ...place, format: 'gemini', value: toThoughtBlock(mime, data, signature) });
    } else if (code) events.push({ ...code, ...place, ...signed });
    else events.push({ type: 'opaque', ...place, format: 'gemini', value: toPartBlock(part) });
  }

  #newBlock(): number {
    this.#open = undefined;
    return this.#nextBlock++;
  }
}

/** Each query is a search (docs/protocols/gemini.md#searches). A grounded answer without a list of queries made one. */
function searchesOf(grounding: unknown): Omit<CandidatePieces, 'images'> {
  if (!isObject(grounding)) return NO_SEARCHES;
  const [web, images, files] = ['webSearchQueries', 'imageSearchQueries', 'retrievalQueries'].map(
    (name) => asList(grounding[name]).length,
  );
  const searches = web! + images!;
  const usesMaps = asList(grounding['groundingChunks']).some((chunk) => isObject(chunk) && isObject(chunk['maps']));
  return {
    searches: searches === 0 && isObject(grounding['searchEntryPoint']) ? 1 : searches,
    fileSearches: files!,
    // Google charges maps by grounded request, however many places it names.
    mapSearches: Number(usesMaps),
  };
}

const NO_SEARCHES = { searches: 0, fileSearches: 0, mapSearches: 0 };

function logprobsOf(result: unknown): LogprobToken[] {
  if (!isObject(result)) return [];
  const alternatives = objectsOf(result['topCandidates']);
  return objectsOf(result['chosenCandidates']).map((chosen, index) => {
    const top = alternatives[index] && objectsOf(alternatives[index]['candidates']).map(tokenOf);
    return { ...tokenOf(chosen), ...optional('top', top) };
  });
}

function tokenOf(entry: JsonObject): { token: string; logprob: number } {
  return { token: stringOf(entry['token']) ?? '', logprob: asNumber(entry['logProbability']) ?? 0 };
}

/** Characters that wait for the part after them. */
const MAX_HELD = 1024 * 1024;

/**
 * `gemini-2.0-flash-thinking` writes its thoughts and its answer as parts without a flag (docs/protocols/replies.md#inline-thoughts).
 * The last of several texts is the answer. A stream sends its thoughts alone at first, and the end of the last one with the beginning
 * of the answer: single texts wait for that, or for the end of the reply, because a reply of one text is an answer.
 */
class UnflaggedThoughts {
  #held: JsonObject[] = [];
  #size = 0;
  /** It is known where the answer begins. */
  #settled = false;

  /** The parts to read now, thoughts with a flag. */
  take(parts: readonly unknown[]): readonly unknown[] {
    if (this.#settled) return parts;
    if (!parts.every(isPlainText)) return [...this.rest(), ...parts];
    if (parts.length > 1) {
      const thoughts = [...this.rest(), ...parts.slice(0, -1).filter(isObject)];
      return [...thoughts.map((part) => ({ ...part, thought: true })), parts.at(-1)];
    }
    for (const part of parts) {
      this.#held.push(part);
      this.#size += part.text.length;
    }
    return this.#size > MAX_HELD ? this.rest() : [];
  }

  /** The texts that wait: an answer without thoughts. */
  rest(): readonly JsonObject[] {
    this.#settled = true;
    return this.#held.splice(0);
  }
}

const isPlainText = (part: unknown): part is JsonObject & { readonly text: string } =>
  isObject(part) && typeof part['text'] === 'string' && part['thought'] !== true;
