import type { JsonObject } from '../conversation.ts';
import type { FinishReason, GenerationEvent, LogprobToken, UrlCitation } from '../events.ts';
import type { ReplyContext } from '../format.ts';
import { sniffAudioMime } from '../media.ts';
import { BlockNumbers } from './block-numbers.ts';
import { readStreamedBlocks, readWholeBlocks } from './decode-blocks.ts';
import { CallReader } from './decode-calls.ts';
import { isObject, stringOf } from './read.ts';

/**
 * Reads one choice. A plain reply is read as a single large delta: so a stream and a plain reply cannot disagree.
 * The finish is given at the end of the reply only: some servers send content after it, and it depends on the calls seen.
 */
export class ChoiceReader {
  readonly index: number;
  readonly #blocks = new BlockNumbers();
  readonly #calls: CallReader;
  readonly #sound: Buffer[] = [];
  #finish: string | undefined;
  #native: string | undefined;

  constructor(index: number, reply: ReplyContext) {
    this.index = index;
    this.#calls = new CallReader(index, reply, this.#blocks);
  }

  get finished(): boolean {
    return this.#finish !== undefined;
  }

  /** `choice` of a chunk, or of a plain reply (`message` in place of `delta`). */
  read(choice: JsonObject, out: GenerationEvent[]): void {
    if (isObject(choice.delta)) this.#readDelta(choice.delta, out);
    else if (isObject(choice.message)) this.#readDelta(choice.message, out);
    this.#readLogprobs(choice.logprobs, out);
    // Some servers write the empty string where OpenAI writes null.
    this.#finish ||= stringOf(choice.finish_reason) || undefined;
    this.#native ||= stringOf(choice.native_finish_reason) || undefined;
  }

  #readDelta(delta: JsonObject, out: GenerationEvent[]): void {
    const { index: choice } = this;
    // DeepSeek and vLLM say `reasoning_content`; OpenRouter and newer vLLM say `reasoning`.
    const reasoning = delta.content_blocks ? undefined : stringOf(delta.reasoning_content) || stringOf(delta.reasoning);
    const thinking = reasoning || thinkingOf(delta.content);
    if (thinking) out.push({ type: 'thinking', choice, block: this.#blocks.open('thinking'), text: thinking });
    const content = textOf(delta.content);
    const place = { choice, blocks: this.#blocks, out };
    const textRead = readWholeBlocks(delta, content, place) || readStreamedBlocks(delta, content, place);
    if (content && !textRead) out.push({ type: 'text', choice, block: this.#blocks.open('text'), text: content });
    const refusal = stringOf(delta.refusal);
    if (refusal) out.push({ type: 'refusal', choice, text: refusal });
    if (isObject(delta.audio)) this.#readSound(delta.audio, out);
    if (Array.isArray(delta.annotations)) this.#readAnnotations(delta.annotations, out);
    this.#calls.read(delta, out);
  }

  /** The transcript is what was said: it is the text. The sound itself is kept until it is whole. */
  #readSound(audio: JsonObject, out: GenerationEvent[]): void {
    const transcript = stringOf(audio.transcript);
    if (transcript) out.push({ type: 'text', choice: this.index, block: this.#blocks.open('text'), text: transcript });
    const data = stringOf(audio.data);
    if (data) this.#sound.push(Buffer.from(data, 'base64'));
  }

  #readAnnotations(annotations: readonly unknown[], out: GenerationEvent[]): void {
    for (const annotation of annotations) {
      const citation = isObject(annotation) ? decodeCitation(annotation.url_citation) : undefined;
      if (citation) out.push({ type: 'citation', choice: this.index, citation });
    }
  }

  #readLogprobs(logprobs: unknown, out: GenerationEvent[]): void {
    if (!isObject(logprobs) || !Array.isArray(logprobs.content)) return;
    const tokens = logprobs.content.flatMap(decodeLogprob);
    if (tokens.length > 0) out.push({ type: 'logprobs', choice: this.index, tokens });
  }

  /** What is wrong with the choice, if anything: a call whose name never came cannot be passed on. */
  fault(): string | undefined {
    return this.#calls.unnamed ? 'The upstream sent a tool call without a name.' : undefined;
  }

  close(out: GenerationEvent[]): void {
    const choice = this.index;
    if (this.#sound.length > 0) {
      const data = Buffer.concat(this.#sound).toString('base64');
      out.push({ type: 'media', choice, block: this.#blocks.next(), mime: sniffAudioMime(data), data });
    }
    const reason = mapFinish(this.#finish, this.#calls.count > 0);
    const native = this.#native ?? (this.#finish === reason ? undefined : this.#finish);
    out.push({ type: 'finish', choice, reason, ...(native !== undefined && { native }) });
  }
}

/**
 * wire.md D10. A forced function call ends with `stop` at OpenAI itself, and a client of another API takes that for a finished
 * answer: with calls it is `tool_calls`. Absent or unknown words read as `stop`, as that table does.
 */
export function mapFinish(word: string | undefined, calls: boolean): FinishReason {
  switch (word) {
    case 'length':
    case 'content_filter':
    case 'tool_calls':
      return word;
    case 'function_call':
      return 'tool_calls';
    default:
      return calls ? 'tool_calls' : 'stop';
  }
}

/**
 * Mistral's reasoning models answer in parts: `{type:"text",text}`, and `{type:"thinking",thinking:[{type:"text",text}]}` before
 * them.
 */
function textOf(content: unknown): string {
  if (!Array.isArray(content)) return stringOf(content) ?? '';
  return content.map((part) => (isObject(part) && part.type === 'text' ? (stringOf(part.text) ?? '') : '')).join('');
}

function thinkingOf(content: unknown): string {
  if (!Array.isArray(content)) return '';
  return content.map((part) => (isObject(part) && part.type === 'thinking' ? textOf(part.thinking) : '')).join('');
}

function decodeCitation(raw: unknown): UrlCitation | undefined {
  if (!isObject(raw)) return undefined;
  const url = stringOf(raw.url);
  if (url === undefined) return undefined;
  const title = stringOf(raw.title);
  const [start, end] = [raw.start_index, raw.end_index].map((at) => (typeof at === 'number' ? at : 0));
  return { url, start: start ?? 0, end: end ?? 0, ...(title && { title }) };
}

function decodeLogprob(raw: unknown): LogprobToken[] {
  if (!isObject(raw) || typeof raw.token !== 'string' || typeof raw.logprob !== 'number') return [];
  const { token, logprob } = raw;
  const top = Array.isArray(raw.top_logprobs) ? raw.top_logprobs.flatMap(decodeLogprob) : [];
  return [{ token, logprob, ...(top.length > 0 && { top }) }];
}
