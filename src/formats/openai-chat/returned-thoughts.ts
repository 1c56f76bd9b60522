import type { JsonObject, Part, TextPart, ThinkingPart, Turn } from '../conversation.ts';
import type { GenerationEvent } from '../events.ts';
import type { RequestTarget } from '../request-target.ts';
import { isObject, listOf, parseJson, stringOf } from '../json/object.ts';
import { lose, type LossNotes } from '../losses/reply-losses.ts';
import { chatMaker, type Maker } from '../maker.ts';
import { takes } from './extensions.ts';

/**
 * Thoughts that a server of this API wants back (docs/protocols/replies.md#returned-thoughts). They have no signature of their own, so
 * the gateway gives them one: the name of the field that they came in, or the JSON of their `reasoning_details`.
 */
const FIELDS = ['reasoning_content', 'reasoning'] as const;
/** Thoughts among the parts of `content` (Mistral). */
const CONTENT = 'content';

/** Longer details are lost: an envelope has a limit too (envelope.ts). */
const MAX_DETAILS = 256 * 1024;
/** Each detail counts this many characters besides its texts, which bounds the number of details. */
const LEAST_SIZE = 64;

/** The maker of the thoughts of a target. Undefined for one that does not take them back. */
export const thoughtMaker = (target: Pick<RequestTarget, 'signatureScope' | 'extensions'>): Maker | undefined =>
  target.signatureScope === undefined || !takes(target, 'reasoning_content')
    ? undefined
    : chatMaker(target.signatureScope);

/** A thought of a message or a delta, and the field that it is in. `reasoning` repeats the texts of `reasoning_details`. */
export function thoughtIn(message: JsonObject): { readonly text: string; readonly field: string } | undefined {
  for (const field of FIELDS) {
    const text = stringOf(message[field]);
    if (text) return { text, field };
  }
  if (Array.isArray(message.content)) {
    const text = joinedTexts(
      message.content.filter((part) => isObject(part) && part.type === 'thinking'),
      'thinking',
    );
    if (text !== '') return { text, field: CONTENT };
  }
  if (!Array.isArray(message.reasoning_details)) return undefined;
  const text = joinedTexts(message.reasoning_details, 'text', 'summary');
  return text === '' ? undefined : { text, field: FIELDS[0] };
}

/** Texts in fields of the items, or in items of a list there. */
const joinedTexts = (items: readonly unknown[], ...fields: readonly string[]): string =>
  items
    .filter(isObject)
    .flatMap((item) => fields.map((field) => item[field]))
    .map((value) => (Array.isArray(value) ? joinedTexts(value, 'text') : (stringOf(value) ?? '')))
    .join('');

/** Numbers the blocks of a choice. */
interface Blocks {
  /** The open block of text. */
  readonly text: number | undefined;
  next(): number;
}

interface ChoiceOutput {
  readonly choice: number;
  readonly blocks: Blocks;
  readonly notes: LossNotes;
}

/** Signs the thoughts of one choice, whose server may take them back. */
export class ThoughtSigner {
  readonly #maker: Maker | undefined;
  readonly #to: ChoiceOutput;
  /** The block of the thought that is not signed yet, and its field. */
  #block: number | undefined;
  #field = '';
  #details: JsonObject[] = [];
  #size = 0;
  /** There was a thought, so an empty field is no empty thought. */
  #thought = false;

  constructor(maker: Maker | undefined, to: ChoiceOutput) {
    this.#maker = maker;
    this.#to = to;
  }

