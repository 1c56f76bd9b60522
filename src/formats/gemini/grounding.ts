import type { JsonObject } from '../conversation.ts';
import type { UrlCitation } from '../events.ts';
import { asNumber, objectsOf, optional } from './wire.ts';
import { stringOf, isObject } from '../json/object.ts';

interface Citations {
  readonly citations: readonly UrlCitation[];
  /** There were more citations than the limit allows. */
  readonly cut: boolean;
}

/**
 * Decodes grounding into citations (docs/protocols/replies.md#citations): one for each source of each support. Segments
 * count UTF-8 bytes. In all recordings, streamed or not, they count within the whole answer: its text parts joined,
 * without thoughts (docs/protocols/gemini.md#grounding). `partIndex`, which no recording sets, would count within that
 * part.
 * @param partStarts where each text part begins in `text`; converted to bytes here and not while chunks arrive, which
 * would take quadratic time (measured: 130 µs per event at 32,000 events)
 */
export function citationsOf(grounding: JsonObject, text: string, partStarts: readonly number[]): Citations {
  const sources = objectsOf(grounding['groundingChunks']).map(sourceOf);
  const supports = objectsOf(grounding['groundingSupports']);
  if (supports.length === 0) {
    return { citations: sources.flatMap((source) => (source ? [{ ...source, start: 0, end: 0 }] : [])), cut: false };
  }
  const offsets = new TextOffsets(text);
  const citations: UrlCitation[] = [];
  let room = MAX_CITED_LENGTH;
  for (const support of supports) {
    const segment = isObject(support['segment']) ? support['segment'] : {};
    const base = offsets.toBytes(partStarts[asNumber(segment['partIndex']) ?? 0] ?? 0);
    // Proto3 JSON omits an index of 0.
    const start = offsets.toUtf16(base + (asNumber(segment['startIndex']) ?? 0));
    const end = offsets.toUtf16(base + (asNumber(segment['endIndex']) ?? 0));
    const indices = Array.isArray(support['groundingChunkIndices']) ? support['groundingChunkIndices'] : [];
    for (const index of indices) {
      const source = typeof index === 'number' ? sources[index] : undefined;
      if (!source) continue;
      room -= source.url.length + (source.title?.length ?? 0) + MARKUP_LENGTH;
      if (room < 0) return { citations, cut: true };
      citations.push({ ...source, start, end });
    }
  }
  return { citations, cut: false };
}

/**
 * Maximum length of all citations of one answer. Each citation holds its source in full, where the upstream needs two
 * characters for it: without a limit, 1 MB of grounding would become gigabytes. Real answers have some ten kilobytes.
 */
const MAX_CITED_LENGTH = 1024 * 1024;
/** Characters around a citation in any API. */
const MARKUP_LENGTH = 100;

type WebSource = Pick<UrlCitation, 'url' | 'title'>;

/** Returns the source of a chunk. File-search chunks have no URL, so they cannot be cited by one. */
function sourceOf(chunk: JsonObject): WebSource | undefined {
  for (const kind of ['web', 'maps', 'retrievedContext', 'image']) {
    const source = chunk[kind];
    if (!isObject(source)) continue;
    const url = stringOf(source['uri']) ?? stringOf(source['sourceUri']);
    if (url) return { url, ...optional('title', stringOf(source['title'])) };
  }
  return undefined;
}

/** Encodes citations as grounding, for clients of this format in front of an upstream of another one. */
export function groundingOf(citations: readonly UrlCitation[], text: string): JsonObject {
  const sources = new Map<string, { index: number; chunk: JsonObject }>();
  const offsets = new TextOffsets(text);
  // Overlapping supports repeat the same words. Beyond the limit, `text` is omitted: the offsets hold the same
  // information.
  let room = MAX_QUOTED_LENGTH + text.length;
  const supports = citations.map(({ url, title, start, end }) => {
    const source = sources.get(url) ?? {
      index: sources.size,
      chunk: { web: { uri: url, ...optional('title', title) } },
    };
    sources.set(url, source);
    room -= Math.max(0, Math.min(end, text.length) - start);
    const segment = {
      startIndex: offsets.toBytes(start),
      endIndex: offsets.toBytes(end),
      ...(room >= 0 && { text: text.slice(start, end) }),
    };
    return { segment, groundingChunkIndices: [source.index] };
  });
  return { groundingChunks: [...sources.values()].map(({ chunk }) => chunk), groundingSupports: supports };
}

const MAX_QUOTED_LENGTH = 256 * 1024;

/** UTF-16 units between two known byte offsets. The remainder is counted anew for each lookup. */
const STEP = 256;

/**
 * Converts offsets of one text between UTF-16 units and UTF-8 bytes. Google counts bytes, OpenAI units. A long answer
 * has thousands of such offsets, and measuring the text before each of them would take quadratic time.
 */
class TextOffsets {
  readonly #text: string;
  readonly #bytes: number;
  readonly #ascii: boolean;
  /** Bytes before every `STEP`th unit, measured on first use. */
  #marks: number[] | undefined;

  constructor(text: string) {
    this.#text = text;
    this.#bytes = Buffer.byteLength(text);
    this.#ascii = this.#bytes === text.length;
  }

  /** Returns the bytes before `units`, which may lie outside of the text, as in `slice`. */
  toBytes(units: number): number {
    const to = clamp(units < 0 ? this.#text.length + units : units, this.#text.length);
    if (this.#ascii) return to;
    const marks = (this.#marks ??= this.#measure());
    const mark = Math.floor(to / STEP);
    return marks[mark]! + Buffer.byteLength(this.#text.slice(markStart(this.#text, mark), to));
  }

  /** Returns the units before `bytes`. An offset inside a character counts as its start, one past the end as it. */
  toUtf16(bytes: number): number {
    const to = clamp(bytes, this.#bytes);
    if (this.#ascii) return to;
    const marks = (this.#marks ??= this.#measure());
    const mark = lastAtMost(marks, to);
    let at = markStart(this.#text, mark);
    for (let seen = marks[mark]!; at < this.#text.length;) {
      const code = this.#text.codePointAt(at)!;
      seen += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
      if (seen > to) break;
      at += code < 0x10000 ? 1 : 2;
    }
    return at;
  }

  #measure(): number[] {
    const marks = [0];
    for (let mark = 1; mark * STEP <= this.#text.length; mark += 1) {
      const piece = this.#text.slice(markStart(this.#text, mark - 1), markStart(this.#text, mark));
      marks.push(marks[mark - 1]! + Buffer.byteLength(piece));
    }
    return marks;
  }
}

/** Never between the halves of a surrogate pair. */
function markStart(text: string, mark: number): number {
  const at = mark * STEP;
  const code = text.charCodeAt(at);
  return at > 0 && code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}

const clamp = (at: number, most: number): number => Math.min(Math.max(Math.trunc(at) || 0, 0), most);

/** Index of the last of the ascending numbers that is not above `limit`; the first is 0. */
function lastAtMost(numbers: readonly number[], limit: number): number {
  let [low, high] = [0, numbers.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (numbers[middle]! <= limit) low = middle;
    else high = middle - 1;
  }
  return low;
}
