import type { JsonObject } from '../conversation.ts';
import type { GenerationEvent } from '../events.ts';
import { parseDataUri } from '../media/media-types.ts';
import { AFTER_THOUGHTS } from './content-blocks.ts';
import { citationsOf, interleave } from './decode-parts.ts';
import { isObject, stringOf } from '../json/object.ts';
import { readMaker, type Maker } from '../maker.ts';
import { mcpPart } from '../mcp-parts.ts';
import { Queue } from '../streams/queue.ts';

type BlockKind = 'text' | 'thinking' | 'spoken';

/**
 * Numbers the content blocks of one choice. OpenAI's wire has no blocks: text that follows text belongs to one block
 * until other content arrives. `content_blocks` have their own indexes, which keep adjacent blocks apart.
 */
export class BlockNumbers {
  #last = -1;
  #kind: BlockKind | undefined;
  /** The sender's index of the open block, if it sent one. */
  #sender: number | undefined;
  readonly #known = new Map<number, number>();
  /** Text blocks that arrived without an index, oldest first: the sender may send their indexes later. */
  readonly #unreported = new Queue<number>();

  /** Returns the block of a fragment of text or thinking: the open block if it continues that, or a new one. */
  open(kind: BlockKind, sender?: number): number {
    const same = this.#kind === kind && (sender === undefined || this.#sender === undefined || this.#sender === sender);
    if (!same) {
      this.next();
      this.#kind = kind;
      if (kind === 'text') this.#unreported.push(this.#last);
    }
    this.#bind(sender);
    return this.#last;
  }

  /** The open block of text. */
  get text(): number | undefined {
    return this.#kind === 'text' ? this.#last : undefined;
  }

