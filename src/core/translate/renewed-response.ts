import type { ClientContext } from '../../formats/format.ts';
import { spliceTexts } from '../kernel/body/edits.ts';
import { GatewayError } from '../../plugin/index.ts';
import { scanTopLevel, type JsonLimits, type TopLevel } from '../kernel/body/json-scan.ts';

/** A reply of an upstream: it was read before, and only its own nesting bounds it. */
const LIMITS: JsonLimits = { depth: 10_000, keys: Infinity, items: Infinity };

/** Fields of a response that are those of its request. */
type OfRequest = Pick<ClientContext, 'id' | 'stored'> & {
  /** The response that the request continues. */
  readonly previous: string | undefined;
};

/**
 * A kept reply of the Responses API as the reply to another request. Ids must be unique: with the ids of the first reply, one response
 * would take the place of the other where they are kept, and a deletion would remove both. What the response says of its request
 * (`previous_response_id`, `store`) is that of the request at hand. All other bytes stay.
 */
export function renewedResponse(bytes: Buffer, stream: boolean, request: OfRequest): Buffer {
  if (!stream) {
    const response = objectIn(bytes);
    return response ? withIds(ofRequest(bytes, response, request), idIn(bytes, response), request.id) : bytes;
  }
  let id: string | undefined;
  const renewed = withResponses(bytes, (event) => {
    const span = objectIn(event)?.get('response');
    const part = span && event.subarray(span.from, span.to);
    const response = part && objectIn(part);
    if (!response) return event;
    id ??= idIn(part, response);
    return Buffer.concat([event.subarray(0, span.from), ofRequest(part, response, request), event.subarray(span.to)]);
  });
  return withIds(renewed, id, request.id);
}

/** A response without these fields gets none: a compaction has neither. */
function ofRequest(bytes: Buffer, response: TopLevel, { previous, stored = false }: OfRequest): Buffer {
  const texts = [
    ['previous_response_id', JSON.stringify(previous ?? null)],
    ['store', JSON.stringify(stored)],
  ] as const;
  return spliceTexts(bytes, response, new Map(texts.filter(([key]) => response.has(key))));
}

/** Undefined for bytes that are no JSON object. */
function objectIn(bytes: Buffer): TopLevel | undefined {
  try {
    return scanTopLevel(bytes, LIMITS);
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}

function idIn(bytes: Buffer, object: TopLevel): string | undefined {
  const span = object.get('id');
  return span?.kind === 'string' ? (JSON.parse(bytes.toString('utf8', span.from, span.to)) as string) : undefined;
}

/** Only the first events and the last one have a response. A text cannot have this: its quotes are escaped. */
const RESPONSE = '"response":';
const DATA = /^data: ?/;

/** The stream with the data of each event that has a response changed. */
function withResponses(bytes: Buffer, change: (event: Buffer) => Buffer): Buffer {
  const pieces: Buffer[] = [];
  let at = 0;
  for (let found = bytes.indexOf(RESPONSE); found >= 0; found = bytes.indexOf(RESPONSE, at)) {
    const from = bytes.lastIndexOf(0x0a, found) + 1;
    const end = bytes.indexOf(0x0a, found);
    const to = end < 0 ? bytes.length : end;
    const [name] = DATA.exec(bytes.toString('latin1', from, from + 'data: '.length)) ?? [];
    pieces.push(bytes.subarray(at, from));
    const line = bytes.subarray(from, to);
    pieces.push(
      name === undefined ? line : Buffer.concat([line.subarray(0, name.length), change(line.subarray(name.length))]),
    );
    at = to;
  }
  pieces.push(bytes.subarray(at));
  return Buffer.concat(pieces);
}

/** A JSON string that is the id of an item: a prefix, what it has of the response's id, and four hex digits. */
const ITEM_ID = /(?<!\\)"([a-z]+_)([\w.-]+?)([0-9a-f]{4})"/g;
/** Digits that an item's id shares with the gateway's id of the response. */
const SHARED_DIGITS = 28;

/** The ids of items follow that of the response where the gateway made them. */
function withIds(bytes: Buffer, old: string | undefined, id: string): Buffer {
  if (old === undefined) return bytes;
  const [oldItem, ownItem] = [old, id].map((one) => one.replace(/^resp_/, '').slice(0, SHARED_DIGITS));
  // Ids are ASCII: with one character for each byte, all other bytes stay as they are.
  const text = bytes
    .toString('latin1')
    .replaceAll(JSON.stringify(old), JSON.stringify(id))
    .replace(ITEM_ID, (found, prefix: string, of: string, number: string) =>
      of === oldItem ? `"${prefix}${ownItem}${number}"` : found,
    );
  return Buffer.from(text, 'latin1');
}
