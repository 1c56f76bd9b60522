import type { JsonObject } from '../conversation.ts';
import type { UrlCitation } from '../events.ts';
import { TextOffsets } from './text-offsets.ts';
import { asNumber, objectsOf, optional } from './wire.ts';
import { stringOf } from '../json/read.ts';
import { isObject } from '../json/object.ts';

export interface Citations {
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

type Source = Pick<UrlCitation, 'url' | 'title'>;

/** Returns the source of a chunk. File-search chunks have no URL, so they cannot be cited by one. */
function sourceOf(chunk: JsonObject): Source | undefined {
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