  /** Kimi and DeepSeek refuse calls without the field, also where they thought nothing. */
  empty(message: JsonObject): void {
    if (this.#thought || this.#field !== '') return;
    this.#field = FIELDS.find((name) => message[name] === '') ?? '';
  }

  thought(block: number, field: string): void {
    this.#thought = true;
    this.#block = block;
    this.#field = field;
  }

  /** Fragments of one detail have its index and its type. */
  details(details: readonly unknown[]): void {
    for (const detail of details) {
      if (!isObject(detail)) continue;
      this.#size += joinedTexts([detail], 'text', 'summary', 'data').length + LEAST_SIZE;
      if (this.#size > MAX_DETAILS) continue;
      const last = this.#details.at(-1);
      if (last && last.index !== undefined && last.index === detail.index && last.type === detail.type)
        this.#details[this.#details.length - 1] = joined(last, detail);
      else this.#details.push(detail);
    }
  }

  /** Signs what the events from `at` on end: a thought ends before any other content, details without a thought before a call. */
  sign(out: GenerationEvent[], at: number): void {
    if (this.#block !== undefined) return this.#write(out, at, this.#block);
    if (this.#size === 0 && this.#field === '') return;
    const call = out.findIndex(({ type }, index) => index >= at && type === 'tool_call');
    if (call >= 0) this.#write(out, call, undefined);
  }

  /** Details at the end belong to the text before them. */
  close(out: GenerationEvent[]): void {
    const block = this.#block ?? this.#to.blocks.text;
    if (this.#block !== undefined || this.#size > 0) this.#write(out, out.length, block);
  }

  /** @param known undefined: details without a thought are one without a text */
  #write(out: GenerationEvent[], at: number, known: number | undefined): void {
    const { choice, blocks, notes } = this.#to;
    const maker = this.#size > MAX_DETAILS ? undefined : this.#maker;
    const signature = this.#details.length > 0 ? JSON.stringify(this.#details) : this.#field;
    // Details that are not signed are a loss: the thought cannot go back with them.
    if (maker === undefined && this.#size > 0) lose(notes, 'reasoning_details');
    this.#thought = true;
    this.#block = undefined;
    this.#field = '';
    this.#details = [];
    this.#size = 0;
    if (maker === undefined || signature === '') return;
    const place = { choice, block: known ?? blocks.next() };
    if (known === undefined) out.splice(at++, 0, { type: 'thinking', ...place, text: '' });
    out.splice(at, 0, { type: 'signature', ...place, signature, maker });
  }
}

function joined(open: JsonObject, more: JsonObject): JsonObject {
  const whole = { ...open };
  for (const [key, value] of Object.entries(more)) {
    if (value === null) continue;
    const before = whole[key];
    const isText = key === 'text' || key === 'summary' || key === 'data';
    whole[key] = isText && typeof before === 'string' && typeof value === 'string' ? before + value : value;
  }
  return whole;
}

/** The thoughts of an assistant's turn, as its target takes them back. */
export class ReturnedThoughts {
  readonly #maker: Maker | undefined;
  /** The turn has calls, and no signature says whose it is. */
  readonly #isAnyones: boolean;
  /** Fields of the message. */
  readonly fields: JsonObject = {};

  constructor({ parts }: Pick<Turn, 'parts'>, target: RequestTarget) {
    this.#maker = thoughtMaker(target);
    this.#isAnyones =
      takes(target, 'reasoning_content') &&
      parts.some(({ type }) => type === 'tool_call') &&
      parts.every((part) => !('signature' in part) || part.signature === undefined);
  }

  /** True for a thought of the target that is now in `fields`; else its part of `content`, if it has one. */
  take(part: Part): boolean | JsonObject {
    if (part.type === 'thinking') return this.#thought(part);
    // Details that came behind a text are on it.
    return part.type === 'text' && this.#isOwn(part) && this.#addDetails(part.signature) && textPart(part.text);
  }

  #thought(part: ThinkingPart): boolean | JsonObject {
    const { text, signature, unnamed, shown } = part;
    // Clients of the Gemini API may leave out the signature. Kimi and DeepSeek refuse calls without their thoughts.
    if (signature === undefined) return this.#isAnyones && !unnamed && !shown && this.#add(FIELDS[0], text);
    if (!this.#isOwn(part)) return false;
    if (signature === CONTENT) return { type: 'thinking', thinking: [textPart(text)] };
    const field = FIELDS.find((name) => name === signature);
    return field ? this.#add(field, text) : this.#addDetails(signature);
  }

  readonly #isOwn = ({ maker }: Pick<TextPart, 'maker'>): boolean => maker !== undefined && maker === this.#maker;

  #add(field: string, text: string): true {
    this.fields[field] = `${stringOf(this.fields[field]) ?? ''}${text}`;
    return true;
  }

  #addDetails(signature = ''): boolean {
    const details = listOf(parseJson(signature));
    if (!details?.every(isObject)) return false;
    this.fields.reasoning_details = [...(listOf(this.fields.reasoning_details) ?? []), ...details];
    return true;
  }
}

const textPart = (text: string): JsonObject => ({ type: 'text', text });
