import type { LogprobToken, UrlCitation } from '../events.ts';
import { jsonBytes } from '../json/literal.ts';
import { WrittenText } from '../json/written-text.ts';
import { TEXT_DELTA, type ItemPlace, type ResponseEvents } from './response-events.ts';

/** The parts of a message: the member with the text of each, and its events. */
const PARTS = {
  output_text: { member: 'text', delta: TEXT_DELTA, done: 'output_text.done' },
  refusal: { member: 'refusal', delta: 'refusal.delta', done: 'refusal.done' },
} as const;
type PartType = keyof typeof PARTS;

interface OpenPart {
  readonly type: PartType;
  /** The members by which its events name it. */
  readonly head: string;
  readonly text: WrittenText;
  /** As JSON, like the log probabilities. Refusals have neither. */
  readonly annotations: string[];
  readonly logprobs: string[];
}

/** A literal may hold the whole read that it was cut from. */
const LITERALS_APART = 16;

/**
 * A message while it is written. `add('output_text', 'Hi')`, `cite(…)` and `whole('completed')` write these events, and return the
 * item with this part as its content:
 *
 * | Event `response.…`             | Members, behind `"item_id":"msg_…","output_index":0,"content_index":0`              |
 * | ------------------------------ | ------------------------------------------------------------------------------------ |
 * | `content_part.added`           | `"part":{"type":"output_text","annotations":[],"logprobs":[],"text":""}`             |
 * | `output_text.delta`            | `"delta":"Hi","logprobs":[]`                                                         |
 * | `output_text.annotation.added` | `"annotation_index":0,"annotation":{"type":"url_citation",…}`                        |
 * | `output_text.done`             | `"text":"Hi","logprobs":[]`                                                          |
 * | `content_part.done`            | `"part":{"type":"output_text","annotations":[{…}],"logprobs":[],"text":"Hi"}`        |
 */
export class MessageItem {
  readonly place: ItemPlace;
  readonly phase: string | undefined;
  /** The texts of the answer that are whole, as literals. */
  readonly texts: string[] = [];
  readonly #stream: ResponseEvents | undefined;
  readonly #offset: number;
  /** The parts that are whole, as JSON. */
  readonly #parts: string[] = [];
  #open: OpenPart | undefined;

  /** @param offset UTF-16 units of the answer before this message: citations count from the start of the answer */
  constructor(
    place: ItemPlace,
    stream: ResponseEvents | undefined,
    { phase, offset }: { readonly phase: string | undefined; readonly offset: number },
  ) {
    this.place = place;
    this.phase = phase;
    this.#stream = stream;
    this.#offset = offset;
  }

  /** The item as it is announced. */
  static begun(phase: string | undefined): string {
    return itemOf('in_progress', phase, '');
  }

  add(type: PartType, literal: string): void {
    const { text, head } = this.#open?.type === type ? this.#open : this.#openPart(type);
    text.add(literal);
    this.#stream?.delta(PARTS[type].delta, head, literal);
  }

  /** False where no text of the answer is open. */
  cite({ url, title = '', start, end }: UrlCitation): boolean {
    if (this.#open?.type !== 'output_text') return false;
    const [start_index, end_index] = [Math.max(0, start - this.#offset), Math.max(0, end - this.#offset)];
    const annotation = jsonBytes({ type: 'url_citation', url, title, start_index, end_index });
    const { annotations, head } = this.#open;
    const at = annotations.push(annotation) - 1;
    this.#stream?.event('output_text.annotation.added', `${head},"annotation_index":${at},"annotation":${annotation}`);
    return true;
  }

  /** False where no text of the answer is open. */
  logprobs(tokens: readonly LogprobToken[]): boolean {
    if (this.#open?.type !== 'output_text') return false;
    for (const token of tokens)
      this.#open.logprobs.push(jsonBytes({ ...encodeToken(token), top_logprobs: (token.top ?? []).map(encodeToken) }));
    return true;
  }

  whole(status: string): string {
    this.#closePart();
    return itemOf(status, this.phase, this.#parts.length === 1 ? this.#parts[0]! : this.#parts.join(','));
  }

  #openPart(type: PartType): OpenPart {
    this.#closePart();
    const head = `${this.place.head},"content_index":${this.#parts.length}`;
    const part = { type, head, text: new WrittenText(LITERALS_APART), annotations: [], logprobs: [] };
    this.#stream?.event('content_part.added', `${head},"part":${partOf(part, '')}`);
    return (this.#open = part);
  }

  #closePart(): void {
    const open = this.#open;
    if (!open) return;
    this.#open = undefined;
    const { type, head, logprobs } = open;
    const { member, done } = PARTS[type];
    const text = open.text.take();
    const part = partOf(open, text);
    const tokens = type === 'output_text' ? `,"logprobs":[${logprobs.join(',')}]` : '';
    this.#stream?.event(done, `${head},"${member}":"${text}"${tokens}`);
    this.#stream?.event('content_part.done', `${head},"part":${part}`);
    this.#parts.push(part);
    if (type === 'output_text') this.texts.push(text);
  }
}

function itemOf(status: string, phase: string | undefined, content: string): string {
  const role = phase ? `"role":"assistant","phase":${jsonBytes(phase)}` : '"role":"assistant"';
  return `{"type":"message","status":"${status}",${role},"content":[${content}]}`;
}

/** @param text a literal */
function partOf({ type, annotations, logprobs }: OpenPart, text: string): string {
  if (type === 'refusal') return `{"type":"refusal","refusal":"${text}"}`;
  return `{"type":"output_text","annotations":[${annotations.join(',')}],"logprobs":[${logprobs.join(',')}],"text":"${text}"}`;
}

const encodeToken = ({ token, logprob, bytes }: LogprobToken) => ({
  token,
  logprob,
  bytes: bytes ?? [...Buffer.from(token)],
});