  /** Binds the sender's index to the oldest text block that has none. */
  learn(sender: number): void {
    const block = this.#unreported.shift();
    if (block === undefined) return;
    this.#known.set(sender, block);
    if (block === this.#last) this.#sender = sender;
  }

  /** Returns the block that a signature with the sender's index belongs to, or a new one for an unknown index. */
  signed(sender: number): number {
    const known = this.#known.get(sender);
    if (known !== undefined) return known;
    this.next();
    this.#kind = 'text';
    this.#bind(sender);
    return this.#last;
  }

  /** Returns a new block for content that arrives whole, and closes the open block. */
  next(): number {
    this.#kind = undefined;
    this.#sender = undefined;
    return ++this.#last;
  }

  #bind(sender: number | undefined): void {
    if (sender === undefined || this.#sender !== undefined) return;
    this.#sender = sender;
    this.#known.set(sender, this.#last);
    if (this.#unreported.last() === this.#last) this.#unreported.pop();
  }
}

/**
 * Decodes the reply extensions (docs/protocols/replies.md#reply-extensions) of an upstream that is itself a gateway
 * like this one: `content_blocks` and `content_parts`, whole in a plain reply, fragments in a stream.
 */
interface BlockOutput {
  readonly choice: number;
  readonly blocks: BlockNumbers;
  readonly out: GenerationEvent[];
}

/** Whether the blocks of a message included its `content`: as text, or as a chain of thought. */
type TextRead = boolean | 'thoughts';

/**
 * Reads the blocks of a plain reply. Returns true when they included the text of the message. Texts of `content_parts`
 * count in a `whole` message only: a stream sends them after the same text was read as `content`.
 */
export function readWholeBlocks(
  message: JsonObject,
  content: string,
  place: BlockOutput & { readonly whole: boolean },
): boolean {
  const blocks = Array.isArray(message.content_blocks) ? message.content_blocks : [];
  const parts = Array.isArray(message.content_parts) ? message.content_parts : [];
  const streamed = blocks.some((block) => isObject(block) && isObject(block.delta));
  if (streamed || (blocks.length === 0 && !(place.whole && parts.some(isTextItem)))) return false;
  const items = interleave(blocks, parts);
  const texts = items.some(isTextItem);
  const inline = showsThoughts(content, items);
  if (!texts && content && !inline) items.splice(firstMedia(items), 0, { type: 'text', text: content });
  for (const item of items) if (isObject(item)) readWhole(item, { ...place, inline });
  return true;
}

/** True when `content` is the thinking and the text of the blocks (docs/protocols/replies.md#inline-thoughts). */
function showsThoughts(content: string, items: readonly unknown[]): boolean {
  const joined = (type: 'text' | 'thinking'): string =>
    items.map((item) => (isObject(item) && item.type === type ? (stringOf(item[type]) ?? '') : '')).join('');
  const [thoughts, texts] = [joined('thinking'), joined('text')];
  if (thoughts === '' || !content.startsWith(thoughts)) return false;
  return content === (texts === '' ? thoughts : `${thoughts}${AFTER_THOUGHTS}${texts}`);
}

function isTextItem(item: unknown): boolean {
  return isObject(item) && item.type === 'text';
}

function firstMedia(items: readonly unknown[]): number {
  const at = items.findIndex((item) => isObject(item) && item.type === 'image_url');
  return at < 0 ? items.length : at;
}

function readWhole(item: JsonObject, place: BlockOutput & { readonly inline: boolean }): void {
  const { choice, blocks, out } = place;
  const text = stringOf(item.text);
  const thinking = stringOf(item.thinking);
  const signature = stringOf(item.signature);
  // A thought with an image (Gemini's drafts) is more than text.
  if (item.type === 'text' || (item.type === 'thinking' && !('image_url' in item))) {
    const block = blocks.next();
    const fragment = item.type === 'text' ? text : thinking;
    // A signature without content is that of a text (fold.ts), so empty thinking needs an event of its own.
    if (fragment || !signature || item.type === 'thinking') {
      const inline = item.type === 'thinking' && place.inline ? { inline: true } : {};
      out.push({ type: item.type, choice, block, text: fragment ?? '', ...inline });
    }
    if (signature) out.push({ type: 'signature', choice, block, signature, ...makerIn(item) });
    if (Array.isArray(item.citations)) out.push({ ...citationsOf(item.citations), choice, block });
  } else readSpecial(item, { choice, blocks, out });
}

/** Reads the fragments of a stream. True when they included this chunk's `content`, which is not read twice. */
export function readStreamedBlocks(delta: JsonObject, content: string, place: BlockOutput): TextRead {
  let textRead: TextRead = false;
  if (Array.isArray(delta.content_blocks)) {
    const own = ownText(delta.content_blocks, content);
    for (const [at, item] of delta.content_blocks.entries()) {
      if (!isObject(item) || !isObject(item.delta)) continue;
      const sender = typeof item.index === 'number' ? item.index : 0;
      textRead = readFragment(item.delta, sender, { ...place, content: at === own ? content : '' }) || textRead;
    }
  }
  if (Array.isArray(delta.content_parts)) {
    // The text of a streamed part is in `content` too, so only the other items are read here.
    for (const item of delta.content_parts) if (isObject(item) && item.type !== 'text') readSpecial(item, place);
  }
  return textRead;
}

/** Generated images as OpenRouter and LiteLLM send them: `images` of a message or a delta, with data URIs. */
export function readImages(images: readonly unknown[], place: BlockOutput): void {
  for (const image of images) if (isObject(image)) readSpecial({ ...image, type: 'image_url' }, place);
}

/** Index of the fragment that repeats the chunk's `content`. Earlier texts precede it and may be equal. */
function ownText(items: readonly unknown[], content: string): number {
  if (content === '') return -1;
  return items.findLastIndex(
    (item) =>
      isObject(item) && isObject(item.delta) && (item.delta.text === content || item.delta.thinking === content),
  );
}

function readFragment(delta: JsonObject, sender: number, place: BlockOutput & { readonly content: string }): TextRead {
  const { choice, blocks, out, content } = place;
  if (typeof delta.type === 'string') {
    readSpecial(delta, place);
    return false;
  }
  const shown = content !== '' && delta.thinking === content;
  if (typeof delta.thinking === 'string') {
    const block = blocks.open('thinking', sender);
    out.push({ type: 'thinking', choice, block, text: delta.thinking, ...(shown && { inline: true }) });
  }
  if (typeof delta.data === 'string')
    out.push({ type: 'redacted_thinking', choice, block: blocks.next(), data: delta.data, ...makerIn(delta) });
  const mirrored = typeof delta.text === 'string' && delta.text !== '' && delta.text === content;
  if (mirrored) out.push({ type: 'text', choice, block: blocks.open('text', sender), text: content });
  // Any other text was the `content` of an earlier chunk (choice-writer.ts): the fragment only adds its index.
  else if (typeof delta.text === 'string') blocks.learn(sender);
  if (typeof delta.signature === 'string') {
    const { signature } = delta;
    out.push({ type: 'signature', choice, block: blocks.signed(sender), signature, ...makerIn(delta) });
  }
  if (Array.isArray(delta.citations))
    out.push({ ...citationsOf(delta.citations), choice, block: blocks.signed(sender) });
  return shown ? 'thoughts' : mirrored;
}

/** The tag of a signature, as another gateway like this one writes it. */
const makerIn = (block: JsonObject): { readonly maker?: Maker } => readMaker(stringOf(block.maker));

function readSpecial(item: JsonObject, { choice, blocks, out }: BlockOutput): void {
  const signature = stringOf(item.signature);
  const signed = signature ? { signature, ...makerIn(item) } : {};
  const id = stringOf(item.id);
  const shared = { choice, block: blocks.next(), ...signed };
  switch (item.type) {
    case 'redacted_thinking':
      out.push({
        type: 'redacted_thinking',
        choice,
        block: shared.block,
        data: stringOf(item.data) ?? '',
        ...makerIn(item),
      });
      return;
    case 'image_url': {
      const inline = isObject(item.image_url) ? parseDataUri(stringOf(item.image_url.url) ?? '') : undefined;
      if (inline) out.push({ type: 'media', mime: inline.mime ?? 'image/png', data: inline.data, ...shared });
      return;
    }
    case 'code':
      out.push({
        type: 'code',
        language: stringOf(item.language) ?? '',
        code: stringOf(item.code) ?? '',
        ...(id && { id }),
        ...shared,
      });
      return;
    case 'code_result': {
      const { outcome, output } = item;
      out.push({
        type: 'code_result',
        outcome: stringOf(outcome) ?? '',
        output: stringOf(output) ?? '',
        ...(id && { id }),
        ...shared,
      });
      return;
    }
    default: {
      const mcp = mcpPart(item);
      if (mcp) {
        out.push({ ...mcp, choice, block: shared.block });
        return;
      }
      // A thought with an image is one of Gemini's drafts.
      const format = item.type === 'gemini_part' || item.type === 'thinking' ? 'gemini' : 'anthropic-messages';
      out.push({ type: 'opaque', choice, block: shared.block, format, value: item });
    }
  }
}
