import { ReplyFault } from '../../formats/faults.ts';
import type { ClientContext, Format } from '../../formats/format.ts';
import { plainFromStream, streamFromPlain, streamWithUsage } from '../../formats/streams/replay.ts';
import { parseReplyText } from '../../formats/json/rounding.ts';
import { textOf } from '../../formats/sse/stream-start.ts';
import { unlessRefused } from '../kernel/errors.ts';
import { GatewayError, type Clock, type Reply } from '../../plugin/index.ts';
import type { CachedReply, Operation, ReplyCache } from '../kernel/index.ts';
import type { ReplyStore } from '../memory/ports.ts';
import { spokenHeaders } from './outbound-headers.ts';
import { clientContext, checkMessagesRoute } from './translation-job.ts';
import { spliceTexts } from '../kernel/body/edits.ts';
import { scanTopLevel, type JsonLimits, type TopLevel } from '../kernel/body/json-scan.ts';

/** The store as the `cache` plugin sees it, which can also convert a reply between its plain and its stream form. */
export function createReplyCache(store: ReplyStore, clock: Clock): ReplyCache {
  return {
    maxEntryBytes: store.limits.maxEntryBytes,
    find: (key) => store.find(key),
    peek: (key) => store.peek(key),
    findFar: store.findFar,
    store: (key, reply, maxAgeMs) => store.store(key, reply, maxAgeMs),
    spoken: spokenHeaders,
    render(kept, exchange, attempt) {
      const { operation } = exchange;
      if (!operation || !attempt.resolved)
        throw new GatewayError('internal_error', 'A cached reply was rendered before its target was resolved.');
      // The reply may have been cached before the config restricted the route.
      checkMessagesRoute(operation, attempt.target, attempt.resolved);
      const stream = attempt.body.value('stream') === true;
      // The reply was stored with the client's options applied: thoughts in it are wanted, and its id is final.
      const context = clientContext(exchange, attempt, { operation, resolved: attempt.resolved, clock });
      const client = { ...context, hideThoughts: false, ownId: false };
      const bytes = bytesFor(kept, stream, operation, client);
      if (!bytes) return undefined;
      const { id, stored, continues: previous = attempt.body.string('previous_response_id') } = client;
      // Clients name the ids of responses in later requests, so that each reply has its own.
      const isResponse = operation.format.name === 'openai-responses';
      const body = isResponse ? renewedResponse(bytes, stream, { id, stored, previous }) : bytes;
      return toReply(kept, body, stream, operation.format);
    },
  };
}

function toReply({ status, ...kept }: CachedReply, body: Buffer, stream: boolean, { contentType }: Format): Reply {
  const type = kept.stream === stream ? kept.contentType : contentType[stream ? 'stream' : 'body'];
  return { status, headers: { 'content-type': type, ...(stream && { 'cache-control': 'no-cache' }) }, body, stream };
}

function bytesFor(
  kept: CachedReply,
  stream: boolean,
  { format, task }: Operation,
  client: ClientContext,
): Buffer | undefined {
  const { bytes, usage } = kept;
  if (kept.stream === stream && (!stream || kept.includeUsage === client.includeUsage)) return bytes;
  // Only replies of a conversation have events, through which the form changes.
  if (task !== 'generate') return undefined;
  try {
    if (!stream) return plainFromStream(format, bytes, usage, client);
    if (kept.stream) return streamWithUsage(format, bytes, usage, client);
    return streamFromPlain(format, parseReplyText(textOf(bytes)), client);
  } catch (error) {
    // A reply in the client's own format is cached unchecked, so it may not convert to the other form.
    if (error instanceof ReplyFault || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** A reply of an upstream: it was read before, and only its own nesting bounds it. */
const LIMITS: JsonLimits = { depth: 10_000, keys: Infinity, items: Infinity };

type OfRequest = Pick<ClientContext, 'id' | 'stored'> & {
  /** The response that the request continues. */
  readonly previous: string | undefined;
};

/**
 * A kept reply of the Responses API as the reply to another request. With the ids of the first reply, one response
 * would take the place of the other where they are kept. All bytes stay but ids, `previous_response_id` and `store`.
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

const objectIn = (bytes: Buffer): TopLevel | undefined => unlessRefused(() => scanTopLevel(bytes, LIMITS));

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
