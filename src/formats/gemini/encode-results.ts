import type { JsonObject, Part, ToolResultPart } from '../conversation.ts';
import { RequestFault } from '../faults.ts';
import { nestsTooDeep } from '../json/scan.ts';
import { JsonText } from '../json/text.ts';
import { losesDigits } from '../json/rounding.ts';
import { encodeMedia, reportUnsent } from './encode-media.ts';
import type { LossReport } from '../losses/losses.ts';
import { BodyPlace } from '../losses/place.ts';
import { splitCallId } from './thought-signature.ts';
import { loseOpaque } from '../opaque-parts.ts';
import { shownText } from '../json/shown.ts';
import { parseJson, isObject } from '../json/object.ts';

/** Names and order of earlier calls by id, for functionResponses (docs/protocols/requests.md#results-for-gemini). */
export class CallIndex {
  #calls: Map<string, { readonly name: string; readonly order: number }> | undefined;
  #count = 0;

  add(id: string, name: string): void {
    (this.#calls ??= new Map()).set(id, { name, order: this.#count++ });
  }

  name(id: string): string | undefined {
    return this.#calls?.get(id)?.name;
  }

  /** Results of unknown calls come last, in their given order. */
  order(id: string): number {
    return this.#calls?.get(id)?.order ?? Number.MAX_SAFE_INTEGER;
  }
}

export interface PendingResult {
  readonly part: ToolResultPart;
  /** Path of the result in the caller's body. */
  readonly param: BodyPlace;
  /** The media of this result are sent with another result. */
  readonly textOnly?: boolean;
}

interface ResultOptions {
  readonly calls: CallIndex;
  readonly losses: LossReport;
  readonly keepIds: boolean;
  /** Media are inside of a response, or follow as parts (docs/protocols/gemini.md#media-in-function-responses). */
  readonly mediaInside: boolean;
}

interface EncodedResults {
  /** functionResponse parts of one turn, all together and in call order. */
  readonly responses: JsonObject[];
  /** Media of the results for a user content of their own. */
  readonly following: JsonObject[];
}

export function encodeResults(pending: readonly PendingResult[], options: ResultOptions): EncodedResults {
  const following: JsonObject[] = [];
  const ordered = pending.length === 1 ? pending : inCallOrder(pending, options.calls);
  const responses = ordered.map((result) => encodeResult(result, options, following));
  return { responses, following };
}

function inCallOrder(pending: readonly PendingResult[], calls: CallIndex): readonly PendingResult[] {
  return pending
    .map((result) => ({ result, order: calls.order(splitCallId(result.part.callId).id) }))
    .sort((a, b) => a.order - b.order)
    .map(({ result }) => result);
}

/** Media types of `functionResponse.parts` (docs/protocols/gemini.md#media-in-function-responses). */
const INSIDE = new Set(['image/png', 'image/jpeg', 'image/webp', 'application/pdf', 'text/plain']);

function encodeResult(
  { part, param, textOnly }: PendingResult,
  options: ResultOptions,
  following: JsonObject[],
): JsonObject {
  const { id } = splitCallId(part.callId);
  const name = options.calls.name(id) ?? part.name;
  if (name === undefined) {
    const message = `${String(param)} answers the tool call "${shownText(id)}", which no earlier assistant message makes, and names no tool; Gemini needs the name.`;
    throw new RequestFault('missing_required_parameter', message, param);
  }
  if (part.cache) options.losses.dropped(BodyPlace.field(param, 'cache_control'), 'Gemini has no cache markers');
  const inside: JsonObject[] = [];
  for (const [index, item] of part.content.entries()) {
    if (item.type !== 'media' || textOnly) continue;
    const place = BodyPlace.itemOf(param, 'content', index);
    const encoded = encodeMedia(item, place);
    reportUnsent(item, place, options.losses);
    if (item.detail !== undefined && item.detail !== 'auto') {
      options.losses.dropped(
        BodyPlace.field(place, 'image_url.detail'),
        'media of a function response have no resolution',
      );
    }
    (options.mediaInside && INSIDE.has(item.mime ?? mimeIn(encoded)) ? inside : following).push(encoded);
  }
  const response = responseOf(part, param, options.losses);
  const named = options.keepIds ? { id, name, response } : { name, response };
  return { functionResponse: inside.length > 0 ? { ...named, parts: inside } : named };
}

function mimeIn(encoded: JsonObject): string {
  const payload = encoded['inlineData'] ?? encoded['fileData'];
  return isObject(payload) ? String(payload['mimeType']) : '';
}

/** `output` and `error`; any other object is the output as a whole (docs/protocols/gemini.md#function-response). */
function responseOf(part: ToolResultPart, param: BodyPlace, losses: LossReport): JsonObject | JsonText {
  const texts: string[] = [];
  const list = BodyPlace.field(param, 'content');
  for (const [index, item] of part.content.entries()) {
    const place = BodyPlace.item(list, index);
    if ('cache' in item && item.cache)
      losses.dropped(BodyPlace.field(place, 'cache_control'), 'Gemini has no cache markers');
    const text = textOf(item);
    if (text !== undefined) texts.push(text);
    else if (item.type === 'opaque') loseOpaque(item, place, 'tool', losses);
    else if (item.type !== 'media')
      losses.unreadable(place, `parts of type ${item.type} have no place in a function response`);
  }
  const text = texts.join('\n');
  if (part.isError) return { error: text };
  return parseObject(text) ?? { output: text };
}

function textOf(part: Part): string | undefined {
  return part.type === 'text' || part.type === 'refusal' ? part.text : undefined;
}

/** Parses an object. One that nests too deep, or has whole numbers that parsing would change, stays text. */
function parseObject(text: string): JsonObject | JsonText | undefined {
  if (!/^\s*\{/.test(text)) return undefined;
  const whole = JsonText.of(text);
  if (whole) return whole.isObject ? whole : undefined;
  const value = nestsTooDeep(text) ? undefined : parseJson(text);
  return isObject(value) && !losesDigits(text, value) ? value : undefined;
}
